// RUN: weft-opt %s | weft-opt | FileCheck %s

// Before elaborate.
%table = weft.parameter "wte" [vocab, hidden] init(zeros)
%ids = weft.parameter "ids" [batch, seq] init(zeros)
// CHECK: weft.embedding %[[IDS:.*]], %[[TABLE:.*]]{{ *$}}
%0 = weft.embedding %ids, %table
// CHECK: weft.embedding_grad %[[IDS]], %{{.*}} vocab(256){{ *$}}
%1 = weft.embedding_grad %ids, %0 vocab(256)

// CHECK-LABEL: weft.graph @typed
weft.graph @typed("ids" %i: tensor<4x8xi32>, "table" %t: tensor<256x16xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK: weft.embedding %{{.*}}, %{{.*}} : (tensor<4x8xi32>, tensor<256x16xf32>) -> tensor<4x8x16xf32>
  %2 = weft.embedding %i, %t : (tensor<4x8xi32>, tensor<256x16xf32>) -> tensor<4x8x16xf32>
  // CHECK: weft.embedding_grad %{{.*}}, %{{.*}} vocab(256) : (tensor<4x8xi32>, tensor<4x8x16xf32>) -> tensor<256x16xf32>
  %3 = weft.embedding_grad %i, %2 vocab(256) : (tensor<4x8xi32>, tensor<4x8x16xf32>) -> tensor<256x16xf32>
}
