// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

// CHECK: %[[U:.*]]:3 = "test.values"
%a, %b, %c = "test.values"() : () -> (!weft.any, !weft.any, !weft.any)
// CHECK-NEXT: weft.greater %[[U]]#0, %[[U]]#1{{ *$}}
%0 = weft.greater %a, %b
// CHECK-NEXT: weft.greater %[[U]]#0, %[[U]]#1 as_number{{ *$}}
%1 = weft.greater %a, %b as_number
// CHECK-NEXT: weft.greater_equal %[[U]]#0, %[[U]]#1{{ *$}}
%2 = weft.greater_equal %a, %b
// CHECK-NEXT: weft.greater_equal %[[U]]#0, %[[U]]#1 as_number{{ *$}}
%3 = weft.greater_equal %a, %b as_number
// CHECK-NEXT: weft.less %[[U]]#0, %[[U]]#1{{ *$}}
%4 = weft.less %a, %b
// CHECK-NEXT: weft.less %[[U]]#0, %[[U]]#1 as_number{{ *$}}
%5 = weft.less %a, %b as_number
// CHECK-NEXT: weft.less_equal %[[U]]#0, %[[U]]#1{{ *$}}
%6 = weft.less_equal %a, %b
// CHECK-NEXT: weft.less_equal %[[U]]#0, %[[U]]#1 as_number{{ *$}}
%7 = weft.less_equal %a, %b as_number
// CHECK-NEXT: weft.equal %[[U]]#0, %[[U]]#1{{ *$}}
%8 = weft.equal %a, %b
// CHECK-NEXT: weft.equal %[[U]]#0, %[[U]]#1 as_number{{ *$}}
%9 = weft.equal %a, %b as_number
// CHECK-NEXT: weft.not_equal %[[U]]#0, %[[U]]#1{{ *$}}
%10 = weft.not_equal %a, %b
// CHECK-NEXT: weft.not_equal %[[U]]#0, %[[U]]#1 as_number{{ *$}}
%11 = weft.not_equal %a, %b as_number
// CHECK-NEXT: weft.logical_and %[[U]]#0, %[[U]]#1{{ *$}}
%12 = weft.logical_and %a, %b
// CHECK-NEXT: weft.logical_or %[[U]]#0, %[[U]]#1{{ *$}}
%13 = weft.logical_or %a, %b
// CHECK-NEXT: weft.logical_not %[[U]]#0{{ *$}}
%14 = weft.logical_not %a
// CHECK-NEXT: weft.select %[[U]]#0, %[[U]]#1, %[[U]]#2{{ *$}}
%15 = weft.select %a, %b, %c

// CHECK: %[[T:.*]]:3 = "test.values"
%t, %x, %row = "test.values"() : () -> (tensor<2x3xi8>, tensor<2x3xf32>, tensor<3xf32>)
// CHECK-NEXT: weft.greater %[[T]]#1, %[[T]]#2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
%16 = weft.greater %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
// CHECK-NEXT: weft.greater %[[T]]#1, %[[T]]#2 as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%17 = weft.greater %x, %row as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.greater_equal %[[T]]#1, %[[T]]#2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
%18 = weft.greater_equal %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
// CHECK-NEXT: weft.greater_equal %[[T]]#1, %[[T]]#2 as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%19 = weft.greater_equal %x, %row as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.less %[[T]]#1, %[[T]]#2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
%20 = weft.less %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
// CHECK-NEXT: weft.less %[[T]]#1, %[[T]]#2 as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%21 = weft.less %x, %row as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.less_equal %[[T]]#1, %[[T]]#2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
%22 = weft.less_equal %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
// CHECK-NEXT: weft.less_equal %[[T]]#1, %[[T]]#2 as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%23 = weft.less_equal %x, %row as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.equal %[[T]]#1, %[[T]]#2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
%24 = weft.equal %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
// CHECK-NEXT: weft.equal %[[T]]#1, %[[T]]#2 as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%25 = weft.equal %x, %row as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.not_equal %[[T]]#1, %[[T]]#2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
%26 = weft.not_equal %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi8>
// CHECK-NEXT: weft.not_equal %[[T]]#1, %[[T]]#2 as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%27 = weft.not_equal %x, %row as_number : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.logical_and %[[T]]#0, %[[T]]#0 : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>
%28 = weft.logical_and %t, %t : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>
// CHECK-NEXT: weft.logical_or %[[T]]#0, %[[T]]#0 : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>
%29 = weft.logical_or %t, %t : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>
// CHECK-NEXT: weft.logical_not %[[T]]#0 : (tensor<2x3xi8>) -> tensor<2x3xi8>
%30 = weft.logical_not %t : (tensor<2x3xi8>) -> tensor<2x3xi8>
// CHECK-NEXT: weft.select %[[T]]#0, %[[T]]#1, %[[T]]#2 : (tensor<2x3xi8>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%31 = weft.select %t, %x, %row : (tensor<2x3xi8>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
