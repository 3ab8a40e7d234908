// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// Before elaborate.
%logits = weft.parameter "logits" [batch, seq, vocab] init(zeros)
%labels = weft.parameter "labels" [batch, seq] init(zeros)
// CHECK: weft.cross_entropy %[[LOGITS:[0-9]+]], %[[LABELS:[0-9]+]]{{ *$}}
// GENERIC: "weft.cross_entropy"(%{{.*}}, %{{.*}}) <{ignore_index = -100 : i64}>
%loss, %count = weft.cross_entropy %logits, %labels
// CHECK: weft.cross_entropy %[[LOGITS]], %[[LABELS]] ignore(-1){{ *$}}
%loss1, %count1 = weft.cross_entropy %logits, %labels ignore(-1)
%weights = weft.parameter "weights" [batch, seq] init(ones)
// CHECK: weft.cross_entropy %[[LOGITS]], %[[LABELS]] ignore(-1) weights(%[[WEIGHTS:[0-9]+]]) label_smoothing(1.000000e-01){{ *$}}
%loss2, %count2 = weft.cross_entropy %logits, %labels ignore(-1) weights(%weights) label_smoothing(0.1)
// CHECK: weft.cross_entropy %[[LOGITS]], %[[LABELS]] label_smoothing(smoothing){{ *$}}
%loss3, %count3 = weft.cross_entropy %logits, %labels label_smoothing(smoothing)

// CHECK-LABEL: weft.graph @typed
weft.graph @typed("logits" %x: tensor<4x8x32xf32>, "labels" %l: tensor<4x8xi32>, "dloss" %d: tensor<f32>)
    placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK: weft.cross_entropy %{{.*}}, %{{.*}} ignore(0) : (tensor<4x8x32xf32>, tensor<4x8xi32>) -> (tensor<f32>, tensor<f32>)
  %0, %1 = weft.cross_entropy %x, %l ignore(0) : (tensor<4x8x32xf32>, tensor<4x8xi32>) -> (tensor<f32>, tensor<f32>)
  %max = weft.reduce max %x over [2] : (tensor<4x8x32xf32>) -> tensor<4x8xf32>
  // CHECK: weft.sum_exp %{{.*}}, %{{.*}} : (tensor<4x8x32xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %sum = weft.sum_exp %x, %max : (tensor<4x8x32xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: weft.pick %{{.*}}, %{{.*}} ignore(0) : (tensor<4x8x32xf32>, tensor<4x8xi32>) -> tensor<4x8xf32>
  %picked = weft.pick %x, %l ignore(0) : (tensor<4x8x32xf32>, tensor<4x8xi32>) -> tensor<4x8xf32>
  // CHECK: weft.cross_entropy_loss %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} ignore(0) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<f32>, tensor<f32>)
  %2, %3 = weft.cross_entropy_loss %max, %sum, %picked, %l ignore(0) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<f32>, tensor<f32>)
  // CHECK: weft.cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} ignore(0) : (tensor<f32>, tensor<4x8x32xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>) -> tensor<4x8x32xf32>
  %4 = weft.cross_entropy_grad %d, %x, %max, %sum, %l ignore(0) : (tensor<f32>, tensor<4x8x32xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>) -> tensor<4x8x32xf32>
  // CHECK: weft.cross_entropy %{{.*}}, %{{.*}} weights(%{{.*}}) label_smoothing(1.000000e-01) : (tensor<4x8x32xf32>, tensor<4x8xi32>, tensor<4x8xf32>) -> (tensor<f32>, tensor<f32>)
  %5, %6 = weft.cross_entropy %x, %l weights(%max) label_smoothing(0.1) : (tensor<4x8x32xf32>, tensor<4x8xi32>, tensor<4x8xf32>) -> (tensor<f32>, tensor<f32>)
  // CHECK: weft.cross_entropy_loss %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} weights(%{{.*}}) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>) -> (tensor<f32>, tensor<f32>)
  %7, %8 = weft.cross_entropy_loss %max, %sum, %picked, %l weights(%max) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>) -> (tensor<f32>, tensor<f32>)
  // CHECK: weft.cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} weights(%{{.*}}) label_smoothing(1.000000e-01) : (tensor<f32>, tensor<4x8x32xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>) -> tensor<4x8x32xf32>
  %9 = weft.cross_entropy_grad %d, %x, %max, %sum, %l weights(%max) label_smoothing(0.1) : (tensor<f32>, tensor<4x8x32xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>) -> tensor<4x8x32xf32>
  // CHECK: weft.minimize
  weft.minimize %0 per %1 : (tensor<f32>, tensor<f32>)
}
