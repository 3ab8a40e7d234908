// RUN: weft-opt %s --weft-elaborate-infer -split-input-file -verify-diagnostics

model.graph @train(
    // expected-error @+1 {{input "x": expected positive extents, got 0}}
    %x [4, 0] f32) {
}

// -----

model.graph @train(
    // expected-error @+1 {{input "x": expected an integer or floating-point element type, got '!weft.any'}}
    %x [4] !weft.any) {
}

// -----

model.graph @train(
    // expected-error @+1 {{input "x": expected at most 281474976710656 elements, got more}}
    %x [4294967296, 4294967296] f32) {
}

// -----

model.graph @train(%x [1099511627776] f32, %w [1, 1024] f32) {
  // expected-error @+1 {{result: expected at most 281474976710656 elements, got more}}
  %y = weft.einsum "b,io->bio" %x, %w
}

// -----

model.graph @train() {
  // expected-error @+1 {{shape: expected positive extents, got -1}}
  %w = weft.parameter "w" [-1]
}

// -----

model.graph @train(%x [4] f32) {
  // expected-error @+1 {{loss: expected tensor<f32>, got 'tensor<4xf32>'}}
  weft.minimize %x
}
