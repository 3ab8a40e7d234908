// ViT has the parameters of Hugging Face's ViTForImageClassification, by name and stored shape.
// RUN: weft-opt %S/../vit/vit.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2,model.set=size=28,model.set=patch=4,model.set=channels=1,model.set=layers=2,model.set=heads=4,model.set=hidden=64,model.set=inner=128,model.set=classes=10" | FileCheck %s

// CHECK: weft.graph @train("images" %{{.*}}: tensor<4x1x28x28xi8>, "labels" %[[LABELS:.*]]: tensor<4xi32>)
// CHECK-DAG: weft.parameter "vit.embeddings.cls_token" [1, 1, 64]
// CHECK-DAG: weft.parameter "vit.embeddings.position_embeddings" [1, 50, 64]
// CHECK-DAG: weft.parameter "vit.embeddings.patch_embeddings.projection.weight" [64, 1, 4, 4]
// CHECK-DAG: weft.parameter "vit.encoder.layer.0.attention.attention.query.weight" [4, 16, 64] stored [64, 64] {{.*}} sbp(tensor = S(0))
// CHECK-DAG: weft.parameter "vit.encoder.layer.1.attention.output.dense.weight" [64, 4, 16] stored [64, 64] {{.*}} sbp(tensor = S(1))
// CHECK-DAG: weft.parameter "vit.encoder.layer.1.intermediate.dense.weight" [128, 64]
// CHECK-DAG: weft.parameter "vit.encoder.layer.1.output.dense.weight" [64, 128]
// CHECK-DAG: weft.parameter "vit.layernorm.weight" [64]
// CHECK-DAG: weft.parameter "classifier.weight" [10, 64]
// CHECK: weft.cross_entropy %{{.*}}, %[[LABELS]]
