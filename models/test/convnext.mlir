// ConvNeXt has the parameters of Hugging Face's ConvNextForImageClassification, by name and stored shape.
// RUN: weft-opt %S/../convnext/convnext.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2,model.set=size=28,model.set=patch=2,model.set=channels=1,model.set=hidden=16,model.set=classes=10,model.set=depth_2=2" | FileCheck %s

// CHECK: weft.graph @train("images" %{{.*}}: tensor<4x1x28x28xi8>, "labels" %{{.*}}: tensor<4xi32>)
// CHECK-DAG: weft.parameter "convnext.embeddings.patch_embeddings.weight" [16, 1, 2, 2]
// CHECK-DAG: weft.parameter "convnext.embeddings.layernorm.bias" [16]
// CHECK-DAG: weft.parameter "convnext.encoder.stages.0.layers.2.dwconv.weight" [16, 7, 7] stored [16, 1, 7, 7]
// CHECK-DAG: weft.parameter "convnext.encoder.stages.0.layers.0.layer_scale_parameter" [16] init(constant
// CHECK-DAG: weft.parameter "convnext.encoder.stages.1.downsampling_layer.0.weight" [16]
// CHECK-DAG: weft.parameter "convnext.encoder.stages.1.downsampling_layer.1.weight" [32, 16, 2, 2]
// CHECK-DAG: weft.parameter "convnext.encoder.stages.2.layers.1.pwconv1.weight" [256, 64] {{.*}} sbp(tensor = S(0))
// CHECK-DAG: weft.parameter "convnext.encoder.stages.3.layers.0.pwconv2.weight" [128, 512] {{.*}} sbp(tensor = S(1))
// CHECK-DAG: weft.parameter "convnext.encoder.stages.3.layers.0.layernorm.weight" [128]
// CHECK-DAG: weft.parameter "convnext.layernorm.weight" [128]
// CHECK-DAG: weft.parameter "classifier.weight" [10, 128]
// Seven places are halved to three.
// CHECK-DAG: weft.depthwise_conv {{.*}} padding [3, 3] {{.*}} : (tensor<4x14x14x16xf32>, tensor<7x7x16xf32>) -> tensor<4x14x14x16xf32>
// CHECK-DAG: weft.unfold {{.*}} stride [2, 2] {{.*}} : (tensor<4x7x7x32xf32>) -> tensor<4x3x3x2x2x32xf32>
