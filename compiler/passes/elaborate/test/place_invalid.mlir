// RUN: weft-opt %s --phase-elaborate=keys=dist.data=2,batch.micro=2 -split-input-file -verify-diagnostics

model.graph @g() {
  // expected-error @+1 {{sbp: expected axis data, expert, context or tensor, got tensr}}
  %0 = weft.parameter "w" [8] sbp(tensr = S(0))
}

// -----

model.graph @g() {
  // Also where the axis has size 1.
  // expected-error @+1 {{sbp: tensor = S(1): expected a dimension below 1, got 1}}
  %0 = weft.parameter "w" [8] sbp(tensor = S(1))
}

// -----

model.graph @g() {
  // expected-error @+1 {{sbp: data = P: expected S(dim) or B for a parameter}}
  %0 = weft.parameter "w" [8] sbp(data = P)
}

// -----

model.graph @g(%x [8] f32) {
  // expected-error @+1 {{sbp: expected states by axis name, as in sbp(tensor = S(0)), got one by position, which needs a placement of raw ranks}}
  %0 = weft.to_global %x sbp(S(0))
}

// -----

model.graph @g(%x [8] f32) {
  // expected-error @+1 {{sbp: expected 2 states, one an axis of the mesh, got 1}}
  %0 = weft.to_global %x sbp(S(0)) placement("cpu", [[2, 3]])
}

// -----

model.graph @g(%x [8] f32) {
  // expected-error @+1 {{sbp: expected 1 states, one an axis of the mesh, got more}}
  %0 = weft.to_global %x sbp(S(0), B) placement("cpu", [2, 3])
}

// -----

model.graph @g(%x [8] f32) {
  // expected-error @+1 {{placement: expected rows of 2, got one of 1}}
  %0 = weft.to_global %x sbp(S(0), B) placement("cpu", [[0, 1], [2]])
}

// -----

model.graph @g(%x [8] f32) {
  // expected-error @+1 {{placement: expected nested lists of ranks, all of one depth}}
  %0 = weft.to_global %x sbp(S(0), B) placement("cpu", [[0, 1], 2])
}

// -----

model.graph @g(%x [8] f32) {
  // expected-error @+1 {{placement: mesh: expected distinct ranks, got 1 twice}}
  %0 = weft.to_global %x sbp(S(0)) placement("cpu", [1, 1])
}

// -----

model.graph @g(%x [8, 8] f32) {
  // expected-error @+1 {{placement: expected ranks that are in no other mesh, got rank 0, which is in #weft.placement<"cpu", [data = 2], [0, 1]>}}
  %0 = weft.to_global %x sbp(S(0), B) placement("cpu", [[0, 2], [3, 4]])
}
