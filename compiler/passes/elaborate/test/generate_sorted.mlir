// Choices of two groups for each token are sorted by group, multiplied, and put back: of 16 tokens, and of 4.
// RUN: weft-opt %s --weft-elaborate-generate=chunk=4 -split-input-file | FileCheck %s

#mesh = #weft.placement<"cpu", [], [0]>

// CHECK-LABEL: weft.graph @home
// The last row of each sequence alone: its choices are sorted among themselves.
weft.graph @home("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %w = weft.parameter "w" [8, 8, 8] init(normal 0.02) : () -> tensor<8x8x8xf32>
  %x = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %gates, %ids = weft.top_k %x k(2) dim(2) : (tensor<2x16x8xf32>) -> (tensor<2x16x2xf32>, tensor<2x16x2xi32>)
  // CHECK: %[[CHOICES:.*]] = weft.reshape %{{.*}} [2, 2]
  %choices = weft.reshape %ids [2, 32] : (tensor<2x16x2xi32>) -> tensor<2x32xi32>
  // CHECK: %{{.*}}, %[[ORDER:.*]] = weft.sort %[[CHOICES]] dim(1) : (tensor<2x2xi32>)
  %0, %order = weft.sort %choices dim(1) : (tensor<2x32xi32>) -> (tensor<2x32xi32>, tensor<2x32xi32>)
  %1 = weft.iota [16, 2] dim(0) : () -> tensor<16x2xi32>
  %2 = weft.reshape %1 [32] : (tensor<16x2xi32>) -> tensor<32xi32>
  // CHECK: %[[ROWS:.*]] = weft.iota [1, 2] dim(0)
  // CHECK: %[[TABLE:.*]] = weft.reshape %[[ROWS]] [2]
  // CHECK: %[[WHOSE:.*]] = weft.take %[[TABLE]], %[[ORDER]] dim(0)
  %whose = weft.take %2, %order dim(0) : (tensor<32xi32>, tensor<2x32xi32>) -> tensor<2x32xi32>
  %3 = weft.iota [2, 32] dim(1) : () -> tensor<2x32xi32>
  // CHECK: %[[PLACES:.*]] = weft.iota [2, 2] dim(1)
  // CHECK: %[[HOMES:.*]] = weft.scatter_add %[[PLACES]], %[[ORDER]] dim(1) size(2) batch(1)
  // CHECK: %[[HOME:.*]] = weft.reshape %[[HOMES]] [2, 1, 2]
  %4 = weft.scatter_add %3, %order dim(1) size(32) batch(1) : (tensor<2x32xi32>, tensor<2x32xi32>) -> tensor<2x32xi32>
  %places = weft.reshape %4 [2, 16, 2] : (tensor<2x32xi32>) -> tensor<2x16x2xi32>
  %one = weft.fill [2, 32] value(1) to i32 : () -> tensor<2x32xi32>
  // CHECK: %[[ONE:.*]] = weft.fill [2, 2] value(1) to i32
  // CHECK: %[[COUNTS:.*]] = weft.scatter_add %[[ONE]], %[[CHOICES]] dim(1) size(8) batch(1)
  %counts = weft.scatter_add %one, %choices dim(1) size(8) batch(1) : (tensor<2x32xi32>, tensor<2x32xi32>) -> tensor<2x8xi32>
  %5 = weft.take %x, %whose dim(1) batch(1) : (tensor<2x16x8xf32>, tensor<2x32xi32>) -> tensor<2x32x8xf32>
  // CHECK: %[[X:.*]] = weft.take %{{.*}}, %[[WHOSE]] dim(1) batch(1) : (tensor<2x1x8xf32>, tensor<2x2xi32>) -> tensor<2x2x8xf32>
  // CHECK: %[[PRODUCT:.*]] = weft.grouped_matmul %[[X]], %{{.*}}, %[[COUNTS]]
  // CHECK: %[[SILU:.*]] = weft.silu %[[PRODUCT]]
  %6 = weft.grouped_matmul %5, %w, %counts : (tensor<2x32x8xf32>, tensor<8x8x8xf32>, tensor<2x8xi32>) -> tensor<2x32x8xf32>
  %7 = weft.silu %6 : (tensor<2x32x8xf32>) -> tensor<2x32x8xf32>
  %8 = weft.take %7, %places dim(1) batch(1) : (tensor<2x32x8xf32>, tensor<2x16x2xi32>) -> tensor<2x16x2x8xf32>
  // CHECK: weft.take %[[SILU]], %[[HOME]] dim(1) batch(1) : (tensor<2x2x8xf32>, tensor<2x1x2xi32>) -> tensor<2x1x2x8xf32>
  %9 = weft.einsum "bskh,bsk->bsh" %8, %gates : (tensor<2x16x2x8xf32>, tensor<2x16x2xf32>) -> tensor<2x16x8xf32>
  weft.output "y" %9 : (tensor<2x16x8xf32>)
}

// -----

// The choices of all samples in one, and their sums put back.
#mesh = #weft.placement<"cpu", [], [0]>
// CHECK-LABEL: weft.graph @joined
weft.graph @joined("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %w = weft.parameter "w" [8, 8, 8] init(normal 0.02) : () -> tensor<8x8x8xf32>
  %flat = weft.reshape %tokens [32] : (tensor<2x16xi32>) -> tensor<32xi32>
  %x = weft.embedding %flat, %table : (tensor<32xi32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %gates, %ids = weft.top_k %x k(2) dim(1) : (tensor<32x8xf32>) -> (tensor<32x2xf32>, tensor<32x2xi32>)
  %choices = weft.reshape %ids [64] : (tensor<32x2xi32>) -> tensor<64xi32>
  %0, %order = weft.sort %choices dim(0) : (tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>)
  %1 = weft.iota [32, 2] dim(0) : () -> tensor<32x2xi32>
  %2 = weft.reshape %1 [64] : (tensor<32x2xi32>) -> tensor<64xi32>
  %whose = weft.take %2, %order dim(0) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
  %one = weft.fill [64] value(1) to i32 : () -> tensor<64xi32>
  %counts = weft.scatter_add %one, %choices dim(0) size(8) : (tensor<64xi32>, tensor<64xi32>) -> tensor<8xi32>
  %5 = weft.take %x, %whose dim(0) : (tensor<32x8xf32>, tensor<64xi32>) -> tensor<64x8xf32>
  %6 = weft.grouped_matmul %5, %w, %counts : (tensor<64x8xf32>, tensor<8x8x8xf32>, tensor<8xi32>) -> tensor<64x8xf32>
  %flat_gates = weft.reshape %gates [64] : (tensor<32x2xf32>) -> tensor<64xf32>
  %7 = weft.take %flat_gates, %order dim(0) : (tensor<64xf32>, tensor<64xi32>) -> tensor<64xf32>
  %8 = weft.einsum "nh,n->nh" %6, %7 : (tensor<64x8xf32>, tensor<64xf32>) -> tensor<64x8xf32>
  // CHECK: %[[SUMS:.*]] = weft.scatter_add %{{.*}}, %{{.*}} dim(0) size(2) : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<2x8xf32>
  // CHECK: weft.reshape %[[SUMS]] [2, 1, 8]
  %9 = weft.scatter_add %8, %whose dim(0) size(32) : (tensor<64x8xf32>, tensor<64xi32>) -> tensor<32x8xf32>
  %y = weft.reshape %9 [2, 16, 8] : (tensor<32x8xf32>) -> tensor<2x16x8xf32>
  weft.output "y" %y : (tensor<2x16x8xf32>)
}
