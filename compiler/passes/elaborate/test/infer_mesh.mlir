// RUN: not weft-opt %s --weft-elaborate-infer=tensor=0 2>&1 | FileCheck %s
// CHECK: error: tensor: expected a positive size, got 0
model.graph @train() {}
