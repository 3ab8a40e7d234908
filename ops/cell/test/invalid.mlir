// RUN: weft-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'cell.kernel' op strides: expected 2 lists, one for every input and output, got 1}}
cell.kernel @k domain [4] row 1 strides [array<i64: 1>] {
^bb0(%x: f32):
  cell.yield %x : f32
}

// -----

// expected-error @+1 {{'cell.kernel' op strides: expected 1 of 0 or more in each list, got array<i64: 1, 1>}}
cell.kernel @k domain [4] row 1 strides [array<i64: 1, 1>, array<i64: 1>] {
^bb0(%x: f32):
  cell.yield %x : f32
}

// -----

// expected-error @+1 {{'cell.kernel' op row: expected the product of the last extents of the domain, got 3}}
cell.kernel @k domain [4] row 3 strides [array<i64: 1>, array<i64: 1>] {
^bb0(%x: f32):
  cell.yield %x : f32
}

// -----

// expected-error @+1 {{'cell.kernel' op domain: expected extents of 1 or more, got 0}}
cell.kernel @k domain [0] row 1 strides [array<i64: 1>, array<i64: 1>] {
^bb0(%x: f32):
  cell.yield %x : f32
}

// -----

cell.kernel @k domain [4] row 4 strides [array<i64: 1>, array<i64: 1>] {
^bb0(%x: f32):
  // expected-error @+1 {{'cell.reduce' op kind: expected sum or max, got least}}
  %0 = cell.reduce least %x : f32
  cell.yield %0 : f32
}

// -----

// expected-error @+1 {{'cell.kernel' op batch: expected the domain [1], got [4]}}
cell.kernel @k batch domain [4] row 1 strides [array<i64: 1>, array<i64: 1>] {
^bb0(%x: f32):
  cell.yield %x : f32
}

// -----

// expected-error @+1 {{'cell.kernel' op batch: expected inputs of stride 0, then operands of stride 1, got}}
cell.kernel @k batch domain [1] row 1 strides [array<i64: 1>, array<i64: 0>, array<i64: 1>] {
^bb0(%x: f32, %lr: f32):
  cell.yield %x : f32
}

// -----

// expected-error @+1 {{'cell.kernel' op batch: expected element-wise operations, got cell.reduce}}
cell.kernel @k batch domain [1] row 1 strides [array<i64: 1>, array<i64: 1>] {
^bb0(%x: f32):
  %0 = cell.reduce sum %x : f32
  cell.yield %0 : f32
}

// -----

// expected-error @+1 {{'cell.kernel' op from: expected 2 numbers of 0 or more, got array<i64: 1>}}
cell.kernel @k domain [4] row 1 strides [array<i64: 1>, array<i64: 1>] from [1] {
^bb0(%x: f32):
  cell.yield %x : f32
}

// -----

// expected-error @+1 {{'cell.kernel' op batch: expected operands from their first element on, got from array<i64: 1, 0>}}
cell.kernel @k batch domain [1] row 1 strides [array<i64: 1>, array<i64: 1>] from [1, 0] {
^bb0(%x: f32):
  cell.yield %x : f32
}
