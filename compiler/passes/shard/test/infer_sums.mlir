// RUN: weft-opt %s --weft-autodiff --weft-autodiff-optimizer --weft-autodiff-decompose --cse --weft-shard-infer -split-input-file | FileCheck %s
// A tied table that is larger than the micro-batch's activations. Each rank works on its rows of the batch alone, and
// both parts of the table's gradient stay pending through the sum over the micro-batches: gathering the rows, or
// reducing before the sum, would save passes over the table, but ranks would wait for each other in every micro-batch.
// CHECK-LABEL: weft.graph @tied
// CHECK-NOT: weft.box
// CHECK: %[[PRODUCT:.*]] = weft.einsum "bsh,bsv->vh" {{.*}} -> tensor<4096x64xf32, #weft.sbp<P>>
// CHECK-NOT: weft.box
// CHECK: %[[LOOKUP:.*]] = weft.embedding_grad {{.*}} -> tensor<4096x64xf32, #weft.sbp<P>>
// CHECK-NOT: weft.box %[[PRODUCT]]
// CHECK-NOT: weft.box %[[LOOKUP]]
// CHECK: %[[TERM:.*]] = weft.add %[[PRODUCT]], %[[LOOKUP]] {{.*}} -> tensor<4096x64xf32, #weft.sbp<P>>
// CHECK: %[[SUM:.*]] = weft.accumulate %[[TERM]] {{.*}} -> tensor<4096x64xf32, #weft.sbp<P>>
// CHECK-COUNT-1: weft.box %[[SUM]]
// CHECK-NOT: weft.box %[[SUM]]
// CHECK: weft.assign
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @tied("ids" %ids: tensor<4x16xi32>, "l" %l: tensor<4x16xi32>) placements [#mesh] micro_batches 4 {
  %w = weft.parameter "wte" [4096, 64] init(zeros) : () -> tensor<4096x64xf32>
  %0 = weft.embedding %ids, %w : (tensor<4x16xi32>, tensor<4096x64xf32>) -> tensor<4x16x64xf32>
  %1 = weft.einsum "bsh,vh->bsv" %0, %w : (tensor<4x16x64xf32>, tensor<4096x64xf32>) -> tensor<4x16x4096xf32>
  %loss, %count = weft.cross_entropy %1, %l : (tensor<4x16x4096xf32>, tensor<4x16xi32>) -> (tensor<f32>, tensor<f32>)
  weft.minimize %loss per %count : (tensor<f32>, tensor<f32>)
}

// -----
// Of one micro-batch too, and the sum itself costs nothing then.
// CHECK-LABEL: weft.graph @once
// CHECK: %[[TERM:.*]] = weft.einsum "bi,bo->io" {{.*}} -> tensor<512x512xf32, #weft.sbp<P>>
// CHECK-NOT: weft.box %[[TERM]]
// CHECK: %[[SUM:.*]] = weft.accumulate %[[TERM]] {{.*}} -> tensor<512x512xf32, #weft.sbp<P>>
// CHECK: weft.box %[[SUM]]
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @once("x" %x: tensor<64x512xf32>, "l" %l: tensor<64xi32>) placements [#mesh] {
  %w = weft.parameter "w" [512, 512] init(zeros) : () -> tensor<512x512xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w : (tensor<64x512xf32>, tensor<512x512xf32>) -> tensor<64x512xf32>
  %loss, %count = weft.cross_entropy %0, %l : (tensor<64x512xf32>, tensor<64xi32>) -> (tensor<f32>, tensor<f32>)
  weft.minimize %loss per %count : (tensor<f32>, tensor<f32>)
}

// -----
// A pin of the sum is stronger: its terms are reduced as they are made, and rows still stay where they are.
// CHECK-LABEL: weft.graph @pinned
// CHECK: %[[TERM:.*]] = weft.einsum "bi,bo->io" {{.*}} -> tensor<512x512xf32, #weft.sbp<P>>
// CHECK: %[[BOX:.*]] = weft.box %[[TERM]] {{.*}} -> tensor<512x512xf32, #weft.sbp<S(0)>>
// CHECK: weft.accumulate %[[BOX]] {{.*}} -> tensor<512x512xf32, #weft.sbp<S(0)>>
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @pinned("x" %x: tensor<64x512xf32>, "d" %d: tensor<64x512xf32>) placements [#mesh] micro_batches 4 {
  %0 = weft.einsum "bi,bo->io" %x, %d : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<512x512xf32>
  %1 = weft.accumulate %0 sbp(data = S(0)) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  weft.output "g" %1 : (tensor<512x512xf32>)
}

// -----
// What depends on parameters alone moves once a step, however many micro-batches read it: it may cost more than what it
// saves in one of them.
// CHECK-LABEL: weft.graph @begin
// CHECK: %[[W:.*]] = weft.parameter "w"
// CHECK: %[[PART:.*]] = weft.box %[[W]] : (tensor<64x4096xf32, #weft.sbp<B>>) -> tensor<64x4096xf32, #weft.sbp<S(1)>>
// CHECK: weft.accumulate
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @begin("x" %x: tensor<4x64xf32>) placements [#mesh] micro_batches 64 {
  %w = weft.parameter "w" [64, 4096] init(zeros) : () -> tensor<64x4096xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w : (tensor<4x64xf32>, tensor<64x4096xf32>) -> tensor<4x4096xf32>
  %1 = weft.reduce sum %0 over [0, 1] : (tensor<4x4096xf32>) -> tensor<f32>
  %2 = weft.accumulate %1 : (tensor<f32>) -> tensor<f32>
  weft.output "y" metric %2 : (tensor<f32>)
}
