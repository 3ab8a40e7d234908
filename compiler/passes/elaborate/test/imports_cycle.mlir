// RUN: not weft-opt %s --weft-elaborate-imports 2>&1 | FileCheck %s
// CHECK: files/cycle_b.mlir:1:1: error: import "../files/cycle_a.mlir": expected no cycle, got cycle_a.mlir imports cycle_b.mlir imports cycle_a.mlir
model.import "files/cycle_a.mlir"
