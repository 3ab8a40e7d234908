// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

%a, %b = "test.values"() : () -> (!weft.any, !weft.any)
// CHECK: weft.neg %0#0{{ *$}}
%0 = weft.neg %a
// CHECK-NEXT: weft.exp %0#0{{ *$}}
%1 = weft.exp %a
// CHECK-NEXT: weft.log %0#0{{ *$}}
%2 = weft.log %a
// CHECK-NEXT: weft.sqrt %0#0{{ *$}}
%3 = weft.sqrt %a
// CHECK-NEXT: weft.rsqrt %0#0{{ *$}}
%4 = weft.rsqrt %a
// CHECK-NEXT: weft.tanh %0#0{{ *$}}
%5 = weft.tanh %a
// CHECK-NEXT: weft.sigmoid %0#0{{ *$}}
%6 = weft.sigmoid %a
// CHECK-NEXT: weft.square %0#0{{ *$}}
%7 = weft.square %a
// CHECK-NEXT: weft.add %0#0, %0#1{{ *$}}
%8 = weft.add %a, %b
// CHECK-NEXT: weft.sub %0#0, %0#1{{ *$}}
%9 = weft.sub %a, %b
// CHECK-NEXT: weft.mul %0#0, %0#1{{ *$}}
%10 = weft.mul %a, %b
// CHECK-NEXT: weft.div %0#0, %0#1{{ *$}}
%11 = weft.div %a, %b
// CHECK-NEXT: weft.maximum %0#0, %0#1{{ *$}}
%12 = weft.maximum %a, %b
// CHECK-NEXT: weft.minimum %0#0, %0#1{{ *$}}
%13 = weft.minimum %a, %b
// CHECK-NEXT: weft.greater_equal %0#0, %0#1{{ *$}}
%14 = weft.greater_equal %a, %b
// CHECK-NEXT: weft.equal %0#0, %0#1{{ *$}}
%15 = weft.equal %a, %b
// CHECK-NEXT: weft.scale %0#0 by(heads){{ *$}}
%16 = weft.scale %a by(heads)
// CHECK-NEXT: weft.scale %0#0 by(-5.000000e-01){{ *$}}
%17 = weft.scale %a by(-0.5)
// CHECK-NEXT: weft.scale %0#0 by(-2){{ *$}}
%18 = weft.scale %a by(-2)
// CHECK-NEXT: weft.add_n %0#0, %0#1, %0#0{{ *$}}
%19 = weft.add_n %a, %b, %a
// CHECK-NEXT: weft.cast %0#0 to bf16{{ *$}}
%20 = weft.cast %a to bf16
// CHECK-NEXT: weft.broadcast_to %0#0 [batch, 4 * hidden]{{ *$}}
%21 = weft.broadcast_to %a [batch, 4 * hidden]

%x, %y, %row = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
// CHECK: weft.neg %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%22 = weft.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.exp %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%23 = weft.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.log %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%24 = weft.log %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.sqrt %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%25 = weft.sqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.rsqrt %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%26 = weft.rsqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.tanh %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%27 = weft.tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.sigmoid %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%28 = weft.sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.square %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%29 = weft.square %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.add %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%30 = weft.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.sub %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%31 = weft.sub %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.mul %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%32 = weft.mul %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.div %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%33 = weft.div %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.maximum %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%34 = weft.maximum %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.minimum %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%35 = weft.minimum %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.greater_equal %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%36 = weft.greater_equal %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.equal %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%37 = weft.equal %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.add %23#0, %23#2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%38 = weft.add %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.scale %23#0 by(1.250000e-01) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%39 = weft.scale %x by(0.125) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.add_n %23#0, %23#1 {scope = "s"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%40 = weft.add_n %x, %y {scope = "s"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.cast %23#0 to bf16 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
%41 = weft.cast %x to bf16 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
// CHECK-NEXT: weft.broadcast_to %23#2 [2, 3] : (tensor<3xf32>) -> tensor<2x3xf32>
%42 = weft.broadcast_to %row [2, 3] : (tensor<3xf32>) -> tensor<2x3xf32>
