// MoCo v3 has what the authors' code has: an encoder that is trained, and one that follows it.
// RUN: weft-opt %S/../moco/moco.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2" | FileCheck %s

// CHECK: weft.graph @train("view_1" %{{.*}}: tensor<4x3x224x224xi8>, "view_2" %{{.*}}: tensor<4x3x224x224xi8>)
// CHECK: weft.parameter "momentum.steps" [] init(zeros) state
// CHECK: %[[PATCHES:.*]] = weft.parameter "base_encoder.embeddings.patch_embeddings.projection.weight" [768, 3, 16, 16]
// CHECK: weft.stop_gradient %[[PATCHES]]
// CHECK: weft.parameter "base_encoder.encoder.layer.11.attention.attention.query.weight" [12, 64, 768] stored [768, 768]
// CHECK: weft.parameter "base_encoder.layernorm.weight" [768]
// CHECK: weft.parameter "base_encoder.head.0.weight" [4096, 768] {{.*}} sbp(tensor = S(0))
// CHECK: weft.parameter "base_encoder.head.1.weight" [4096]
// CHECK: weft.batch_norm {{.*}} over [0] {{.*}} : (tensor<4x2x4096xf32>, tensor<4096xf32>, tensor<4096xf32>) -> (tensor<4x2x4096xf32>, tensor<2x4096xf32>, tensor<2x4096xf32>)
// CHECK: weft.parameter "base_encoder.head.1.running_mean" [4096] {{.*}} state
// CHECK: weft.parameter "base_encoder.head.6.weight" [256, 4096]
// CHECK: weft.parameter "predictor.3.weight" [256, 4096]
// CHECK: weft.parameter "predictor.4.running_var" [256]
// CHECK: weft.parameter "momentum_encoder.embeddings.cls_token" [1, 1, 768] {{.*}} state
// CHECK: weft.parameter "momentum_encoder.head.6.weight" [256, 4096] {{.*}} state
// Each of 4 x 2 queries sees the keys of the other view of all 4.
// CHECK: weft.einsum "ivd,jvd->ivj" {{.*}} : (tensor<4x2x256xf32>, tensor<4x2x256xf32>) -> tensor<4x2x4xf32>
// CHECK: weft.minimize
