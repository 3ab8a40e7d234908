// RUN: weft-opt %s --weft-shard-infer -split-input-file | FileCheck %s
// Each rank updates all of what it keeps whole. To update a share and gather the others' would take less time here, but
// gathered moments would lie in memory beside the old ones.
// CHECK-LABEL: weft.graph @adam
// CHECK: %[[G:.*]] = weft.accumulate
// CHECK: %[[SUM:.*]] = weft.box %[[G]] {{.*}} -> tensor<4096x1024xf32, #weft.sbp<B>>
// CHECK: weft.adam %{{.*}}, %[[SUM]],
// CHECK-NOT: weft.box
// CHECK: weft.assign
!t = tensor<4096x1024xf32>
!s = tensor<f32>
#mesh = #weft.placement<"cpu", [data = 8], [0, 1, 2, 3, 4, 5, 6, 7]>
weft.graph @adam("x" %x: tensor<64x4096xf32>, "d" %d: tensor<64x1024xf32>, "lr" %lr: !s) placements [#mesh] {
  %p = weft.parameter "w" [4096, 1024] init(zeros) : () -> !t
  %m = weft.parameter "m" [4096, 1024] init(zeros) state : () -> !t
  %v = weft.parameter "v" [4096, 1024] init(zeros) state : () -> !t
  %0 = weft.einsum "bi,bo->io" %x, %d : (tensor<64x4096xf32>, tensor<64x1024xf32>) -> !t
  %g = weft.accumulate %0 : (!t) -> !t
  %p1, %m1, %v1 = weft.adam %p, %g, %m, %v, %lr, %lr beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.1)
      : (!t, !t, !t, !t, !s, !s) -> (!t, !t, !t)
  weft.assign %p, %p1 : (!t, !t)
  weft.assign %m, %m1 : (!t, !t)
  weft.assign %v, %v1 : (!t, !t)
}

// -----
// Without moments the gathered parameter takes the room of its gradient.
// CHECK-LABEL: weft.graph @sgd
// CHECK: %[[G:.*]] = weft.accumulate
// CHECK: %[[SUM:.*]] = weft.box %[[G]] {{.*}} -> tensor<4096x1024xf32, #weft.sbp<S(0)>>
// CHECK: %[[NEXT:.*]] = weft.sgd %{{.*}}, %[[SUM]],
// CHECK: weft.box %[[NEXT]]
!t = tensor<4096x1024xf32>
!s = tensor<f32>
#mesh = #weft.placement<"cpu", [data = 8], [0, 1, 2, 3, 4, 5, 6, 7]>
weft.graph @sgd("x" %x: tensor<64x4096xf32>, "d" %d: tensor<64x1024xf32>, "lr" %lr: !s) placements [#mesh] {
  %p = weft.parameter "w" [4096, 1024] init(zeros) : () -> !t
  %0 = weft.einsum "bi,bo->io" %x, %d : (tensor<64x4096xf32>, tensor<64x1024xf32>) -> !t
  %g = weft.accumulate %0 : (!t) -> !t
  %p1 = weft.sgd %p, %g, %lr, %lr weight_decay(0.1) : (!t, !t, !s, !s) -> !t
  weft.assign %p, %p1 : (!t, !t)
}
