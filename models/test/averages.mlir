// Batch norms of vectors and of images have the names of nn.BatchNorm1d and nn.BatchNorm2d, in training and in an evaluation.
// RUN: weft-opt %s --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2" | FileCheck %s --check-prefixes=CHECK,TRAIN
// RUN: weft-opt %s --phase-elaborate="keys=model.graph=evaluate,batch.micro=4,dist.tensor=2" | FileCheck %s --check-prefixes=CHECK,EVALUATE
model.import "../averages.mlir"

// CHECK: %[[W:.*]] = weft.parameter "bn1.weight" [6] init(ones) sbp(tensor = S(0))
// CHECK: %[[B:.*]] = weft.parameter "bn1.bias" [6] init(zeros) sbp(tensor = S(0))
// TRAIN: weft.batch_norm %{{.*}}, %[[W]], %[[B]] over [0, 2, 3] eps(1.000000e-05) {{.*}} : (tensor<4x6x3x5xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6x3x5xf32>, tensor<6xf32>, tensor<6xf32>)
// CHECK: %[[M:.*]] = weft.parameter "bn1.running_mean" [6] init(zeros) sbp(tensor = S(0)) state
// CHECK: %[[V:.*]] = weft.parameter "bn1.running_var" [6] init(ones) sbp(tensor = S(0)) state
// EVALUATE: weft.batch_norm_apply %{{.*}}, %[[M]], %[[V]], %[[W]], %[[B]] over [0, 2, 3]
// 4 x 3 x 5 samples, of which a variance without bias is one of 59.
// TRAIN: weft.scale %{{.*}} by(1.01694{{.*}})
// TRAIN: weft.assign %[[V]],
// CHECK: weft.parameter "bn2.running_mean" [6] init(zeros) sbp(tensor = B) state
model.graph @train(%x [batch, 6, 3, 5] f32) {
  %0 = model.call @batch_norm_2d "bn1" (%x) [6, 3, 5, batch, 1.0e-5, 0.1, S(0)]
  %1 = weft.reduce mean %0 over [2, 3]
  %2 = model.call @batch_norm "bn2" (%1) [6]
  %3 = weft.square %2
  %4 = weft.reduce mean %3 over [0, 1]
  weft.minimize %4
}
model.graph @evaluate(%x [batch, 6, 3, 5] f32) {
  %0 = model.call @evaluated_batch_norm_2d "bn1" (%x) [6, 1.0e-5, S(0)]
  %1 = weft.reduce mean %0 over [2, 3]
  %2 = model.call @evaluated_batch_norm "bn2" (%1) [6]
  weft.output "y" %2
}
