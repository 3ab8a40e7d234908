// RUN: weft-opt %s --weft-precision-narrow --weft-precision-gradients -split-input-file | FileCheck %s
// One micro-batch: the gradient of what has a working copy is bf16. What adds it up yields it: a product, a reduction; what
// is more than that, as the sum of a tied table's, is cast. The norm's weight has no working copy.
// CHECK-LABEL: weft.graph @one
// CHECK: %[[W:.*]] = weft.parameter "w"
// CHECK-NEXT: %[[COPY:.*]] = weft.cast %[[W]] to bf16
// CHECK: %[[ROWS:.*]] = weft.embedding %arg1, %[[COPY]] : (tensor<4xi32>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
// CHECK-NOT: weft.cast %[[ROWS]]
// CHECK: %[[V:.*]] = weft.einsum "bi,bo->io" %{{.*}}, %{{.*}} {phase = "backward"} : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<8x8xbf16>
// CHECK-NEXT: %[[GV:.*]] = weft.accumulate %[[V]] : (tensor<8x8xbf16>) -> tensor<8x8xbf16>
// CHECK: %[[SUM:.*]] = weft.add
// CHECK-NEXT: %[[CAST:.*]] = weft.cast %[[SUM]] to bf16
// CHECK-NEXT: weft.accumulate %[[CAST]] : (tensor<8x8xbf16>) -> tensor<8x8xbf16>
// CHECK: %[[B:.*]] = weft.reduce sum %{{.*}} over [0] : (tensor<4x8xbf16>) -> tensor<8xbf16>
// CHECK-NEXT: weft.accumulate %[[B]] : (tensor<8xbf16>) -> tensor<8xbf16>
// CHECK: %{{.*}} = weft.rms_norm_grad %{{.*}} -> (tensor<4x8xbf16>, tensor<8xf32>)
// CHECK-NEXT: weft.accumulate %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: weft.sgd %{{.*}}, %[[GV]]
#one = #weft.placement<"cpu", [], [0]>
weft.graph @one("x" %x: tensor<4x8xf32>, "ids" %ids: tensor<4xi32>) placements [#one] {
  %w = weft.parameter "w" [8, 8] init(zeros) : () -> tensor<8x8xf32>
  %v = weft.parameter "v" [8, 8] init(zeros) : () -> tensor<8x8xf32>
  %b = weft.parameter "b" [8] init(zeros) : () -> tensor<8xf32>
  %g = weft.parameter "g" [8] init(ones) : () -> tensor<8xf32>
  %0 = weft.embedding %ids, %w : (tensor<4xi32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = weft.einsum "bi,io->bo" %0, %v : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = weft.add %1, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %3 = weft.einsum "bi,bo->io" %0, %2 {phase = "backward"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %4 = weft.accumulate %3 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = weft.embedding_grad %ids, %2 vocab(8) : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %6 = weft.add %5, %5 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = weft.accumulate %6 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %8 = weft.reduce sum %2 over [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  %9 = weft.accumulate %8 : (tensor<8xf32>) -> tensor<8xf32>
  %rstd = weft.fill [4] value(1.0) : () -> tensor<4xf32>
  %dx, %dg = weft.rms_norm_grad %1, %2, %g, %rstd : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  %13 = weft.accumulate %dg : (tensor<8xf32>) -> tensor<8xf32>
  %one = weft.fill [] value(1.0) : () -> tensor<f32>
  %10 = weft.sgd %v, %4, %one, %one weight_decay(0.0) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>
  %11 = weft.sgd %w, %7, %one, %one weight_decay(0.0) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>
  %12 = weft.sgd %b, %9, %one, %one weight_decay(0.0) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  weft.assign %v, %10 : (tensor<8x8xf32>, tensor<8x8xf32>)
  weft.assign %w, %11 : (tensor<8x8xf32>, tensor<8x8xf32>)
  weft.assign %b, %12 : (tensor<8xf32>, tensor<8xf32>)
  %14 = weft.sgd %g, %13, %one, %one weight_decay(0.0) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  weft.assign %g, %14 : (tensor<8xf32>, tensor<8xf32>)
}

// -----

// Several: the sum is float32.
// CHECK-LABEL: weft.graph @several
// CHECK: weft.accumulate %{{.*}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
#one = #weft.placement<"cpu", [], [0]>
weft.graph @several("x" %x: tensor<4x8xf32>) placements [#one] micro_batches 2 {
  %v = weft.parameter "v" [8, 8] init(zeros) : () -> tensor<8x8xf32>
  %0 = weft.einsum "bi,io->bo" %x, %v : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = weft.einsum "bi,bo->io" %x, %0 {phase = "backward"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = weft.accumulate %1 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %one = weft.fill [] value(1.0) : () -> tensor<f32>
  %3 = weft.sgd %v, %2, %one, %one weight_decay(0.0) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>
  weft.assign %v, %3 : (tensor<8x8xf32>, tensor<8x8xf32>)
}

// -----

// The parts of a gradient that two stages have are bf16, and so is their sum, which is made in float32.
// CHECK-LABEL: weft.graph @parts
// CHECK: %[[HERE:.*]] = weft.einsum "bi,bo->io" %{{.*}} -> tensor<8x8xbf16>
// CHECK: %[[A:.*]] = weft.accumulate %[[HERE]] {stage = 1 : i64} : (tensor<8x8xbf16>) -> tensor<8x8xbf16>
// CHECK: %[[THERE:.*]] = weft.cast %{{.*}} to bf16
// CHECK: %[[B:.*]] = weft.accumulate %[[THERE]] : (tensor<8x8xbf16>) -> tensor<8x8xbf16>
// CHECK-DAG: %[[WIDE_A:.*]] = weft.cast %[[A]] to f32 :
// CHECK-DAG: %[[WIDE_B:.*]] = weft.cast %[[B]] to f32 :
// CHECK: %[[WIDE:.*]] = weft.add %[[WIDE_A]], %[[WIDE_B]] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK: %[[SUM:.*]] = weft.cast %[[WIDE]] to bf16
// CHECK: weft.sgd %{{.*}}, %[[SUM]],
#first = #weft.placement<"cpu", [], [0]>
#second = #weft.placement<"cpu", [], [1]>
weft.graph @parts("x" %x: tensor<4x8xf32>, "ids" %ids: tensor<4xi32>) placements [#first, #second] {
  %w = weft.parameter "w" [8, 8] init(zeros) : () -> tensor<8x8xf32>
  %0 = weft.embedding %ids, %w : (tensor<4xi32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = weft.einsum "bi,bo->io" %0, %0 {stage = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = weft.accumulate %1 {stage = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = weft.embedding_grad %ids, %0 vocab(8) : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %4 = weft.accumulate %3 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = weft.add %2, %4 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %one = weft.fill [] value(1.0) : () -> tensor<f32>
  %6 = weft.sgd %w, %5, %one, %one weight_decay(0.0) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>
  weft.assign %w, %6 : (tensor<8x8xf32>, tensor<8x8xf32>)
}
