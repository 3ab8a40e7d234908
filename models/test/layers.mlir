// Layers that no model here uses.
// RUN: weft-opt %s --phase-elaborate=keys=batch.micro=2 | FileCheck %s
model.import "../layers.mlir"

// CHECK: weft.parameter "norm.weight" [8] init(ones)
// CHECK: weft.rms_norm {{.*}} eps(9.9999999999999995E-7)
model.graph @g(%x [batch, 4, 8] f32) {
  %y = model.call @rms_norm "norm" (%x) [8]
  weft.output "y" %y
}
