// RUN: weft-opt %s --canonicalize | FileCheck %s
// A cast to its own type, and one back from a type that has all numbers of the first; not one that has lost some.
// CHECK-LABEL: weft.graph @casts
// CHECK-NEXT: %[[LOST:.*]] = weft.cast %arg0 to bf16
// CHECK-NEXT: %[[BACK:.*]] = weft.cast %[[LOST]] to f32
// CHECK-NEXT: %[[RANGE:.*]] = weft.cast %arg1 to bf16
// CHECK-NEXT: %[[RETURN:.*]] = weft.cast %[[RANGE]] to f16
// CHECK-NEXT: weft.output "same" %arg0
// CHECK-NEXT: weft.output "lost" %[[BACK]]
// CHECK-NEXT: weft.output "kept" %arg1
// CHECK-NEXT: weft.output "range" %[[RETURN]]
weft.graph @casts("x" %x: tensor<4xf32>, "h" %h: tensor<4xf16>) placements [#weft.placement<"cpu", [], [0]>] {
  %0 = weft.cast %x to f32 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.cast %x to bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = weft.cast %1 to f32 : (tensor<4xbf16>) -> tensor<4xf32>
  %3 = weft.cast %h to f32 : (tensor<4xf16>) -> tensor<4xf32>
  %4 = weft.cast %3 to f16 : (tensor<4xf32>) -> tensor<4xf16>
  %5 = weft.cast %h to bf16 : (tensor<4xf16>) -> tensor<4xbf16>
  %6 = weft.cast %5 to f16 : (tensor<4xbf16>) -> tensor<4xf16>
  weft.output "same" %0 : (tensor<4xf32>)
  weft.output "lost" %2 : (tensor<4xf32>)
  weft.output "kept" %4 : (tensor<4xf16>)
  weft.output "range" %6 : (tensor<4xf16>)
}
