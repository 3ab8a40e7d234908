// Where a parameter is split over `tensor` and whole on its part, and has fewer of what is split than ranks, the axis is cut.
// RUN: weft-opt %s --phase-elaborate=keys=dist.tensor=8 | FileCheck %s --check-prefix=CUT
// RUN: weft-opt %s --phase-elaborate=keys=dist.tensor=4 | FileCheck %s --check-prefix=WHOLE
// RUN: weft-opt %s --phase-elaborate=keys=dist.tensor=6 | FileCheck %s --check-prefix=SIX
// RUN: weft-opt %s --phase-elaborate="keys=dist.pipeline=2,pipeline.stages={tensor: 8},pipeline.stages={tensor: 2}" | FileCheck %s --check-prefix=STAGES

// CUT: placements [#weft.placement<"cpu", [tensor = 4, group = 2],
// WHOLE: placements [#weft.placement<"cpu", [tensor = 4],
// SIX: placements [#weft.placement<"cpu", [tensor = 6],
// STAGES: [tensor = 4, group = 2], [0, 1, 2, 3, 4, 5, 6, 7]>
// STAGES-SAME: [tensor = 2], [8, 9]>
model.graph @g(%x [16, 8] f32) {
  // What says nothing of the part is split by it too.
  // CUT: weft.parameter "q" [8, 8] init(zeros) sbp(group = S(1), tensor = S(1))
  // WHOLE: weft.parameter "q" [8, 8] init(zeros) sbp(tensor = S(1))
  %q = weft.parameter "q" [8, 8] sbp(tensor = S(1))
  // CUT: weft.parameter "k" [8, 4] init(zeros) sbp(group = B, tensor = S(1))
  // WHOLE: weft.parameter "k" [8, 4] init(zeros) sbp(tensor = S(1))
  %k = weft.parameter "k" [8, 4] sbp(tensor = S(1), group = B)
  %0 = weft.einsum "bi,io->bo" %x, %q
  %1 = weft.einsum "bi,io->bo" %x, %k
  weft.output "y" %0
  weft.output "z" %1
}
