// What a job pins takes the place of what the model says of that axis.
// RUN: weft-opt %s --pass-pipeline="builtin.module(weft-elaborate-pins{pins=h.*.weight|tensor|S(1),h.2.weight|tensor|B,*|expert|S(0)})" | FileCheck %s
// RUN: not weft-opt %s --pass-pipeline="builtin.module(weft-elaborate-pins{pins=h.9.weight|tensor|B})" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt %s --pass-pipeline="builtin.module(weft-elaborate-pins{pins=fixed|tensor|B})" 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: not weft-opt %s --pass-pipeline="builtin.module(weft-elaborate-pins{pins=f*d|tensor|B})" 2>&1 | FileCheck %s --check-prefix=SOME
// RUN: not weft-opt %s --pass-pipeline="builtin.module(weft-elaborate-pins{pins=h\\|tensor|B})" 2>&1 | FileCheck %s --check-prefix=GLOB

// NONE: error: graph.pin: h.9.weight: expected the name of a parameter, got one that none has
// FIXED: error: graph.pin: fixed: expected parameters that the model does not call `pinned`, got fixed
// FIXED: note: pinned here
// SOME: error: graph.pin: f*d: expected parameters that the model does not call `pinned`, got fixed
// SOME: note: pinned here
// GLOB: error: graph.pin: h\: expected the name of a parameter, with `*` for anything:
model.graph @g(%x [8, 8] f32) {
  // CHECK: weft.parameter "h.1.weight" [8, 8] init(zeros) sbp(expert = S(0), tensor = S(1))
  %0 = weft.parameter "h.1.weight" [8, 8] sbp(tensor = S(0))
  // Of several pins the last one counts.
  // CHECK: weft.parameter "h.2.weight" [8, 8] init(zeros) sbp(expert = S(0), tensor = B)
  %1 = weft.parameter "h.2.weight" [8, 8]
  // CHECK: weft.parameter "fixed" [8, 8] init(zeros) sbp(tensor = S(0)) pinned
  %2 = weft.parameter "fixed" [8, 8] sbp(tensor = S(0)) pinned
  // What a pin does not speak of stays.
  // CHECK: weft.parameter "bias" [8, 8] init(zeros) sbp(data = B, expert = S(0))
  %3 = weft.parameter "bias" [8, 8] sbp(data = B)
  %4 = weft.add_n %0, %1, %2, %3
  weft.output "y" %4
}
