// VGG-11 has the parameters of torchvision's vgg11, by name and stored shape.
// RUN: weft-opt %S/../vgg/vgg.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2,model.set=size=64,model.set=channels=1,model.set=width=2,model.set=inner=32,model.set=classes=10" | FileCheck %s

// CHECK: weft.graph @train("images" %{{.*}}: tensor<4x1x64x64xi8>, "labels" %{{.*}}: tensor<4xi32>)
// CHECK-DAG: weft.parameter "features.0.weight" [2, 1, 3, 3] {{.*}} sbp(tensor = S(0))
// CHECK-DAG: weft.parameter "features.0.bias" [2]
// CHECK-DAG: weft.parameter "features.3.weight" [4, 2, 3, 3]
// CHECK-DAG: weft.parameter "features.18.weight" [16, 16, 3, 3]
// CHECK-DAG: weft.parameter "classifier.0.weight" [32, 64] {{.*}} sbp(tensor = S(0))
// CHECK-DAG: weft.parameter "classifier.3.weight" [32, 32] {{.*}} sbp(tensor = S(1))
// CHECK-DAG: weft.parameter "classifier.6.bias" [10]
// CHECK-DAG: weft.max_pool {{.*}} : (tensor<4x4x4x16xf32>) -> tensor<4x2x2x16xf32>
