// RUN: not weft-opt %s --weft-elaborate-imports 2>&1 | FileCheck %s
// CHECK: files/leaf.mlir:2:1: error: expected one definition of @leaf, got another
// CHECK: imports_twice.mlir:[[#@LINE+1]]:1: note: the first one
model.layer @leaf(%x) {
  model.return %x
}
model.import "files/leaf.mlir"
