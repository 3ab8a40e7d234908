// ResMLP has the parameters of timm's resmlp_12_224, by name and stored shape.
// RUN: weft-opt %S/../resmlp/resmlp.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2" | FileCheck %s

// CHECK: weft.graph @train("images" %{{.*}}: tensor<4x3x224x224xi8>, "labels" %[[LABELS:.*]]: tensor<4xi32>)
// CHECK-DAG: weft.parameter "stem.proj.weight" [384, 3, 16, 16]
// CHECK-DAG: weft.parameter "stem.proj.bias" [384]
// CHECK-DAG: weft.parameter "blocks.0.ls1" [384]
// CHECK-DAG: weft.parameter "blocks.0.norm1.alpha" [1, 1, 384]
// CHECK-DAG: weft.parameter "blocks.0.norm1.beta" [1, 1, 384]
// CHECK-DAG: weft.parameter "blocks.11.linear_tokens.weight" [196, 196]
// CHECK-DAG: weft.parameter "blocks.11.linear_tokens.bias" [196]
// CHECK-DAG: weft.parameter "blocks.11.norm2.alpha" [1, 1, 384]
// CHECK-DAG: weft.parameter "blocks.11.mlp_channels.fc1.weight" [1536, 384]
// CHECK-DAG: weft.parameter "blocks.11.mlp_channels.fc2.bias" [384]
// CHECK-DAG: weft.parameter "blocks.11.ls2" [384]
// CHECK-DAG: weft.parameter "norm.alpha" [1, 1, 384]
// CHECK-DAG: weft.parameter "head.weight" [1000, 384]
// CHECK: weft.cross_entropy %{{.*}}, %[[LABELS]]
