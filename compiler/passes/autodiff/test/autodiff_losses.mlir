// RUN: weft-opt %s --weft-autodiff -split-input-file | FileCheck %s
// RUN: not weft-opt %s --weft-autodiff="batch=12 micro-batch=4" -split-input-file 2>&1 | FileCheck %s --check-prefix=SEVERAL

// In a step of one micro-batch the backward of a loss begins with the first count over its own.
// CHECK-LABEL: weft.graph @own_counts
// CHECK: %[[W:.*]] = weft.parameter "w"
// CHECK: %[[SEED:.*]] = weft.fill [] value(1.000000e+00) {loss_seed
// CHECK: %[[HALF:.*]] = weft.scale %[[SEED]] by(5.000000e-01)
// CHECK: %[[SEED1:.*]] = weft.fill [] value(1.000000e+00) {loss_seed
// CHECK: %[[RATIO:.*]] = weft.div %arg0, %arg1
// CHECK: %[[BEGIN:.*]] = weft.mul %[[SEED1]], %[[RATIO]]
// CHECK: %[[BACK:.*]] = weft.neg %[[BEGIN]] {phase = "backward"}
// CHECK: %[[N:.*]] = weft.accumulate %arg0
// CHECK: %[[FIRST:.*]] = weft.div %{{.*}}, %[[N]]
// CHECK: weft.output "first" metric %[[FIRST]]
// CHECK: %[[WEIGHTED:.*]] = weft.scale %[[FIRST]] by(5.000000e-01)
// CHECK: %[[M:.*]] = weft.accumulate %arg1
// CHECK: %[[SECOND:.*]] = weft.div %{{.*}}, %[[M]]
// CHECK: weft.output "second" metric %[[SECOND]]
// CHECK: %[[LOSS:.*]] = weft.add %[[WEIGHTED]], %[[SECOND]]
// CHECK: weft.output "loss" metric %[[LOSS]]
// CHECK: %[[GRADIENT:.*]] = weft.add %[[HALF]], %[[BACK]]
// CHECK: %[[SUM:.*]] = weft.accumulate %[[GRADIENT]]
// CHECK: weft.update %[[W]] with %[[SUM]] per %[[N]]
// SEVERAL: expected losses of one count, or rows(number) on each, as the step has several micro-batches; with batch.micro = batch.global it has one
#one = #weft.placement<"cpu", [], [0]>
weft.graph @own_counts("n" %n: tensor<f32>, "m" %m: tensor<f32>) placements [#one] {
  %w = weft.parameter "w" [] init(zeros) : () -> tensor<f32>
  %b = weft.neg %w : (tensor<f32>) -> tensor<f32>
  weft.minimize "first" %w per %n weight(0.5) : (tensor<f32>, tensor<f32>)
  weft.minimize "second" %b per %m : (tensor<f32>, tensor<f32>)
}

// -----

// Counts that are said make the ratio a number: 6 / 4 here, times the weight.
// CHECK-LABEL: weft.graph @known
// CHECK-NOT: weft.mul
// CHECK: weft.scale %{{.*}} by(3.000000e+00)
// CHECK: weft.output "second" metric
// SEVERAL: weft.graph @known
// SEVERAL: weft.scale %{{.*}} by(3.000000e+00)
#one = #weft.placement<"cpu", [], [0]>
weft.graph @known("n" %n: tensor<f32>) placements [#one] {
  %w = weft.parameter "w" [] init(zeros) : () -> tensor<f32>
  %b = weft.neg %w : (tensor<f32>) -> tensor<f32>
  weft.minimize "first" %w per %n rows(6) : (tensor<f32>, tensor<f32>)
  weft.minimize "second" %b rows(4) weight(2.0) : (tensor<f32>)
}

// -----

// One count for both: whatever it is, nothing has to be known of it.
// CHECK-LABEL: weft.graph @one_count
// CHECK-NOT: weft.div {{.*}}%arg0, %arg0
// CHECK: weft.output "loss" metric
// SEVERAL: weft.graph @one_count
#one = #weft.placement<"cpu", [], [0]>
weft.graph @one_count("n" %n: tensor<f32>) placements [#one] {
  %w = weft.parameter "w" [] init(zeros) : () -> tensor<f32>
  %b = weft.neg %w : (tensor<f32>) -> tensor<f32>
  weft.minimize "first" %w per %n : (tensor<f32>, tensor<f32>)
  weft.minimize "second" %b per %n : (tensor<f32>, tensor<f32>)
}
