// RUN: weft-opt %s --weft-precision-narrow="type=f16 wide-residuals" | FileCheck %s
// RUN: weft-opt %s --weft-precision-narrow=type=f16 | FileCheck %s --check-prefix=NARROW

// What is added to the stream is made in float32, and so is what reads it together with its gradient; the rest of a branch
// is not, nor are gradients that are added up. Without the option nothing is float32.
// CHECK: %[[X:.*]] = weft.embedding %arg0, %{{.*}} -> tensor<4x8xf16>
// CHECK: %[[A:.*]] = weft.einsum "bi,io->bo" %[[X]], %{{.*}} -> tensor<4x8xf16>
// CHECK-NEXT: %[[RELU:.*]] = weft.relu %[[A]] : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT: %[[B:.*]] = weft.einsum "bi,io->bo" %[[RELU]], %{{.*}} to f32 :
// CHECK-NEXT: %[[DROP:.*]] = weft.dropout %[[B]] {{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[WIDE:.*]] = weft.cast %[[X]] to f32
// CHECK-NEXT: %[[SUM:.*]] = weft.add %[[WIDE]], %[[DROP]] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: weft.rms_norm %[[SUM]], %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK: weft.add %{{.*}} {phase = "backward"} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
// NARROW-NOT: weft.cast %{{.*}} to f32
// NARROW: weft.add %{{.*}} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
// NARROW-NEXT: weft.rms_norm %{{.*}} : (tensor<4x8xf16>, tensor<8xf32>) -> tensor<4x8xf16>
#one = #weft.placement<"cpu", [], [0]>
weft.graph @stream("ids" %ids: tensor<4xi32>) placements [#one] {
  %w = weft.parameter "w" [8, 8] init(zeros) : () -> tensor<8x8xf32>
  %g = weft.parameter "g" [8] init(ones) : () -> tensor<8xf32>
  %x = weft.embedding %ids, %w : (tensor<4xi32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = weft.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = weft.einsum "bi,io->bo" %1, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = weft.dropout %2 rate(0.1) seed(1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = weft.add %x, %3 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = weft.rms_norm %4, %g eps(1.0e-5) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %6 = weft.einsum "bi,io->bo" %5, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %7 = weft.add %6, %6 {phase = "backward"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = weft.einsum "bi,bj->ij" %7, %7 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
}
