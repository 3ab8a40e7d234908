// A moving average is shared out as the parameter is that it averages.
// RUN: weft-opt %s --weft-zero-partition=stage=1 | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: weft-opt %s --weft-zero-partition=stage=3 | FileCheck %s --check-prefixes=CHECK,THREE

!w = tensor<8x3xf32>
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @train("x" %x: tensor<4x8xf32>) placements [#mesh] {
  // CHECK: %[[M:.*]] = weft.parameter "m" [] init(zeros) state
  %m = weft.parameter "m" [] init(zeros) state : () -> tensor<f32>
  // CHECK: %[[A:.*]] = weft.parameter "a" [8, 3] init(zeros) sbp(data = S(0))
  %a = weft.parameter "a" [8, 3] init(zeros) {scope = "fc"} : () -> !w
  // CHECK: %[[S:.*]] = weft.parameter "slow" [8, 3] init(zeros) sbp(data = S(0)) state {scope = "slow"}
  %s = weft.parameter "slow" [8, 3] init(zeros) state {scope = "slow"} : () -> !w
  // CHECK-NEXT: %[[KEPT:.*]] = weft.mul %[[S]], %[[M]]
  %0 = weft.mul %s, %m {scope = "slow"} : (!w, tensor<f32>) -> !w
  // CHECK-NEXT: %[[ADDED:.*]] = weft.mul %[[A]], %[[M]]
  %1 = weft.mul %a, %m {scope = "slow"} : (!w, tensor<f32>) -> !w
  // CHECK-NEXT: %[[NEXT:.*]] = weft.add %[[KEPT]], %[[ADDED]]
  %2 = weft.add %0, %1 {scope = "slow"} : (!w, !w) -> !w
  // ONE-NEXT: %[[COPY:.*]] = weft.to_global %[[NEXT]] sbp(data = B) {scope = "slow"}
  // THREE-NEXT: %[[SHARD:.*]] = weft.to_global %[[NEXT]] sbp(data = S(0)) {scope = "slow"}
  // CHECK-NEXT: weft.assign %[[S]], %[[NEXT]]
  weft.assign %s, %2 {scope = "slow"} : (!w, !w)
  // THREE-NEXT: %[[COPY:.*]] = weft.to_global %[[SHARD]] sbp(data = B) {on_use, scope = "slow"}
  // CHECK-NEXT: weft.einsum "bi,io->bo" %{{.*}}, %[[COPY]]
  %3 = weft.einsum "bi,io->bo" %x, %2 {scope = "slow"} : (tensor<4x8xf32>, !w) -> tensor<4x3xf32>
  // What is assigned something else stays whole.
  // CHECK: weft.parameter "running" [3] init(zeros) state
  %r = weft.parameter "running" [3] init(zeros) state {scope = "slow"} : () -> tensor<3xf32>
  %4 = weft.reduce sum %3 over [0] {scope = "slow"} : (tensor<4x3xf32>) -> tensor<3xf32>
  %5 = weft.add %r, %4 {scope = "slow"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  weft.assign %r, %5 {scope = "slow"} : (tensor<3xf32>, tensor<3xf32>)
  %6 = weft.einsum "bi,bo->io" %x, %3 {phase = "backward", scope = "fc"} : (tensor<4x8xf32>, tensor<4x3xf32>) -> !w
  %7 = weft.accumulate %6 : (!w) -> !w
  %lr = weft.fill [] value(1.0) : () -> tensor<f32>
  %next = weft.sgd %a, %7, %lr, %lr weight_decay(0.0) : (!w, !w, tensor<f32>, tensor<f32>) -> !w
  weft.assign %a, %next : (!w, !w)
}
