// RUN: weft-opt %s --weft-elaborate-infer -split-input-file -verify-diagnostics

// expected-error @+1 {{weft.meshes: expected a list of placements, got []}}
module attributes {weft.meshes = []} {
  model.graph @none() {}
}

// -----
// expected-error @+1 {{weft.meshes: expected a list of placements, got [2]}}
module attributes {weft.meshes = [2]} {
  model.graph @number() {}
}

// -----
// expected-error @+1 {{weft.meshes: expected a list of placements, got "data=2"}}
module attributes {weft.meshes = "data=2"} {
  model.graph @text() {}
}
