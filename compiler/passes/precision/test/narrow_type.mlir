// RUN: weft-opt %s --weft-precision-narrow=type=f16 --weft-precision-gradients=type=f16 | FileCheck %s
// RUN: not weft-opt %s --weft-precision-narrow=type=f8 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: type: expected bf16 or f16, got f8
// One micro-batch in float16: activations, table and gradients.
// CHECK: %[[W:.*]] = weft.parameter "w"
// CHECK-NEXT: %[[COPY:.*]] = weft.cast %[[W]] to f16
// CHECK: weft.embedding %arg1, %[[COPY]] : (tensor<4xi32>, tensor<8x8xf16>) -> tensor<4x8xf16>
// CHECK: weft.einsum "bi,io->bo" %{{.*}}, %{{.*}} : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
// CHECK: %[[G:.*]] = weft.einsum "bi,bo->io" %{{.*}} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<8x8xf16>
// CHECK-NEXT: weft.accumulate %[[G]] : (tensor<8x8xf16>) -> tensor<8x8xf16>
#one = #weft.placement<"cpu", [], [0]>
weft.graph @half("x" %x: tensor<4x8xf32>, "ids" %ids: tensor<4xi32>) placements [#one] {
  %w = weft.parameter "w" [8, 8] init(zeros) : () -> tensor<8x8xf32>
  %0 = weft.embedding %ids, %w : (tensor<4xi32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = weft.einsum "bi,io->bo" %0, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = weft.einsum "bi,bo->io" %0, %1 {phase = "backward"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %3 = weft.accumulate %2 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %one = weft.fill [] value(1.0) : () -> tensor<f32>
  %4 = weft.sgd %w, %3, %one, %one weight_decay(0.0) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>
  weft.assign %w, %4 : (tensor<8x8xf32>, tensor<8x8xf32>)
}
