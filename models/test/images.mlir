// Layers of images that no model here uses in full.
// RUN: weft-opt %s --phase-elaborate=keys=batch.micro=2 | FileCheck %s
model.import "../images.mlir"

// CHECK: weft.parameter "conv.weight" [6, 3, 3, 3] init(normal
// CHECK: weft.parameter "conv.bias" [6]
// CHECK: weft.unfold {{.*}} size [3, 3] stride [2, 2] padding [1, 1] {{.*}} -> tensor<2x4x4x3x3x3xf32>
// CHECK: weft.einsum "bhwijc,oijc->bhwo" {{.*}} -> tensor<2x4x4x6xf32>
// CHECK: weft.max_pool {{.*}} size [2, 2] stride [2, 2] padding [0, 0] {{.*}} -> tensor<2x2x2x6xf32>
// CHECK: weft.unfold {{.*}} padding [1, 1] {{.*}} -> tensor<2x2x2x2x2x6xf32>
// CHECK: weft.reduce mean {{.*}} -> tensor<2x2x2x6xf32>
model.graph @g(%x [batch, 8, 8, 3] f32) {
  %0 = model.call @conv2d "conv" (%x) [3, 6, 3, 2, 1]
  %1 = model.call @max_pool2d (%0) [2, 2]
  %2 = model.call @avg_pool2d (%1) [2, 2, 1]
  weft.output "y" %2
}
