// Swin has the parameters of Hugging Face's SwinForImageClassification, by name and stored shape.
// RUN: weft-opt %S/../swin/swin.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2,model.set=size=64,model.set=patch=2,model.set=channels=1,model.set=hidden=16,model.set=heads=2,model.set=window=4,model.set=classes=10" | FileCheck %s

// CHECK: weft.graph @train("images" %{{.*}}: tensor<4x1x64x64xi8>, "labels" %{{.*}}: tensor<4xi32>)
// CHECK-DAG: weft.parameter "swin.embeddings.patch_embeddings.projection.weight" [16, 1, 2, 2]
// CHECK-DAG: weft.parameter "swin.embeddings.norm.weight" [16]
// CHECK-DAG: weft.parameter "swin.encoder.layers.0.blocks.0.layernorm_before.weight" [16]
// CHECK-DAG: weft.parameter "swin.encoder.layers.0.blocks.0.attention.self.relative_position_bias_table" [49, 2] {{.*}} sbp(tensor = S(1))
// CHECK-DAG: weft.parameter "swin.encoder.layers.0.blocks.1.attention.self.query.weight" [2, 8, 16] stored [16, 16]
// CHECK-DAG: weft.parameter "swin.encoder.layers.0.downsample.reduction.weight" [32, 64]
// CHECK-DAG: weft.parameter "swin.encoder.layers.0.downsample.norm.weight" [64]
// CHECK-DAG: weft.parameter "swin.encoder.layers.2.blocks.5.attention.output.dense.weight" [64, 8, 8] stored [64, 64]
// CHECK-DAG: weft.parameter "swin.encoder.layers.3.blocks.1.intermediate.dense.weight" [512, 128]
// CHECK-DAG: weft.parameter "swin.encoder.layers.3.blocks.1.output.dense.bias" [128]
// CHECK-DAG: weft.parameter "swin.layernorm.weight" [128]
// CHECK-DAG: weft.parameter "classifier.weight" [10, 128]
// A window of the last stage is all there is: nothing is shifted there.
// CHECK-DAG: weft.attention {{.*}} bias({{.*}}) mask({{.*}}){{.*}} : (tensor<256x16x2x8xf32>, {{.*}}tensor<1x2x16x16xf32>, tensor<256x1x16x16xi8>)
// CHECK-DAG: weft.attention {{.*}} bias({{.*}}) mask({{.*}}){{.*}} : (tensor<16x16x8x8xf32>, {{.*}}tensor<1x8x16x16xf32>, tensor<16x1x16x16xi8>)
// CHECK-DAG: weft.attention {{.*}} bias({{[^)]*}}) {scope{{.*}} : (tensor<4x16x16x8xf32>, {{.*}}tensor<1x16x16x16xf32>)
