// Placements come from weft.to_global, and pass from operands to results.
// RUN: weft-opt %s --phase-elaborate=keys=dist.tensor=2 | FileCheck %s

// The placement that is named twice is listed once.
// CHECK: placements [#weft.placement<"cpu", [tensor = 2], [0, 1]>, #weft.placement<"cpu", [_0 = 2, _1 = 1], [2, 3]>]
model.graph @g(%x [4, 8] f32) {
  // Of the first of its users.
  // CHECK-NEXT: weft.parameter "both" [8] init(zeros) {{ *}}{seed = {{[0-9]+}} : i64} :
  %both = weft.parameter "both" [8]
  // CHECK-NEXT: weft.parameter "late" [8] init(zeros) {{ *}}{seed = {{[0-9]+}} : i64, stage = 1 : i64} :
  %late = weft.parameter "late" [8]
  // A name that no axis of this placement has is dropped.
  // CHECK-NEXT: weft.parameter "pinned" [8] init(zeros) sbp(tensor = S(0)) {{ *}}{seed = {{[0-9]+}} : i64} :
  %pinned = weft.parameter "pinned" [8] sbp(data = B, tensor = S(0))
  // CHECK-NEXT: weft.add {{[^{]*}} :
  %0 = weft.add %x, %both
  // CHECK-NEXT: weft.add {{[^{]*}} :
  %1 = weft.add %0, %pinned
  // CHECK-NEXT: weft.to_global %{{.*}} sbp(S(0), B) {stage = 1 : i64}
  %2 = weft.to_global %1 sbp(S(0), B) placement("cpu", [[2], [3]])
  // CHECK-NEXT: weft.add {{.*}} {stage = 1 : i64}
  %3 = weft.add %2, %late
  // CHECK-NEXT: weft.add {{.*}} {stage = 1 : i64}
  %4 = weft.add %3, %both
  // Of operands on several placements, the last one.
  // CHECK-NEXT: weft.add {{.*}} {stage = 1 : i64}
  %5 = weft.add %1, %4
  // CHECK-NEXT: weft.to_global {{.*}} sbp(B, B) {stage = 1 : i64}
  %6 = weft.to_global %5 sbp(B, B) placement("cpu", [[2], [3]])
  // CHECK-NEXT: weft.output "y" {{.*}} {stage = 1 : i64}
  weft.output "y" %6
}
