// A function of 16 tokens that goes on by 4.
// RUN: weft-opt %s --weft-elaborate-generate=chunk=4 -split-input-file | FileCheck %s

// CHECK-LABEL: weft.graph @next
// CHECK-SAME: "tokens" %[[TOKENS:.*]]: tensor<2x4xi32>, "positions" %[[AT:.*]]: tensor<2x4xi32>
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @next("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %0 = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  // The table of positions is longer than a sequence; rows come of it at their positions.
  // CHECK: %[[WPE:.*]] = weft.parameter "wpe"
  %wpe = weft.parameter "wpe" [20, 8] init(normal 0.02) : () -> tensor<20x8xf32>
  %1 = weft.slice %wpe dim(0) from(0) size(16) : (tensor<20x8xf32>) -> tensor<16x8xf32>
  // CHECK: %[[ROWS:.*]] = weft.take %[[WPE]], %[[AT]] dim(0) : (tensor<20x8xf32>, tensor<2x4xi32>) -> tensor<2x4x8xf32>
  // CHECK: %[[X:.*]] = weft.add %{{.*}}, %[[ROWS]]
  %2 = weft.add %0, %1 : (tensor<2x16x8xf32>, tensor<16x8xf32>) -> tensor<2x16x8xf32>
  // CHECK: %[[HEADS:.*]] = weft.reshape %[[X]] [2, 4, 2, 4]
  %x = weft.reshape %2 [2, 16, 2, 4] : (tensor<2x16x8xf32>) -> tensor<2x16x2x4xf32>
  // What the caches are made of is needed of all rows, the rest of the last one.
  // CHECK: %[[LAST:.*]] = weft.slice %[[HEADS]] dim(1) from(3) size(1)
  // CHECK: %[[TURNED:.*]] = weft.rope %[[HEADS]] at(%[[AT]])
  %k = weft.rope %x theta(10000.0) : (tensor<2x16x2x4xf32>) -> tensor<2x16x2x4xf32>
  // CHECK: %[[KEYS:.*]] = weft.parameter "h.0.cache.keys" [2, 16, 2, 4] init(zeros) sbp(data = S(0), expert = S(0), tensor = S(2)) pinned state {cache, scope = "h.0"}
  // CHECK: %[[ALL:.*]] = weft.scatter_set %[[KEYS]], %[[AT]], %[[TURNED]] dim(1) batch(1)
  // CHECK: weft.assign %[[KEYS]], %[[ALL]]
  // CHECK: %[[VALUES:.*]] = weft.scatter_set %{{.*}}, %[[AT]], %[[HEADS]] dim(1) batch(1)
  // CHECK: %[[PLACES:.*]] = weft.iota [1, 1, 1, 16] dim(3)
  // CHECK: %[[BEFORE:.*]] = weft.greater_equal %[[ROW:.*]], %[[PLACES]] {{.*}} -> tensor<2x1x1x16xi8>
  // CHECK: weft.fill [1, 1, 1, 1] value(5) to i32
  // CHECK: %[[ENDS:.*]] = weft.add %[[PLACES]], %{{.*}}
  // CHECK: %[[NEAR:.*]] = weft.less %[[ROW]], %[[ENDS]] {{.*}} -> tensor<2x1x1x16xi8>
  // CHECK: %[[SEEN:.*]] = weft.logical_and %[[BEFORE]], %[[NEAR]]
  // CHECK: %[[OUT:.*]] = weft.attention %[[LAST]], %[[ALL]], %[[VALUES]] mask(%[[SEEN]]) {scope = "h.0"}
  // CHECK-SAME: -> tensor<2x1x2x4xf32>
  %3 = weft.attention %x, %k, %x causal window(5) {scope = "h.0"} : (tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>) -> tensor<2x16x2x4xf32>
  // CHECK: %[[WHOLE:.*]] = weft.to_global %[[OUT]] sbp(data = S(0), expert = S(0))
  // CHECK: weft.output "logits" %[[WHOLE]]
  weft.output "logits" %3 : (tensor<2x16x2x4xf32>)
}

// -----

// A bias of distances and a mask, both of positions: made for those at hand.
// CHECK-LABEL: weft.graph @far
// CHECK-SAME: "tokens" %[[TOKENS:.*]]: tensor<2x4xi32>, "positions" %[[AT:.*]]: tensor<2x4xi32>
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @far("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %0 = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %x = weft.reshape %0 [2, 16, 2, 4] : (tensor<2x16x8xf32>) -> tensor<2x16x2x4xf32>
  %row = weft.iota [1, 1, 16, 1] dim(2) : () -> tensor<1x1x16x1xi32>
  %key = weft.iota [1, 1, 1, 16] dim(3) : () -> tensor<1x1x1x16xi32>
  %far = weft.sub %row, %key : (tensor<1x1x16x1xi32>, tensor<1x1x1x16xi32>) -> tensor<1x1x16x16xi32>
  %buckets = weft.reshape %far [16, 16] : (tensor<1x1x16x16xi32>) -> tensor<16x16xi32>
  %distances = weft.parameter "distances" [16, 2] init(normal 0.02) : () -> tensor<16x2xf32>
  %rows = weft.take %distances, %buckets dim(0) : (tensor<16x2xf32>, tensor<16x16xi32>) -> tensor<16x16x2xf32>
  %turned = weft.transpose %rows [2, 0, 1] : (tensor<16x16x2xf32>) -> tensor<2x16x16xf32>
  %bias = weft.reshape %turned [1, 2, 16, 16] : (tensor<2x16x16xf32>) -> tensor<1x2x16x16xf32>
  %most = weft.fill [1, 1, 1, 1] value(3) to i32 : () -> tensor<1x1x1x1xi32>
  %mask = weft.less %far, %most : (tensor<1x1x16x16xi32>, tensor<1x1x1x1xi32>) -> tensor<1x1x16x16xi8>
  // Of the eight rows at hand, each with all keys; then by sample, and the last one.
  // CHECK: %[[HERE:.*]] = weft.reshape %[[AT]] [1, 1, 8, 1]
  // CHECK: %[[FAR:.*]] = weft.sub %[[HERE]], %{{.*}} : (tensor<1x1x8x1xi32>, tensor<1x1x1x16xi32>)
  // CHECK: %[[BUCKETS:.*]] = weft.reshape %[[FAR]] [8, 16]
  // CHECK: weft.take %{{.*}}, %[[BUCKETS]] dim(0) : (tensor<16x2xf32>, tensor<8x16xi32>)
  // CHECK: %[[BIAS:.*]] = weft.transpose %{{.*}} [1, 0, 2, 3] : (tensor<2x2x4x16xf32>)
  // CHECK: %[[LAST_BIAS:.*]] = weft.slice %[[BIAS]] dim(2) from(3) size(1)
  // CHECK: weft.less %{{.*}} : (tensor<1x1x8x16xi32>, tensor<1x1x1x1xi32>)
  // CHECK: %[[MASK:.*]] = weft.reshape %{{.*}} [2, 1, 4, 16]
  // CHECK: %[[LAST_MASK:.*]] = weft.slice %[[MASK]] dim(2) from(3) size(1)
  // CHECK: %[[BEFORE:.*]] = weft.greater_equal
  // CHECK: %[[SEEN:.*]] = weft.logical_and %{{.*}}, %[[LAST_MASK]]
  // CHECK: weft.attention %{{.*}} bias(%[[LAST_BIAS]]) mask(%[[SEEN]]) :
  %1 = weft.attention %x, %x, %x bias(%bias) mask(%mask) causal : (tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<1x2x16x16xf32>, tensor<1x1x16x16xi8>) -> tensor<2x16x2x4xf32>
  weft.output "logits" %1 : (tensor<2x16x2x4xf32>)
}
