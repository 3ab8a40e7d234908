// RUN: weft-opt %s --weft-autodiff-optimizer="rule=adam lr=0.1 numbers=beta1=0.9,beta2=0.999,eps=1e-8,weight_decay=0.2" | FileCheck %s

// Two parameters: one norm over both gradients, one learning rate; the states stand beside their parameter with its
// pins and stored shape, start at zero and have no seed. What the checkpoint stores as a vector is not decayed.
// CHECK-LABEL: weft.graph @two
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [8, 3, 2] stored [8, 6] init(normal 2.000000e-02) sbp(tensor = S(2)) {seed = 7 : i64}
// CHECK-NEXT: %[[ADAM_V_W:.*]] = weft.parameter "adam_v.w" [8, 3, 2] stored [8, 6] init(zeros) sbp(tensor = S(2)) state
// CHECK-NEXT: %[[ADAM_M_W:.*]] = weft.parameter "adam_m.w" [8, 3, 2] stored [8, 6] init(zeros) sbp(tensor = S(2)) state
// CHECK-NEXT: %[[B:.*]] = weft.parameter "b" [3, 2] stored [6] init(ones)
// CHECK-NEXT: %[[ADAM_V_B:.*]] = weft.parameter "adam_v.b" [3, 2] stored [6] init(zeros) state
// CHECK-NEXT: %[[ADAM_M_B:.*]] = weft.parameter "adam_m.b" [3, 2] stored [6] init(zeros) state
// CHECK-NEXT: %[[SQUARE_SUM:.*]] = weft.square_sum %arg0 {phase = "update", scope = "optimizer"}
// CHECK-NEXT: %[[SQUARE_SUM1:.*]] = weft.square_sum %arg1 {phase = "update", scope = "optimizer"}
// CHECK-NEXT: %[[ADD_N:.*]] = weft.add_n %[[SQUARE_SUM]], %[[SQUARE_SUM1]]
// CHECK-NEXT: %[[GRAD_SCALE:.*]], %[[GRAD_NORM:.*]] = weft.clip_scale %[[ADD_N]], %arg2 clip_norm(0.000000e+00) {phase = "update", scope = "optimizer"}
// CHECK-NEXT: %[[LEARNING_RATE:.*]] = weft.learning_rate 1.000000e-01 constant {phase = "update", scope = "optimizer"}
// CHECK-NEXT: weft.output "grad_norm" metric %[[GRAD_NORM]] {phase = "update", scope = "optimizer"}
// CHECK-NEXT: weft.output "lr" metric %[[LEARNING_RATE]] {phase = "update", scope = "optimizer"}
// CHECK-NEXT: %[[NEXT:.*]], %[[NEXT_M:.*]], %[[NEXT_V:.*]] = weft.adam %[[W]], %arg0, %[[ADAM_M_W]], %[[ADAM_V_W]], %[[LEARNING_RATE]], %[[GRAD_SCALE]] beta1(9.000000e-01) beta2(0.99899999999999999) eps(1.000000e-08) weight_decay(2.000000e-01) {phase = "update", scope = "optimizer"}
// CHECK-NEXT: weft.assign %[[W]], %[[NEXT]] {phase = "update", scope = "optimizer"}
// CHECK-NEXT: weft.assign %[[ADAM_M_W]], %[[NEXT_M]] {phase = "update", scope = "optimizer"}
// CHECK-NEXT: weft.assign %[[ADAM_V_W]], %[[NEXT_V]] {phase = "update", scope = "optimizer"}
// CHECK-NEXT: %[[NEXT1:.*]], %[[NEXT_M1:.*]], %[[NEXT_V1:.*]] = weft.adam %[[B]], %arg1, %[[ADAM_M_B]], %[[ADAM_V_B]], %[[LEARNING_RATE]], %[[GRAD_SCALE]] beta1(9.000000e-01) beta2(0.99899999999999999) eps(1.000000e-08) weight_decay(2.000000e-01) {phase = "update", scope = "optimizer"}
// CHECK-NEXT: weft.assign %[[B]], %[[NEXT1]] {phase = "update", scope = "optimizer"}
// CHECK-NEXT: weft.assign %[[ADAM_M_B]], %[[NEXT_M1]] {phase = "update", scope = "optimizer"}
// CHECK-NEXT: weft.assign %[[ADAM_V_B]], %[[NEXT_V1]] {phase = "update", scope = "optimizer"}
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @two("g" %g: tensor<8x3x2xf32>, "h" %h: tensor<3x2xf32>, "c" %c: tensor<f32>) placements [#one] {
  %w = weft.parameter "w" [8, 3, 2] stored [8, 6] init(normal 0.02) sbp(tensor = S(2)) {seed = 7 : i64} : () -> tensor<8x3x2xf32>
  %b = weft.parameter "b" [3, 2] stored [6] init(ones) : () -> tensor<3x2xf32>
  weft.update %w with %g per %c : (tensor<8x3x2xf32>, tensor<8x3x2xf32>, tensor<f32>)
  weft.update %b with %h per %c : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<f32>)
}
