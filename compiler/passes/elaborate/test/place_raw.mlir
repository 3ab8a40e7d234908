// A mesh of raw ranks takes the place of a job without axes, and is beside the mesh of one with.
// RUN: weft-opt %s --phase-elaborate | FileCheck %s
// RUN: weft-opt %s --phase-elaborate=keys=dist.data=2,batch.micro=2 | FileCheck %s --check-prefix=JOB

// CHECK:      placements [#weft.placement<"cpu", [_0 = 2, _1 = 2], [2, 3, 4, 5]>] {
// CHECK-NEXT: weft.to_global %{{.*}} sbp(S(0), S(1)) :
// CHECK-NEXT: weft.tanh {{[^{]*}} :
// JOB:        placements [#weft.placement<"cpu", [data = 2], [0, 1]>, #weft.placement<"cpu", [_0 = 2, _1 = 2], [2, 3, 4, 5]>] {
// JOB-NEXT:   weft.to_global %{{.*}} sbp(S(0), S(1)) {stage = 1 : i64}
// JOB-NEXT:   weft.tanh {{.*}} {stage = 1 : i64}
model.graph @g(%x [4, 8] f32) {
  %0 = weft.to_global %x sbp(S(0), S(1)) placement("cpu", [[2, 3], [4, 5]])
  %1 = weft.tanh %0
  weft.output "y" %1
}
