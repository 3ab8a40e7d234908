// RUN: not weft-opt %s --weft-elaborate-imports 2>&1 | FileCheck %s
// CHECK: imports_names_invalid.mlir:[[#@LINE+1]]:1: error: override: expected an imported layer @nobody, got none
model.layer override @nobody(%x) {
  model.return %x
}
model.import "files/leaf.mlir"

// RUN: echo 'model.import "%S/files/leaf.mlir" as "a b"' > %t.mlir
// RUN: not weft-opt %t.mlir --weft-elaborate-imports 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: as: expected letters, digits and _, got "a b"
