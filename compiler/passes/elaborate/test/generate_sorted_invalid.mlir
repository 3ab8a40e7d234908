// RUN: weft-opt %s --weft-elaborate-generate=chunk=4 -split-input-file -verify-diagnostics

// Rows that stay sorted are those of others.
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @never_home("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %w = weft.parameter "w" [32, 8, 8] init(normal 0.02) : () -> tensor<32x8x8xf32>
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %x = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %0, %order = weft.sort %tokens dim(1) : (tensor<2x16xi32>) -> (tensor<2x16xi32>, tensor<2x16xi32>)
  %rows = weft.take %x, %order dim(1) batch(1) : (tensor<2x16x8xf32>, tensor<2x16xi32>) -> tensor<2x16x8xf32>
  // expected-error @+1 {{expected an output of each token, got one that has them in another order, or joined}}
  weft.output "y" %rows : (tensor<2x16x8xf32>)
}

// -----

// They come home by the sort that moved them.
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @other_home("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %w = weft.parameter "w" [32, 8, 8] init(normal 0.02) : () -> tensor<32x8x8xf32>
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %x = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %0, %order = weft.sort %tokens dim(1) : (tensor<2x16xi32>) -> (tensor<2x16xi32>, tensor<2x16xi32>)
  %rows = weft.take %x, %order dim(1) batch(1) : (tensor<2x16x8xf32>, tensor<2x16xi32>) -> tensor<2x16x8xf32>
  %more = weft.add %tokens, %tokens : (tensor<2x16xi32>, tensor<2x16xi32>) -> tensor<2x16xi32>
  %1, %other = weft.sort %more dim(1) : (tensor<2x16xi32>) -> (tensor<2x16xi32>, tensor<2x16xi32>)
  %places = weft.iota [2, 16] dim(1) : () -> tensor<2x16xi32>
  %home = weft.scatter_add %places, %other dim(1) size(16) batch(1) : (tensor<2x16xi32>, tensor<2x16xi32>) -> tensor<2x16xi32>
  // expected-error @+1 {{got one that computes with the places of sorted rows}}
  %y = weft.take %rows, %home dim(1) batch(1) : (tensor<2x16x8xf32>, tensor<2x16xi32>) -> tensor<2x16x8xf32>
  weft.output "y" %y : (tensor<2x16x8xf32>)
}

// -----

// Sorted rows meet none that are not.
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @meet("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %w = weft.parameter "w" [32, 8, 8] init(normal 0.02) : () -> tensor<32x8x8xf32>
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %x = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %0, %order = weft.sort %tokens dim(1) : (tensor<2x16xi32>) -> (tensor<2x16xi32>, tensor<2x16xi32>)
  %rows = weft.take %x, %order dim(1) batch(1) : (tensor<2x16x8xf32>, tensor<2x16xi32>) -> tensor<2x16x8xf32>
  // expected-error @+1 {{got one that meets rows that are sorted with such as are not}}
  %y = weft.add %rows, %x : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  weft.output "y" %y : (tensor<2x16x8xf32>)
}

// -----

// Where a row has gone says something of the others.
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @number("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %w = weft.parameter "w" [32, 8, 8] init(normal 0.02) : () -> tensor<32x8x8xf32>
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %x = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %0, %order = weft.sort %tokens dim(1) : (tensor<2x16xi32>) -> (tensor<2x16xi32>, tensor<2x16xi32>)
  %places = weft.iota [2, 16] dim(1) : () -> tensor<2x16xi32>
  %home = weft.scatter_add %places, %order dim(1) size(16) batch(1) : (tensor<2x16xi32>, tensor<2x16xi32>) -> tensor<2x16xi32>
  // expected-error @+1 {{got one that computes with the places of sorted rows}}
  %y = weft.add %home, %tokens : (tensor<2x16xi32>, tensor<2x16xi32>) -> tensor<2x16xi32>
  weft.output "y" %y : (tensor<2x16xi32>)
}

// -----

// Groups are in ascending order.
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @descending("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %w = weft.parameter "w" [32, 8, 8] init(normal 0.02) : () -> tensor<32x8x8xf32>
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %x = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %0, %order = weft.sort %tokens dim(1) descending : (tensor<2x16xi32>) -> (tensor<2x16xi32>, tensor<2x16xi32>)
  %rows = weft.take %x, %order dim(1) batch(1) : (tensor<2x16x8xf32>, tensor<2x16xi32>) -> tensor<2x16x8xf32>
  %one = weft.fill [2, 16] value(1) to i32 : () -> tensor<2x16xi32>
  %counts = weft.scatter_add %one, %tokens dim(1) size(32) batch(1) : (tensor<2x16xi32>, tensor<2x16xi32>) -> tensor<2x32xi32>
  // expected-error @+1 {{got one that needs rows of others too}}
  %y = weft.grouped_matmul %rows, %w, %counts : (tensor<2x16x8xf32>, tensor<32x8x8xf32>, tensor<2x32xi32>) -> tensor<2x16x8xf32>
  weft.output "y" %y : (tensor<2x16x8xf32>)
}

// -----

// And counted by the keys that were sorted.
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @other_counts("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %w = weft.parameter "w" [32, 8, 8] init(normal 0.02) : () -> tensor<32x8x8xf32>
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %x = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %0, %order = weft.sort %tokens dim(1) : (tensor<2x16xi32>) -> (tensor<2x16xi32>, tensor<2x16xi32>)
  %rows = weft.take %x, %order dim(1) batch(1) : (tensor<2x16x8xf32>, tensor<2x16xi32>) -> tensor<2x16x8xf32>
  %two = weft.fill [1, 1] value(2) to i32 : () -> tensor<1x1xi32>
  %half = weft.minimum %tokens, %two : (tensor<2x16xi32>, tensor<1x1xi32>) -> tensor<2x16xi32>
  %one = weft.fill [2, 16] value(1) to i32 : () -> tensor<2x16xi32>
  %counts = weft.scatter_add %one, %half dim(1) size(32) batch(1) : (tensor<2x16xi32>, tensor<2x16xi32>) -> tensor<2x32xi32>
  // expected-error @+1 {{got one that needs rows of others too}}
  %y = weft.grouped_matmul %rows, %w, %counts : (tensor<2x16x8xf32>, tensor<32x8x8xf32>, tensor<2x32xi32>) -> tensor<2x16x8xf32>
  weft.output "y" %y : (tensor<2x16x8xf32>)
}

// -----

// How many came before is no matter of a row.
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @slots("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %w = weft.parameter "w" [32, 8, 8] init(normal 0.02) : () -> tensor<32x8x8xf32>
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %x = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  // expected-error @+1 {{got one that needs rows of others too}}
  %0 = weft.cumsum %tokens dim(1) exclusive : (tensor<2x16xi32>) -> tensor<2x16xi32>
  weft.output "y" %0 : (tensor<2x16xi32>)
}

// -----

// Nor which are the largest of all.
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @largest("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %w = weft.parameter "w" [32, 8, 8] init(normal 0.02) : () -> tensor<32x8x8xf32>
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %x = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  // expected-error @+1 {{got one that needs rows of others too}}
  %0, %1 = weft.top_k %tokens k(4) dim(1) : (tensor<2x16xi32>) -> (tensor<2x4xi32>, tensor<2x4xi32>)
  weft.output "y" %0 : (tensor<2x4xi32>)
}
