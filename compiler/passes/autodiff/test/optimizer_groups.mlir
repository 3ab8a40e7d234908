// Of each number the last group that says it counts; vectors decay where a group says so.
// RUN: weft-opt %s --weft-autodiff-optimizer="rule=adamw lr=0.1 numbers=beta1=0.5,beta2=0.5,eps=1e-6,weight_decay=0.25 groups=lr_scale=0.5:.*,weight_decay=2:.*[.]b|none,weight_decay=0:h[.]w,lr_scale=1:h[.]w" | FileCheck %s
// RUN: weft-opt %s --weft-autodiff-optimizer="rule=muon lr=0.1 numbers=momentum=0.5,beta1=0.5,beta2=0.5,eps=1e-6,weight_decay=0.25 groups=adamw=1:e[.].*" | FileCheck %s --check-prefix=MUON
// RUN: weft-opt %s --weft-autodiff-optimizer="rule=adafactor lr=0.1 numbers=decay=0.5,eps1=1e-30,eps2=1e-3,clip=1" | FileCheck %s --check-prefix=ADAFACTOR
// RUN: not weft-opt %s --weft-autodiff-optimizer="rule=sgd groups=weight_decay=1:b" 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: optimizer.groups: expected a regular expression that fits a trained parameter, got b, which fits none; the first of 3 is h.w

// CHECK: %[[LR:.*]] = weft.learning_rate
// CHECK: weft.adam {{.*}}, %[[LR]], %{{.*}} weight_decay(0.000000e+00) decoupled
// CHECK: %[[HALF:.*]] = weft.scale %[[LR]] by(5.000000e-01)
// CHECK-SAME: scope = "optimizer"
// CHECK: weft.adam {{.*}}, %[[HALF]], %{{.*}} weight_decay(2.000000e+00) decoupled
// CHECK-NOT: weft.scale
// CHECK: weft.adam {{.*}}, %[[HALF]], %{{.*}} weight_decay(2.500000e-01) decoupled

// A matrix of files, by its rows; vectors, and what a group says, by AdamW.
// MUON: weft.muon {{.*}} momentum(5.000000e-01) weight_decay(2.500000e-01) batch(0) rows(2)
// MUON: weft.adam {{.*}} weight_decay(0.000000e+00) decoupled
// MUON: weft.adam {{.*}} weight_decay(2.500000e-01) decoupled

// What is kept of rows and columns is whole where the parameter is split along others; files know no matrix of it.
// ADAFACTOR: weft.parameter "adafactor_c.h.w" [1, 1, 6] init(zeros) sbp(data = B) state
// ADAFACTOR: weft.parameter "adafactor_r.h.w" [4, 2, 1] init(zeros) sbp(data = B, tensor = S(1)) state
// ADAFACTOR: weft.parameter "adafactor_v.h.b" [6] init(zeros) state
// ADAFACTOR: weft.adafactor {{.*}} batch(0) rows(2)
// ADAFACTOR: weft.adafactor_vector {{.*}} batch(0)
// ADAFACTOR: weft.adafactor {{.*}} batch(1) rows(1)
#one = #weft.placement<"cpu", [], [0]>
weft.graph @train("g" %g: tensor<4x2x6xf32>, "h" %h: tensor<6xf32>, "e" %e: tensor<2x4x3xf32>, "c" %c: tensor<f32>) placements [#one] {
  %w = weft.parameter "h.w" [4, 2, 6] stored [8, 6] init(ones) sbp(tensor = S(1), data = B) : () -> tensor<4x2x6xf32>
  %b = weft.parameter "h.b" [6] init(ones) : () -> tensor<6xf32>
  %x = weft.parameter "e.*.w" [2, 4, 3] init(ones) : () -> tensor<2x4x3xf32>
  weft.update %w with %g per %c : (tensor<4x2x6xf32>, tensor<4x2x6xf32>, tensor<f32>)
  weft.update %b with %h per %c : (tensor<6xf32>, tensor<6xf32>, tensor<f32>)
  weft.update %x with %e per %c : (tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<f32>)
}
