// RUN: weft-opt %S/../mlp/mlp.mlir --weft-elaborate="batch=8 tensor=2" | FileCheck %s
// CHECK: weft.graph @train("tokens" %{{.*}}: tensor<8x64xi32>, "labels" %{{.*}}: tensor<8x64xi32>)
// CHECK: weft.parameter "embedding.weight" [256, 64] {{.*}} sbp(tensor = S(0))
// CHECK: weft.parameter "up.weight" [64, 256] {{.*}} sbp(tensor = S(1))
// CHECK: weft.parameter "up.bias" [256]
// CHECK: weft.parameter "down.weight" [256, 256] {{.*}} sbp(tensor = S(0))
// CHECK: weft.parameter "down.bias" [256]
// CHECK: weft.minimize
