// RUN: weft-opt %s --weft-autodiff --weft-autodiff-optimizer --weft-autodiff-decompose --cse --weft-shard-infer | FileCheck %s
// A vocabulary split over `tensor`: looking up, multiplying by and learning the table never gathers it, and the loss
// never gathers the logits.
// CHECK-LABEL: weft.graph @vocabulary
// CHECK-NEXT: %[[WTE:.*]] = weft.parameter "wte" [1024, 128] init(zeros) sbp(tensor = S(0)) : () -> tensor<1024x128xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[EMBEDDING:.*]] = weft.embedding %arg0, %[[WTE]] : (tensor<8x64xi32, #weft.sbp<B>>, tensor<1024x128xf32, #weft.sbp<S(0)>>) -> tensor<8x64x128xf32, #weft.sbp<P>>
// CHECK-NEXT: %[[BOX:.*]] = weft.box %[[EMBEDDING]] : (tensor<8x64x128xf32, #weft.sbp<P>>) -> tensor<8x64x128xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[EINSUM:.*]] = weft.einsum "bsh,vh->bsv" %[[BOX]], %[[WTE]] : (tensor<8x64x128xf32, #weft.sbp<B>>, tensor<1024x128xf32, #weft.sbp<S(0)>>) -> tensor<8x64x1024xf32, #weft.sbp<S(2)>>
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce max %[[EINSUM]] over [2] : (tensor<8x64x1024xf32, #weft.sbp<S(2)>>) -> tensor<8x64xf32, #weft.sbp<P(max)>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[REDUCE]] : (tensor<8x64xf32, #weft.sbp<P(max)>>) -> tensor<8x64xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[SUM_EXP:.*]] = weft.sum_exp %[[EINSUM]], %[[BOX1]] : (tensor<8x64x1024xf32, #weft.sbp<S(2)>>, tensor<8x64xf32, #weft.sbp<B>>) -> tensor<8x64xf32, #weft.sbp<P>>
// CHECK-NEXT: %[[PICK:.*]] = weft.pick %[[EINSUM]], %arg1 : (tensor<8x64x1024xf32, #weft.sbp<S(2)>>, tensor<8x64xi32, #weft.sbp<B>>) -> tensor<8x64xf32, #weft.sbp<P>>
// CHECK-NEXT: %[[BOX2:.*]] = weft.box %[[SUM_EXP]] : (tensor<8x64xf32, #weft.sbp<P>>) -> tensor<8x64xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[BOX3:.*]] = weft.box %[[PICK]] : (tensor<8x64xf32, #weft.sbp<P>>) -> tensor<8x64xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[LOSS:.*]], %[[COUNT:.*]] = weft.cross_entropy_loss %[[BOX1]], %[[BOX2]], %[[BOX3]], %arg1 : (tensor<8x64xf32, #weft.sbp<B>>, tensor<8x64xf32, #weft.sbp<B>>, tensor<8x64xf32, #weft.sbp<B>>, tensor<8x64xi32, #weft.sbp<B>>) -> (tensor<f32, #weft.sbp<B>>, tensor<f32, #weft.sbp<B>>)
// CHECK-NEXT: %[[FILL:.*]] = weft.fill [] value(1.000000e+00) {loss_seed} : () -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: %[[CROSS_ENTROPY_GRAD:.*]] = weft.cross_entropy_grad %[[FILL]], %[[EINSUM]], %[[BOX1]], %[[BOX2]], %arg1 {phase = "backward"} : (tensor<f32, #weft.sbp<B>>, tensor<8x64x1024xf32, #weft.sbp<S(2)>>, tensor<8x64xf32, #weft.sbp<B>>, tensor<8x64xf32, #weft.sbp<B>>, tensor<8x64xi32, #weft.sbp<B>>) -> tensor<8x64x1024xf32, #weft.sbp<S(2)>>
// CHECK-NEXT: %[[EINSUM1:.*]] = weft.einsum "bsv,vh->bsh" %[[CROSS_ENTROPY_GRAD]], %[[WTE]] {phase = "backward"} : (tensor<8x64x1024xf32, #weft.sbp<S(2)>>, tensor<1024x128xf32, #weft.sbp<S(0)>>) -> tensor<8x64x128xf32, #weft.sbp<P>>
// CHECK-NEXT: %[[EINSUM2:.*]] = weft.einsum "bsh,bsv->vh" %[[BOX]], %[[CROSS_ENTROPY_GRAD]] {phase = "backward"} : (tensor<8x64x128xf32, #weft.sbp<B>>, tensor<8x64x1024xf32, #weft.sbp<S(2)>>) -> tensor<1024x128xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[BOX4:.*]] = weft.box %[[EINSUM1]] {phase = "backward"} : (tensor<8x64x128xf32, #weft.sbp<P>>) -> tensor<8x64x128xf32, #weft.sbp<S(2)>>
// CHECK-NEXT: %[[EMBEDDING_GRAD:.*]] = weft.embedding_grad %arg0, %[[BOX4]] vocab(1024) {phase = "backward"} : (tensor<8x64xi32, #weft.sbp<B>>, tensor<8x64x128xf32, #weft.sbp<S(2)>>) -> tensor<1024x128xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: %[[ACCUMULATE:.*]] = weft.accumulate %[[COUNT]] : (tensor<f32, #weft.sbp<B>>) -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: %[[ACCUMULATE1:.*]] = weft.accumulate %[[LOSS]] : (tensor<f32, #weft.sbp<B>>) -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: %[[DIV:.*]] = weft.div %[[ACCUMULATE1]], %[[ACCUMULATE]] : (tensor<f32, #weft.sbp<B>>, tensor<f32, #weft.sbp<B>>) -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "loss" metric %[[DIV]] : (tensor<f32, #weft.sbp<B>>)
// CHECK-NEXT: %[[BOX5:.*]] = weft.box %[[EMBEDDING_GRAD]] {phase = "backward"} : (tensor<1024x128xf32, #weft.sbp<S(1)>>) -> tensor<1024x128xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[EINSUM2]], %[[BOX5]] {phase = "backward"} : (tensor<1024x128xf32, #weft.sbp<S(0)>>, tensor<1024x128xf32, #weft.sbp<S(0)>>) -> tensor<1024x128xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[ACCUMULATE2:.*]] = weft.accumulate %[[ADD]] {phase = "backward"} : (tensor<1024x128xf32, #weft.sbp<S(0)>>) -> tensor<1024x128xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[SQUARE_SUM:.*]] = weft.square_sum %[[ACCUMULATE2]] {phase = "update", scope = "optimizer"} : (tensor<1024x128xf32, #weft.sbp<S(0)>>) -> tensor<f32, #weft.sbp<P>>
// CHECK-NEXT: %[[BOX6:.*]] = weft.box %[[SQUARE_SUM]] {phase = "update", scope = "optimizer"} : (tensor<f32, #weft.sbp<P>>) -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: %[[GRAD_SCALE:.*]], %[[GRAD_NORM:.*]] = weft.clip_scale %[[BOX6]], %[[ACCUMULATE]] clip_norm(0.000000e+00) {phase = "update", scope = "optimizer"} : (tensor<f32, #weft.sbp<B>>, tensor<f32, #weft.sbp<B>>) -> (tensor<f32, #weft.sbp<B>>, tensor<f32, #weft.sbp<B>>)
// CHECK-NEXT: %[[LEARNING_RATE:.*]] = weft.learning_rate 1.000000e-02 constant {phase = "update", scope = "optimizer"} : () -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "grad_norm" metric %[[GRAD_NORM]] {phase = "update", scope = "optimizer"} : (tensor<f32, #weft.sbp<B>>)
// CHECK-NEXT: weft.output "lr" metric %[[LEARNING_RATE]] {phase = "update", scope = "optimizer"} : (tensor<f32, #weft.sbp<B>>)
// CHECK-NEXT: %[[SGD:.*]] = weft.sgd %[[WTE]], %[[ACCUMULATE2]], %[[LEARNING_RATE]], %[[GRAD_SCALE]] weight_decay(0.000000e+00) {phase = "update", scope = "optimizer"} : (tensor<1024x128xf32, #weft.sbp<S(0)>>, tensor<1024x128xf32, #weft.sbp<S(0)>>, tensor<f32, #weft.sbp<B>>, tensor<f32, #weft.sbp<B>>) -> tensor<1024x128xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: weft.assign %[[WTE]], %[[SGD]] {phase = "update", scope = "optimizer"} : (tensor<1024x128xf32, #weft.sbp<S(0)>>, tensor<1024x128xf32, #weft.sbp<S(0)>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @vocabulary("ids" %ids: tensor<8x64xi32>, "l" %l: tensor<8x64xi32>) placements [#mesh] {
  %w = weft.parameter "wte" [1024, 128] init(zeros) sbp(tensor = S(0)) : () -> tensor<1024x128xf32>
  %0 = weft.embedding %ids, %w : (tensor<8x64xi32>, tensor<1024x128xf32>) -> tensor<8x64x128xf32>
  %1 = weft.einsum "bsh,vh->bsv" %0, %w : (tensor<8x64x128xf32>, tensor<1024x128xf32>) -> tensor<8x64x1024xf32>
  %loss, %count = weft.cross_entropy %1, %l : (tensor<8x64x1024xf32>, tensor<8x64xi32>) -> (tensor<f32>, tensor<f32>)
  weft.minimize %loss per %count : (tensor<f32>, tensor<f32>)
}
