// RUN: weft-opt %s -allow-unregistered-dialect -canonicalize | FileCheck %s

// A slice that takes the whole dimension goes; a part, and one of unknown types, stays.
// CHECK: %[[X:.*]]:2 = "test.values"
// CHECK-NEXT: %[[PART:.*]] = weft.slice %[[X]]#0 dim(1) from(0) size(2)
// CHECK-NEXT: %[[ANY:.*]] = weft.slice %[[X]]#1 dim(1) from(0) size(3)
// CHECK-NEXT: "test.use"(%[[X]]#0, %[[PART]], %[[ANY]])
%x, %any = "test.values"() : () -> (tensor<2x3xf32>, !weft.any)
%0 = weft.slice %x dim(1) from(0) size(3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%1 = weft.slice %x dim(1) from(0) size(2) : (tensor<2x3xf32>) -> tensor<2x2xf32>
%2 = weft.slice %any dim(1) from(0) size(3)
"test.use"(%0, %1, %2) : (tensor<2x3xf32>, tensor<2x2xf32>, !weft.any) -> ()
