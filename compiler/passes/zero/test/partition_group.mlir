// RUN: weft-opt %s --weft-zero-partition=stage=2 -split-input-file | FileCheck %s
// RUN: not weft-opt %s --weft-zero-partition=stage=4 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: stage: expected 1, 2 or 3, got 4

// Where the data ranks form groups, only the inner axis splits; the reader's cast is made of the shard.
// CHECK-LABEL: weft.graph @hybrid
// CHECK: %[[W:.*]] = weft.parameter "w" [4, 4] init(zeros) sbp(data = B, shard = S(0), tensor = S(1))
// CHECK-NEXT: %[[CAST:.*]] = weft.cast %[[W]] to bf16
// CHECK-NEXT: %[[COPY:.*]] = weft.to_global %[[CAST]] sbp(data = B, shard = B, tensor = S(1))
// CHECK-NEXT: weft.einsum "bi,io->bo" %{{.*}}, %[[COPY]]
// CHECK: weft.accumulate %{{.*}} sbp(shard = S(0))
#hybrid = #weft.placement<"cpu", [data = 2, shard = 2, tensor = 2], [0, 1, 2, 3, 4, 5, 6, 7]>
weft.graph @hybrid("x" %x: tensor<4x4xbf16>) placements [#hybrid] {
  %w = weft.parameter "w" [4, 4] init(zeros) sbp(tensor = S(1)) : () -> tensor<4x4xf32>
  %0 = weft.cast %w to bf16 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  %1 = weft.einsum "bi,io->bo" %x, %0 to f32 : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  %2 = weft.accumulate %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %lr = weft.fill [] value(1.0) : () -> tensor<f32>
  %next = weft.sgd %w, %2, %lr, %lr weight_decay(0.0) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>) -> tensor<4x4xf32>
  weft.assign %w, %next : (tensor<4x4xf32>, tensor<4x4xf32>)
}

// -----

// A stage that another one's parameter is read on has a copy of its own, straight from the shards; the
// gradient is split there too.
// CHECK-LABEL: weft.graph @stages
// CHECK: %[[W:.*]] = weft.parameter "w" [4] init(zeros) sbp(data = S(0))
// CHECK-DAG: %[[FIRST:.*]] = weft.to_global %[[W]] sbp(data = B) :
// CHECK-DAG: %[[LAST:.*]] = weft.to_global %[[W]] sbp(data = B) {chunk = 1 : i64, stage = 1 : i64}
// CHECK: weft.add %{{.*}}, %[[FIRST]]
// CHECK: weft.mul %{{.*}}, %[[LAST]]
// CHECK: weft.accumulate %{{.*}} sbp(data = S(0)) {chunk = 1 : i64, stage = 1 : i64}
#one = #weft.placement<"cpu", [data = 2], [0, 1]>
#two = #weft.placement<"cpu", [data = 2], [2, 3]>
weft.graph @stages("x" %x: tensor<4xf32>) placements [#one, #two] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.add %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.mul %0, %w {chunk = 1 : i64, stage = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.accumulate %1 {chunk = 1 : i64, stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = weft.accumulate %0 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = weft.add %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %lr = weft.fill [] value(1.0) : () -> tensor<f32>
  %next = weft.sgd %w, %4, %lr, %lr weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  weft.assign %w, %next : (tensor<4xf32>, tensor<4xf32>)
}
