// RUN: weft-opt %s --weft-autodiff --weft-autodiff-optimizer="rule=adamw numbers=beta1=0.9,beta2=0.999,eps=1e-8" --weft-autodiff-decompose --cse --weft-autodiff-decompose=updates --weft-shard-infer \
// RUN:   --weft-box-route --cse --weft-localize --weft-schedule-actors --weft-memory-in-place | FileCheck %s

// Training over two placements goes through all phases: activations and their gradients cross once a micro-batch, the
// square sum, the count, the learning rate and the scale once a step, each as soon as it is known, and each parameter is updated on its
// own placement.
// CHECK-LABEL: task.program @stage0
// CHECK: %[[W:[0-9]+]] = task.buffer "w" parameter
// CHECK: task.send 0 %{{.*}} micro : <tensor<8x4xf32, #weft.sbp<S(0)>>>
// CHECK: task.receive 1 %[[DY:[0-9]+]] micro {phase = "backward"} : <tensor<8x4xf32, #weft.sbp<S(0)>>>
// CHECK: task.kernel "einsum" ins(%{{.*}}, %[[DY]] :
// CHECK: task.kernel "learning_rate" outs(%[[LR:[0-9]+]] :
// CHECK: task.send 4 %[[LR]] step
// CHECK: task.receive 2 %[[SQUARES:[0-9]+]] step
// CHECK: task.kernel "add_n" ins(%{{.*}}, %[[SQUARES]] :
// CHECK: task.receive 3 %[[COUNT:[0-9]+]] step
// CHECK: task.kernel "clip_scale" ins(%{{.*}}, %[[COUNT]] : {{.*}} outs(%[[SCALE:[0-9]+]], %{{.*}} :
// CHECK: task.kernel "adam" ins(%[[W]], %{{.*}}, %{{.*}}, %{{.*}}, %[[LR]], %[[SCALE]], %{{[0-9]+}} : {{.*}} outs(%[[W]], {{.*}} step
// CHECK: task.send 5 %[[SCALE]] step
// CHECK-LABEL: task.program @stage1
// CHECK: %[[V:[0-9]+]] = task.buffer "v" parameter
// CHECK: task.receive 0 %[[X:[0-9]+]] micro
// CHECK: task.kernel "mul" ins(%[[X]], %[[V]] :
// CHECK: task.send 1 %{{.*}} micro {phase = "backward"}
// CHECK: task.send 3 %{{.*}} step
// CHECK: task.kernel "square_sum" {{.*}} outs(%[[SQUARES:[0-9]+]] : {{.*}} step
// CHECK: task.send 2 %[[SQUARES]] step
// CHECK: task.receive 4 %[[LR:[0-9]+]] step
// CHECK: task.receive 5 %[[SCALE:[0-9]+]] step
// CHECK: task.kernel "adam" ins(%[[V]], %{{.*}}, %{{.*}}, %{{.*}}, %[[LR]], %[[SCALE]], %{{[0-9]+}} : {{.*}} outs(%[[V]], {{.*}} step
#a = #weft.placement<"cpu", [data = 2], [0, 1]>
#b = #weft.placement<"cpu", [data = 2], [2, 3]>
weft.graph @stages("x" %x: tensor<8x4xf32>) placements [#a, #b] micro_batches 2 {
  %w = weft.parameter "w" [4, 4] init(zeros) : () -> tensor<4x4xf32>
  %v = weft.parameter "v" [4] init(zeros) {stage = 1 : i64} : () -> tensor<4xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = weft.to_global %0 sbp(data = S(0)) placement("cpu", [2, 3]) {stage = 1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = weft.mul %1, %v {stage = 1 : i64} : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %loss = weft.reduce sum %2 over [0, 1] {stage = 1 : i64} : (tensor<8x4xf32>) -> tensor<f32>
  weft.minimize %loss {stage = 1 : i64} : (tensor<f32>)
}
