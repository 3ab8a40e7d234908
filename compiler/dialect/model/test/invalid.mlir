// What the verifiers and parsers of the dialect refuse.
// RUN: weft-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected a name other than the SBP states B, P and S, got P}}
model.config @P = 1

// -----

// expected-error @+1 {{expected a name other than the SBP states B, P and S, got S}}
model.layer @f(%x) [S] {
  model.return %x
}

// -----

// expected-error @+1 {{expected distinct parameters, got "a" twice}}
model.layer @f(%x) [a, a] {
  model.return %x
}

// -----

// expected-error @+1 {{parameter b: expected a default, as the one before it has}}
model.layer @f(%x) [a = 1, b] {
  model.return %x
}

// -----

// expected-error @+1 {{expected model.return at the end}}
model.layer @f(%x) {
  weft.parameter "w" [1]
}

// -----

// expected-error @+1 {{expected at most 1 defaults, got 2}}
"model.layer"() <{sym_name = "f", inputs = [], parameters = ["a"], defaults = [1, 2]}> ({
  model.return
}) : () -> ()

// -----

model.graph @g(%x [1] f32) {
  // expected-error @+1 {{expected at most 1 results, one an operand, got 2}}
  %a, %b = model.repeat 2 "h" @f(%x)
}

// -----

// expected-error @+1 {{expected a name, a shape and a type an input, got 0 for 1}}
"model.graph"() <{sym_name = "g", inputs = ["x"], shapes = [], types = [f32]}> ({
^bb0(%x: !weft.any):
}) : () -> ()

// -----

// expected-error @+1 {{expected shapes to be lists}}
"model.graph"() <{sym_name = "g", inputs = ["x"], shapes = [1], types = [f32]}> ({
^bb0(%x: !weft.any):
}) : () -> ()

// -----

// expected-error @+1 {{expected distinct input names, got "x" twice}}
"model.graph"() <{sym_name = "g", inputs = ["x", "x"], shapes = [[1], [1]], types = [f32, f32]}> ({
^bb0(%x: !weft.any, %y: !weft.any):
}) : () -> ()

// -----

model.graph @g() {
  // expected-error @+1 {{expects parent op 'model.layer'}}
  model.return
}

// -----

model.layer @f(%x) {
  // expected-error @+1 {{expected to stand in a model.graph, got layer @f}}
  model.stage 1
  model.return %x
}

// -----

// expected-error @+1 {{expected to stand in a model.graph, got none}}
model.stage 1

// -----

model.layer @f(%x) {
  // expected-error @+1 {{averages: expected a scope for the averages, got none}}
  %y = model.call @g (%x) averages "a" momentum(%x)
  model.return %y
}
