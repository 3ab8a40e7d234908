// RUN: weft-opt %s --weft-elaborate-instantiate -split-input-file -verify-diagnostics

model.layer @f(%x) {
  model.return %x
}
model.layer @g(%x) {
  model.return %x
}
model.graph @train(%x [1] f32) {
  // expected-error @+1 {{unknown layer @h: expected f or g}}
  %y = model.call @h (%x)
}

// -----

// expected-note @+1 {{the layer}}
model.layer @f(%x) {
  model.return %x
}
model.graph @train(%x [1] f32) {
  // expected-error @+1 {{layer @f: values: expected 1, got 2}}
  %y = model.call @f (%x, %x)
}

// -----

// expected-note @+1 {{the layer}}
model.layer @f(%x) {
  model.return %x
}
model.graph @train(%x [1] f32) {
  // expected-error @+1 {{layer @f: results: expected 1, got 2}}
  %y, %z = model.call @f (%x)
}

// -----

// expected-note @+1 {{the layer}}
model.layer @f(%x) [a, b, c = 1] {
  model.return %x
}
model.graph @train(%x [1] f32) {
  // expected-error @+1 {{layer @f: parameters: expected 2 to 3 (a, b, c), got 1}}
  %y = model.call @f (%x) [1]
}

// -----

// expected-note @+1 {{the layer}}
model.layer @f(%x) {
  model.return %x
}
model.graph @train(%x [1] f32) {
  // expected-error @+1 {{layer @f: parameters: expected 0, got 1}}
  %y = model.call @f (%x) [1]
}

// -----

model.layer @f(%x) [a] {
  model.return %x
}
model.config @size = 1
model.graph @train(%x [1] f32) {
  // expected-error @+1 {{layer @f: a: "2 * sice": unknown name sice: expected size}}
  %y = model.call @f (%x) [2 * sice]
}

// -----

model.layer @f(%x) {
  model.return %x
}
model.graph @train(%x [1] f32) {
  // expected-error @+1 {{expected at most 1048576 ops and calls in a graph, got more}}
  %y = model.repeat 1000000000000 "h" @f (%x)
}

// -----

// A parameter that hides a config of its name is listed once.
model.layer @f(%x) [size, rate] {
  // expected-error @+1 {{'weft.scale' op factor: "rat": unknown name rat: expected size or rate}}
  %y = weft.scale %x by(rat)
  model.return %y
}
model.config @size = 1
model.graph @train(%x [1] f32) {
  %y = model.call @f (%x) [size, 2.0]
}

// -----

// expected-error @+1 {{layer @f: b: "c": unknown name c: expected a or size}}
model.layer @f(%x) [a, b = c] {
  model.return %x
}
model.config @size = 1
model.graph @train(%x [1] f32) {
  %y = model.call @f (%x) [1]
}

// -----

model.layer @f(%x) {
  // expected-error @+1 {{layer @g: expected no recursion, got g calls f calls g}}
  %y = model.call @g (%x)
  model.return %y
}
model.layer @g(%x) {
  %y = model.call @f (%x)
  model.return %y
}
model.graph @train(%x [1] f32) {
  %y = model.call @g (%x)
}

// -----

model.layer @f(%x) {
  model.return %x
}
model.graph @train(%x [1] f32) {
  // expected-error @+1 {{repeat: count: expected a whole number of 0 or more, got -1}}
  %y = model.repeat -1 "h" @f(%x)
}

// -----

model.layer @f() {
  // expected-note @+2 {{the first one}}
  // expected-error @+1 {{parameter "a.w": expected distinct names, got it twice; give each call a scope of its own}}
  %w = weft.parameter "w" [1]
  model.return
}
model.graph @train() {
  model.call @f "a" ()
  model.call @f "a" ()
}

// -----

model.graph @train() {
  // expected-error @+1 {{'weft.parameter' op shape: "size": unknown name size}}
  %w = weft.parameter "w" [size]
}

// -----

model.graph @train() {
  // expected-error @+1 {{'weft.parameter' op shape: expected whole numbers, got 1.500000e+00}}
  %w = weft.parameter "w" [1 * 1.5]
}

// -----

model.graph @train() {
  // expected-error @+1 {{'weft.parameter' op shape: "S(0)": expected a number, got S(0)}}
  %w = weft.parameter "w" [S(0)]
}

// -----

model.graph @train() {
  // expected-error @+1 {{'weft.parameter' op pins: expected S(dim), B, P or P(max), got 3}}
  %w = weft.parameter "w" [1] sbp(tensor = 1 + 2)
}

// -----

// expected-error @+1 {{'model.graph' op shapes: "n": unknown name n}}
model.graph @train(%x [n] f32) {
}

// -----

model.graph @train() {
  // expected-error @+1 {{expected an operator of the weft dialect, got builtin.unrealized_conversion_cast}}
  %0 = builtin.unrealized_conversion_cast to !weft.any
}

// -----

// The config pass evaluates these.
model.config @a = 3
// expected-error @+1 {{config @b: expected a value, got an expression}}
model.config @b = a * 2
model.graph @f(%x [b] f32) {
  weft.output "y" %x
}

// -----

model.graph @train(%x [1] f32) {
  // expected-error @+1 {{stage: expected 1, the next, got 0}}
  model.stage 0
}

// -----

model.config @second = 3
model.graph @train(%x [1] f32) {
  model.stage 1
  // expected-error @+1 {{stage: expected 2, the next, got 3}}
  model.stage second
}

// -----

model.graph @train(%x [1] f32) {
  // expected-error @+1 {{stage: expected 1, the next, got 1.5}}
  model.stage 1.5
}

// -----

model.graph @train(%x [1] f32) {
  // expected-error @+1 {{stage: "first": unknown name first}}
  model.stage first
}
