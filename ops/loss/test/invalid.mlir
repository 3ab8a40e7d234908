// RUN: weft-opt %s -split-input-file -verify-diagnostics

weft.graph @g("x" %x: tensor<4x32xi32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{logits: expected floating-point numbers and one dimension or more, got 'tensor<4x32xi32>'}}
  %0, %1 = weft.cross_entropy %x, %l : (tensor<4x32xi32>, tensor<4xi32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("x" %x: tensor<f32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{logits: expected floating-point numbers and one dimension or more, got 'tensor<f32>'}}
  %0, %1 = weft.cross_entropy %x, %l : (tensor<f32>, tensor<4xi32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("x" %x: tensor<4x32xf32>, "l" %l: tensor<4xi64>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{labels: expected 'tensor<4xi32>', got 'tensor<4xi64>'}}
  %0, %1 = weft.cross_entropy %x, %l : (tensor<4x32xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("x" %x: tensor<4x32xf32>, "l" %l: tensor<5xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{labels: expected 'tensor<4xi32>', got 'tensor<5xi32>'}}
  %0, %1 = weft.cross_entropy %x, %l : (tensor<4x32xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("x" %x: tensor<4x32xi32>, "m" %m: tensor<4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{logits: expected floating-point numbers and one dimension or more, got 'tensor<4x32xi32>'}}
  %0 = weft.sum_exp %x, %m : (tensor<4x32xi32>, tensor<4xf32>) -> tensor<4xf32>
}

// -----

weft.graph @g("x" %x: tensor<4x32xf32>, "m" %m: tensor<4x1xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{max: expected 'tensor<4xf32>', got 'tensor<4x1xf32>'}}
  %0 = weft.sum_exp %x, %m : (tensor<4x32xf32>, tensor<4x1xf32>) -> tensor<4xf32>
}

// -----

weft.graph @g("x" %x: tensor<4x32xi32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{logits: expected floating-point numbers and one dimension or more, got 'tensor<4x32xi32>'}}
  %0 = weft.pick %x, %l : (tensor<4x32xi32>, tensor<4xi32>) -> tensor<4xf32>
}

// -----

weft.graph @g("x" %x: tensor<4x32xf32>, "l" %l: tensor<4x32xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{labels: expected 'tensor<4xi32>', got 'tensor<4x32xi32>'}}
  %0 = weft.pick %x, %l : (tensor<4x32xf32>, tensor<4x32xi32>) -> tensor<4xf32>
}

// -----

weft.graph @g("r" %r: tensor<4xf32>, "l" %l: tensor<4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{labels: expected 'tensor<4xi32>', got 'tensor<4xf32>'}}
  %0, %1 = weft.cross_entropy_loss %r, %r, %r, %l : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("r" %r: tensor<4xf32>, "w" %w: tensor<5xf32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{max: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0, %1 = weft.cross_entropy_loss %w, %r, %r, %l : (tensor<5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("r" %r: tensor<4xf32>, "w" %w: tensor<5xf32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{sum: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0, %1 = weft.cross_entropy_loss %r, %w, %r, %l : (tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("r" %r: tensor<4xf32>, "w" %w: tensor<5xf32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{picked: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0, %1 = weft.cross_entropy_loss %r, %r, %w, %l : (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("d" %d: tensor<1xf32>, "x" %x: tensor<4x32xf32>, "r" %r: tensor<4xf32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{dloss: expected 'tensor<f32>', got 'tensor<1xf32>'}}
  %0 = weft.cross_entropy_grad %d, %x, %r, %r, %l : (tensor<1xf32>, tensor<4x32xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) -> tensor<4x32xf32>
}

// -----

weft.graph @g("d" %d: tensor<f32>, "x" %x: tensor<4x32xi32>, "r" %r: tensor<4xf32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{logits: expected floating-point numbers and one dimension or more, got 'tensor<4x32xi32>'}}
  %0 = weft.cross_entropy_grad %d, %x, %r, %r, %l : (tensor<f32>, tensor<4x32xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) -> tensor<4x32xi32>
}

// -----

weft.graph @g("d" %d: tensor<f32>, "x" %x: tensor<4x32xf32>, "r" %r: tensor<4xf32>, "w" %w: tensor<5xf32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{max: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = weft.cross_entropy_grad %d, %x, %w, %r, %l : (tensor<f32>, tensor<4x32xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xi32>) -> tensor<4x32xf32>
}

// -----

weft.graph @g("d" %d: tensor<f32>, "x" %x: tensor<4x32xf32>, "r" %r: tensor<4xf32>, "w" %w: tensor<5xf32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{sum: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = weft.cross_entropy_grad %d, %x, %r, %w, %l : (tensor<f32>, tensor<4x32xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xi32>) -> tensor<4x32xf32>
}

// -----

weft.graph @g("d" %d: tensor<f32>, "x" %x: tensor<4x32xf32>, "r" %r: tensor<4xf32>, "l" %l: tensor<5xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{labels: expected 'tensor<4xi32>', got 'tensor<5xi32>'}}
  %0 = weft.cross_entropy_grad %d, %x, %r, %r, %l : (tensor<f32>, tensor<4x32xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xi32>) -> tensor<4x32xf32>
}

// -----

weft.graph @g("x" %x: tensor<4x32xf32>, "l" %l: tensor<4xi32>, "w" %w: tensor<5xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{weights: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0, %1 = weft.cross_entropy %x, %l weights(%w) : (tensor<4x32xf32>, tensor<4xi32>, tensor<5xf32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("x" %x: tensor<4x32xf32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{label_smoothing: expected a number from 0 to 1, got 1.500000e+00}}
  %0, %1 = weft.cross_entropy %x, %l label_smoothing(1.5) : (tensor<4x32xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("r" %r: tensor<4xf32>, "w" %w: tensor<4xi32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{weights: expected 'tensor<4xf32>', got 'tensor<4xi32>'}}
  %0, %1 = weft.cross_entropy_loss %r, %r, %r, %l weights(%w) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("d" %d: tensor<f32>, "x" %x: tensor<4x32xf32>, "r" %r: tensor<4xf32>, "w" %w: tensor<5xf32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{weights: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = weft.cross_entropy_grad %d, %x, %r, %r, %l weights(%w) : (tensor<f32>, tensor<4x32xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<5xf32>) -> tensor<4x32xf32>
}

// -----

weft.graph @g("d" %d: tensor<f32>, "x" %x: tensor<4x32xf32>, "r" %r: tensor<4xf32>, "l" %l: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{label_smoothing: expected a number from 0 to 1, got -1.000000e-01}}
  %0 = weft.cross_entropy_grad %d, %x, %r, %r, %l label_smoothing(-0.1) : (tensor<f32>, tensor<4x32xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) -> tensor<4x32xf32>
}
