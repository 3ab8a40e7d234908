// RUN: weft-opt %s -split-input-file -verify-diagnostics

weft.graph @g("ids" %i: tensor<4xi64>, "table" %t: tensor<256x16xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{ids: expected the element type i32, got 'i64'}}
  %0 = weft.embedding %i, %t : (tensor<4xi64>, tensor<256x16xf32>) -> tensor<4x16xf32>
}

// -----

weft.graph @g("ids" %i: tensor<4xi32>, "table" %t: tensor<256x4x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{table: expected two dimensions and a floating-point element type, got 'tensor<256x4x4xf32>'}}
  %0 = weft.embedding %i, %t : (tensor<4xi32>, tensor<256x4x4xf32>) -> tensor<4x4x4xf32>
}

// -----

weft.graph @g("ids" %i: tensor<4xi32>, "table" %t: tensor<256x16xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{table: expected two dimensions and a floating-point element type, got 'tensor<256x16xi32>'}}
  %0 = weft.embedding %i, %t : (tensor<4xi32>, tensor<256x16xi32>) -> tensor<4x16xi32>
}

// -----

weft.graph @g("ids" %i: tensor<4xf32>, "dout" %d: tensor<4x16xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{ids: expected the element type i32, got 'f32'}}
  %0 = weft.embedding_grad %i, %d vocab(256) : (tensor<4xf32>, tensor<4x16xf32>) -> tensor<256x16xf32>
}

// -----

weft.graph @g("ids" %i: tensor<4xi32>, "dout" %d: tensor<5x16xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{dout: expected the shape of the ids and one dimension more, got 'tensor<5x16xf32>' for 'tensor<4xi32>'}}
  %0 = weft.embedding_grad %i, %d vocab(256) : (tensor<4xi32>, tensor<5x16xf32>) -> tensor<256x16xf32>
}

// -----

weft.graph @g("ids" %i: tensor<4xi32>, "dout" %d: tensor<4x16xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{expected a floating-point element type, got 'i32'}}
  %0 = weft.embedding_grad %i, %d vocab(256) : (tensor<4xi32>, tensor<4x16xi32>) -> tensor<256x16xi32>
}

// -----

weft.graph @g("ids" %i: tensor<4xi32>, "dout" %d: tensor<4x16xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{vocab: expected a positive number, got 0}}
  %0 = weft.embedding_grad %i, %d vocab(0) : (tensor<4xi32>, tensor<4x16xf32>) -> tensor<0x16xf32>
}
