// RUN: weft-opt %s --weft-elaborate-config --weft-elaborate-instantiate -split-input-file -verify-diagnostics

model.layer @fc(%x) [n] {
  // expected-error @+1 {{averages: parameter "slow.weight": expected "other.weight" before it, which it averages, found none}}
  %w = weft.parameter "weight" [n] init(zeros)
  %y = weft.mul %x, %w
  model.return %y
}
model.graph @g(%x [2] f32, %m [] f32) {
  %0 = model.call @fc "base" (%x) [2]
  %1 = model.call @fc "slow" (%x) [2] averages "other" momentum(%m)
  weft.output "y" %1
}

// -----

model.layer @fc(%x) [n] {
  // expected-error @+2 {{averages: parameter "slow.weight": expected "base.weight" to be of the same shape, got [2] for [1]}}
  // expected-note @+1 {{what it averages}}
  %w = weft.parameter "weight" [n] init(zeros)
  %y = weft.mul %x, %w
  model.return %y
}
model.graph @g(%x [2] f32, %m [] f32) {
  %0 = model.call @fc "base" (%x) [2]
  %1 = model.call @fc "slow" (%x) [1] averages "base" momentum(%m)
  weft.output "y" %1
}

// -----

model.layer @fc(%x) {
  // expected-error @+2 {{averages: parameter "slower.weight": expected "slow.weight" to be trained, got state}}
  // expected-note @+1 {{what it averages}}
  %w = weft.parameter "weight" [2] init(zeros)
  %y = weft.mul %x, %w
  model.return %y
}
model.graph @g(%x [2] f32, %m [] f32) {
  %0 = model.call @fc "base" (%x)
  %1 = model.call @fc "slow" (%x) averages "base" momentum(%m)
  %2 = model.call @fc "slower" (%x) averages "slow" momentum(%m)
  weft.output "y" %2
}

// -----

model.layer @exp(%x) {
  %y = weft.exp %x
  model.return %y
}
model.graph @g(%x [2] f32, %m [] f32) {
  // expected-error @+1 {{averages: expected a layer with parameters, got none in @exp}}
  %1 = model.call @exp "slow" (%x) averages "base" momentum(%m)
  weft.output "y" %1
}

// -----

model.layer @fc(%x) {
  %w = weft.parameter "weight" [2] init(zeros)
  %y = weft.mul %x, %w
  model.return %y
}
model.layer @inside(%x, %m) {
  // expected-error @+1 {{averages: expected none inside averages, got those of "base"}}
  %y = model.call @fc "slow" (%x) averages "base" momentum(%m)
  model.return %y
}
model.graph @g(%x [2] f32, %m [] f32) {
  %0 = model.call @fc "base" (%x)
  %1 = model.call @inside "outer" (%x, %m) averages "base" momentum(%m)
  weft.output "y" %1
}
