// Imported files are part of the importing one; a file reached over two ways is taken in once.
// RUN: weft-opt %s --weft-elaborate-imports | FileCheck %s

// CHECK-NOT:   model.import
// CHECK:       model.config @leaf_size = 3
// CHECK-NEXT:  model.layer @leaf(%x)
// CHECK:       model.layer @middle(%x)
// CHECK-NOT:   model.layer
// CHECK:       model.graph @g
model.import "files/middle.mlir"
model.import "files/../files/leaf.mlir"

model.graph @g(%x [leaf_size] f32) {
  %y = model.call @middle (%x)
  weft.output "y" %y
}

// An error in an imported file points at its line, then at the import.
// RUN: echo 'model.import "%S/files/broken.mlir"' > %t.mlir
// RUN: not weft-opt %t.mlir --weft-elaborate-imports 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: files/broken.mlir:2:8: error: {{.*}}tanhh
// BROKEN: .mlir:1:1: error: import "{{.*}}broken.mlir": expected a model file, got one that does not parse
