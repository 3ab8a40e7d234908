// RUN: weft-opt %s --weft-precision-contractions -split-input-file | FileCheck %s

// The float32 operands of a contraction are cast, the result stays float32; casts have the scope, phase and stage of
// the contraction, but for a parameter's: that stands beside it.
// CHECK-LABEL: weft.graph @contraction
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [8, 2] init(zeros) : () -> tensor<8x2xf32>
// CHECK-NEXT: %[[CAST1:.*]] = weft.cast %[[W]] to bf16 : (tensor<8x2xf32>) -> tensor<8x2xbf16>
// CHECK-NEXT: %[[CAST:.*]] = weft.cast %arg0 to bf16 {phase = "backward", scope = "h.0", stage = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK-NEXT: %[[EINSUM:.*]] = weft.einsum "bi,io->bo" %[[CAST]], %[[CAST1]] to f32 {phase = "backward", scope = "h.0", stage = 0 : i64} : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xf32>
// CHECK-NEXT: %[[RELU:.*]] = weft.relu %[[EINSUM]] : (tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: weft.output "y" %[[RELU]] : (tensor<4x2xf32>)
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @contraction("x" %x: tensor<4x8xf32>) placements [#one] {
  %w = weft.parameter "w" [8, 2] init(zeros) : () -> tensor<8x2xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w {phase = "backward", scope = "h.0", stage = 0 : i64} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = weft.relu %0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  weft.output "y" %1 : (tensor<4x2xf32>)
}

// -----

// What reads bf16 already stays as it is.
// CHECK-LABEL: weft.graph @narrow
// CHECK-NEXT: %[[EINSUM:.*]] = weft.einsum "bi,ci->bc" %arg0, %arg0
// CHECK-NEXT: weft.output "y" %[[EINSUM]]
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @narrow("x" %x: tensor<4x8xbf16>) placements [#one] {
  %0 = weft.einsum "bi,ci->bc" %x, %x : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x4xbf16>
  weft.output "y" %0 : (tensor<4x4xbf16>)
}
