// RUN: not weft-opt %s --weft-elaborate-imports 2>&1 | FileCheck %s
// CHECK: imports_missing.mlir:[[#@LINE+1]]:1: error: import "files/absent.mlir": expected a file, found none at {{.*}}test/files/absent.mlir
model.import "files/absent.mlir"
