// RUN: weft-opt %s --weft-autodiff --weft-autodiff-optimizer --weft-autodiff-decompose --cse --weft-shard-infer | FileCheck %s
// Data parallel training: rows stay split, gradients stay pending sums through the accumulation over micro-batches, and
// are summed once a step.
// CHECK-LABEL: weft.graph @data_parallel
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [128, 256] init(zeros) : () -> tensor<128x256xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[EINSUM:.*]] = weft.einsum "bi,io->bo" %arg0, %[[W]] : (tensor<1024x128xf32, #weft.sbp<S(0)>>, tensor<128x256xf32, #weft.sbp<B>>) -> tensor<1024x256xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce max %[[EINSUM]] over [1] : (tensor<1024x256xf32, #weft.sbp<S(0)>>) -> tensor<1024xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[SUM_EXP:.*]] = weft.sum_exp %[[EINSUM]], %[[REDUCE]] : (tensor<1024x256xf32, #weft.sbp<S(0)>>, tensor<1024xf32, #weft.sbp<S(0)>>) -> tensor<1024xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[PICK:.*]] = weft.pick %[[EINSUM]], %arg1 : (tensor<1024x256xf32, #weft.sbp<S(0)>>, tensor<1024xi32, #weft.sbp<S(0)>>) -> tensor<1024xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[LOSS:.*]], %[[COUNT:.*]] = weft.cross_entropy_loss %[[REDUCE]], %[[SUM_EXP]], %[[PICK]], %arg1 : (tensor<1024xf32, #weft.sbp<S(0)>>, tensor<1024xf32, #weft.sbp<S(0)>>, tensor<1024xf32, #weft.sbp<S(0)>>, tensor<1024xi32, #weft.sbp<S(0)>>) -> (tensor<f32, #weft.sbp<P>>, tensor<f32, #weft.sbp<P>>)
// CHECK-NEXT: %[[FILL:.*]] = weft.fill [] value(1.000000e+00) {loss_seed} : () -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: %[[CROSS_ENTROPY_GRAD:.*]] = weft.cross_entropy_grad %[[FILL]], %[[EINSUM]], %[[REDUCE]], %[[SUM_EXP]], %arg1 {phase = "backward"} : (tensor<f32, #weft.sbp<B>>, tensor<1024x256xf32, #weft.sbp<S(0)>>, tensor<1024xf32, #weft.sbp<S(0)>>, tensor<1024xf32, #weft.sbp<S(0)>>, tensor<1024xi32, #weft.sbp<S(0)>>) -> tensor<1024x256xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[EINSUM1:.*]] = weft.einsum "bi,bo->io" %arg0, %[[CROSS_ENTROPY_GRAD]] {phase = "backward"} : (tensor<1024x128xf32, #weft.sbp<S(0)>>, tensor<1024x256xf32, #weft.sbp<S(0)>>) -> tensor<128x256xf32, #weft.sbp<P>>
// CHECK-NEXT: %[[ACCUMULATE:.*]] = weft.accumulate %[[COUNT]] : (tensor<f32, #weft.sbp<P>>) -> tensor<f32, #weft.sbp<P>>
// CHECK-NEXT: %[[ACCUMULATE1:.*]] = weft.accumulate %[[LOSS]] : (tensor<f32, #weft.sbp<P>>) -> tensor<f32, #weft.sbp<P>>
// CHECK-NEXT: %[[BOX:.*]] = weft.box %[[ACCUMULATE1]] : (tensor<f32, #weft.sbp<P>>) -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[ACCUMULATE]] : (tensor<f32, #weft.sbp<P>>) -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: %[[DIV:.*]] = weft.div %[[BOX]], %[[BOX1]] : (tensor<f32, #weft.sbp<B>>, tensor<f32, #weft.sbp<B>>) -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "loss" metric %[[DIV]] : (tensor<f32, #weft.sbp<B>>)
// CHECK-NEXT: %[[ACCUMULATE2:.*]] = weft.accumulate %[[EINSUM1]] {phase = "backward"} : (tensor<128x256xf32, #weft.sbp<P>>) -> tensor<128x256xf32, #weft.sbp<P>>
// CHECK-NEXT: %[[BOX2:.*]] = weft.box %[[ACCUMULATE2]] {phase = "update", scope = "optimizer"} : (tensor<128x256xf32, #weft.sbp<P>>) -> tensor<128x256xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[SQUARE_SUM:.*]] = weft.square_sum %[[BOX2]] {phase = "update", scope = "optimizer"} : (tensor<128x256xf32, #weft.sbp<B>>) -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: %[[GRAD_SCALE:.*]], %[[GRAD_NORM:.*]] = weft.clip_scale %[[SQUARE_SUM]], %[[BOX1]] clip_norm(0.000000e+00) {phase = "update", scope = "optimizer"} : (tensor<f32, #weft.sbp<B>>, tensor<f32, #weft.sbp<B>>) -> (tensor<f32, #weft.sbp<B>>, tensor<f32, #weft.sbp<B>>)
// CHECK-NEXT: %[[LEARNING_RATE:.*]] = weft.learning_rate 1.000000e-02 constant {phase = "update", scope = "optimizer"} : () -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "grad_norm" metric %[[GRAD_NORM]] {phase = "update", scope = "optimizer"} : (tensor<f32, #weft.sbp<B>>)
// CHECK-NEXT: weft.output "lr" metric %[[LEARNING_RATE]] {phase = "update", scope = "optimizer"} : (tensor<f32, #weft.sbp<B>>)
// CHECK-NEXT: %[[SGD:.*]] = weft.sgd %[[W]], %[[BOX2]], %[[LEARNING_RATE]], %[[GRAD_SCALE]] weight_decay(0.000000e+00) {phase = "update", scope = "optimizer"} : (tensor<128x256xf32, #weft.sbp<B>>, tensor<128x256xf32, #weft.sbp<B>>, tensor<f32, #weft.sbp<B>>, tensor<f32, #weft.sbp<B>>) -> tensor<128x256xf32, #weft.sbp<B>>
// CHECK-NEXT: weft.assign %[[W]], %[[SGD]] {phase = "update", scope = "optimizer"} : (tensor<128x256xf32, #weft.sbp<B>>, tensor<128x256xf32, #weft.sbp<B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @data_parallel("x" %x: tensor<1024x128xf32>, "l" %l: tensor<1024xi32>) placements [#mesh] micro_batches 4 {
  %w = weft.parameter "w" [128, 256] init(zeros) : () -> tensor<128x256xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w : (tensor<1024x128xf32>, tensor<128x256xf32>) -> tensor<1024x256xf32>
  %loss, %count = weft.cross_entropy %0, %l : (tensor<1024x256xf32>, tensor<1024xi32>) -> (tensor<f32>, tensor<f32>)
  weft.minimize %loss per %count : (tensor<f32>, tensor<f32>)
}
