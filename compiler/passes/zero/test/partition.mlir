// RUN: weft-opt %s --weft-zero-partition=stage=1 | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: weft-opt %s --weft-zero-partition=stage=2 | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: weft-opt %s --weft-zero-partition=stage=3 | FileCheck %s --check-prefixes=CHECK,THREE

// `a` is cut in its second dimension by tensor, so in its first by data; `b`, 3 elements, stays whole.
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
// CHECK-LABEL: weft.graph @train
weft.graph @train("x" %x: tensor<4x8xf32>) placements [#mesh] micro_batches 2 {
  // CHECK: %[[A:.*]] = weft.parameter "a" [8, 3] init(zeros) sbp(data = S(0), tensor = B) {scope = "fc"}
  // ONE-NEXT: %[[COPY:.*]] = weft.to_global %[[A]] sbp(data = B, tensor = B) {scope = "fc"}
  // TWO-NEXT: %[[COPY:.*]] = weft.to_global %[[A]] sbp(data = B, tensor = B) {scope = "fc"}
  // THREE-NEXT: %[[SHARD:.*]] = weft.to_global %[[A]] sbp(data = S(0), tensor = B) {scope = "fc"}
  %a = weft.parameter "a" [8, 3] init(zeros) {scope = "fc"} : () -> tensor<8x3xf32>
  // CHECK-NEXT: weft.parameter "adam_m.a" [8, 3] init(zeros) sbp(data = S(0), tensor = B) state
  %m = weft.parameter "adam_m.a" [8, 3] init(zeros) state : () -> tensor<8x3xf32>
  // CHECK-NEXT: weft.parameter "adam_v.a" [8, 3] init(zeros) sbp(data = S(0), tensor = B) state
  %v = weft.parameter "adam_v.a" [8, 3] init(zeros) state : () -> tensor<8x3xf32>
  // CHECK-NEXT: %[[B:.*]] = weft.parameter "b" [3] init(zeros) : ()
  %b = weft.parameter "b" [3] init(zeros) : () -> tensor<3xf32>
  // THREE-NEXT: %[[COPY:.*]] = weft.to_global %[[SHARD]] sbp(data = B, tensor = B) {on_use, scope = "fc"}
  // CHECK-NEXT: weft.einsum "bi,io->bo" %{{.*}}, %[[COPY]] {scope = "fc"}
  %0 = weft.einsum "bi,io->bo" %x, %a {scope = "fc"} : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: weft.add %{{.*}}, %[[B]]
  %1 = weft.add %0, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // The backward gathers its own copy.
  // THREE-NEXT: %[[AGAIN:.*]] = weft.to_global %[[SHARD]] sbp(data = B, tensor = B) {on_use, phase = "backward", scope = "fc"}
  // ONE-NEXT: weft.einsum "bo,io->bi" %{{.*}}, %[[COPY]]
  // THREE-NEXT: weft.einsum "bo,io->bi" %{{.*}}, %[[AGAIN]]
  %2 = weft.einsum "bo,io->bi" %1, %a {phase = "backward", scope = "fc"} : (tensor<4x3xf32>, tensor<8x3xf32>) -> tensor<4x8xf32>
  // CHECK: %[[G:.*]] = weft.einsum "bi,bo->io"
  %3 = weft.einsum "bi,bo->io" %2, %1 {phase = "backward", scope = "fc"} : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  // TWO-NEXT: weft.accumulate %[[G]] sbp(data = S(0))
  // THREE-NEXT: weft.accumulate %[[G]] sbp(data = S(0))
  %lr = weft.fill [] value(1.0) : () -> tensor<f32>
  // ONE: weft.accumulate %[[G]] sbp(data = P) :
  %4 = weft.accumulate %3 : (tensor<8x3xf32>) -> tensor<8x3xf32>
  // CHECK: weft.adam %[[A]],
  %next, %next_m, %next_v = weft.adam %a, %4, %m, %v, %lr, %lr beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0)
    : (tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>)
  // CHECK: weft.assign %[[A]],
  weft.assign %a, %next : (tensor<8x3xf32>, tensor<8x3xf32>)
  weft.assign %m, %next_m : (tensor<8x3xf32>, tensor<8x3xf32>)
  weft.assign %v, %next_v : (tensor<8x3xf32>, tensor<8x3xf32>)
  // `b` is updated too.
  %5 = weft.reduce sum %1 over [0] : (tensor<4x3xf32>) -> tensor<3xf32>
  %6 = weft.accumulate %5 : (tensor<3xf32>) -> tensor<3xf32>
  %next_b = weft.sgd %b, %6, %lr, %lr weight_decay(0.0) : (tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>) -> tensor<3xf32>
  weft.assign %b, %next_b : (tensor<3xf32>, tensor<3xf32>)
}
