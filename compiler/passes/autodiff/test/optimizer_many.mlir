// The squares of 66 gradients are summed in their order by two ops, as one has 64 operands at most.
// RUN: weft-opt %s "--phase-elaborate=keys=batch.micro=1" "--phase-autodiff=keys=optimizer={sgd: {lr: 0.1} clip_norm: 1}" | FileCheck %s
// CHECK-COUNT-66: weft.square_sum
// CHECK-NEXT: %[[SUM:[0-9]+]] = weft.add_n %
// CHECK-NEXT: %[[ALL:[0-9]+]] = weft.add_n %[[SUM]], %{{[0-9]+}}, %{{[0-9]+}} {
// CHECK-NEXT: weft.clip_scale %[[ALL]],
// CHECK-NOT: weft.add_n
model.layer @shift(%x) {
  %w = weft.parameter "w" [8]
  %0 = weft.add %x, %w
  model.return %0
}
model.graph @train(%x [8] f32, %count [] f32) {
  %0 = model.repeat 66 "h" @shift(%x)
  %1 = weft.reduce sum %0 over [0]
  weft.minimize %1 per %count
}
