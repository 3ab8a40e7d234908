// RUN: weft-opt %s --weft-precision-contractions | FileCheck %s
// An operand of two contractions is cast once, also if one is a backward op.
// CHECK-LABEL: weft.graph @twice
// CHECK-NEXT: %[[CAST:.*]] = weft.cast %arg0 to bf16 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
// CHECK-NEXT: %[[EINSUM:.*]] = weft.einsum "bi,ic->bc" %[[CAST]], %[[CAST]] to f32 : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[CAST1:.*]] = weft.cast %[[EINSUM]] to bf16 {phase = "backward"} : (tensor<4x4xf32>) -> tensor<4x4xbf16>
// CHECK-NEXT: %[[EINSUM1:.*]] = weft.einsum "bi,ci->bc" %[[CAST]], %[[CAST1]] to f32 {phase = "backward"} : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK-NEXT: weft.output "y" %[[EINSUM1]] : (tensor<4x4xf32>)
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @twice("x" %x: tensor<4x4xf32>) placements [#one] {
  %0 = weft.einsum "bi,ic->bc" %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = weft.einsum "bi,ci->bc" %x, %0 {phase = "backward"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  weft.output "y" %1 : (tensor<4x4xf32>)
}
