// Layers of convolutions, of which no model here uses all.
// RUN: weft-opt %s --phase-elaborate=keys=batch.micro=2,model.graph=plane | FileCheck %s --check-prefix=PLANE
// RUN: weft-opt %s --phase-elaborate=keys=batch.micro=2,model.graph=line | FileCheck %s --check-prefix=LINE
model.import "../convolutions.mlir"

// PLANE: weft.parameter "conv.weight" [6, 3, 3, 3] init(normal
// PLANE: weft.parameter "conv.bias" [6]
// PLANE: weft.unfold {{.*}} size [3, 3] stride [2, 2] padding [1, 1] {{.*}} -> tensor<2x4x4x3x3x3xf32>
// PLANE: weft.einsum "bhwijc,oijc->bhwo" {{.*}} -> tensor<2x4x4x6xf32>
// PLANE: weft.max_pool {{.*}} size [2, 2] stride [2, 2] padding [0, 0] {{.*}} -> tensor<2x2x2x6xf32>
// PLANE: weft.unfold {{.*}} padding [1, 1] {{.*}} -> tensor<2x2x2x2x2x6xf32>
// PLANE: weft.reduce mean {{.*}} -> tensor<2x2x2x6xf32>
// PLANE: weft.parameter "depthwise.weight" [6, 3, 3] stored [6, 1, 3, 3]
// PLANE: weft.depthwise_conv {{.*}} stride [1, 1] padding [1, 1] {{.*}} -> tensor<2x2x2x6xf32>
model.graph @plane(%x [batch, 8, 8, 3] f32) {
  %0 = model.call @conv2d "conv" (%x) [3, 6, 3, 2, 1]
  %1 = model.call @max_pool2d (%0) [2, 2]
  %2 = model.call @avg_pool2d (%1) [2, 2, 1]
  %3 = model.call @depthwise_conv2d "depthwise" (%2) [6, 3, 1, 1]
  weft.output "y" %3
}

// LINE: weft.parameter "conv.weight" [6, 3, 5] init(normal
// LINE: weft.unfold {{.*}} size [5] stride [2] padding [2] {{.*}} -> tensor<2x8x5x3xf32>
// LINE: weft.einsum "bsic,oic->bso" {{.*}} -> tensor<2x8x6xf32>
// LINE: weft.max_pool {{.*}} -> tensor<2x4x6xf32>
// LINE: weft.reduce mean {{.*}} -> tensor<2x2x6xf32>
model.graph @line(%x [batch, 16, 3] f32) {
  %0 = model.call @conv1d "conv" (%x) [3, 6, 5, 2, 2]
  %1 = model.call @max_pool1d (%0) [2, 2]
  %2 = model.call @avg_pool1d (%1) [2, 2]
  weft.output "y" %2
}
