// Samples that the data ranks do not divide, and a last micro-batch that has fewer.
// RUN: weft-opt %s --weft-pad -split-input-file | FileCheck %s --check-prefixes=CHECK,EVEN
// RUN: weft-opt %s --weft-pad=samples=5 -split-input-file | FileCheck %s --check-prefixes=CHECK,SHORT

// Inputs are zeros behind their samples; labels there are made ones that do not count.
// CHECK-LABEL: weft.graph @batch
// CHECK-SAME: "labels" %[[LABELS:.*]]: tensor<4xi32>
// CHECK-SAME: micro_batches 2 attributes {unpadded = [array<i64: 3, 5>, array<i64: 3>]}
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @batch("x" %x: tensor<3x5xf32>, "labels" %labels: tensor<3xi32>) placements [#mesh] micro_batches 2 {
  // CHECK: weft.reduce max
  %max = weft.reduce max %x over [1] : (tensor<3x5xf32>) -> tensor<3xf32>
  %sum = weft.sum_exp %x, %max : (tensor<3x5xf32>, tensor<3xf32>) -> tensor<3xf32>
  %picked = weft.pick %x, %labels : (tensor<3x5xf32>, tensor<3xi32>) -> tensor<3xf32>
  // EVEN: %[[SET:.*]] = weft.set_padding %[[LABELS]] [3] value(-100) {unpadded = [array<i64: 3>]}
  // SHORT: %[[SET:.*]] = weft.set_padding %[[LABELS]] [3] value(-100) batch(5) along(0) {unpadded = [array<i64: 3>]}
  // CHECK-NEXT: weft.cross_entropy_loss %{{.*}}, %{{.*}}, %{{.*}}, %[[SET]]
  %loss, %count = weft.cross_entropy_loss %max, %sum, %picked, %labels : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>) -> (tensor<f32>, tensor<f32>)
  %0 = weft.accumulate %loss : (tensor<f32>) -> tensor<f32>
  weft.output "loss" %0 : (tensor<f32>)
}
