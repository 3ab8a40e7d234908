// An error inside a repeated layer points at the line in the layer, and at every call on the way.
// RUN: not weft-opt %s --phase-elaborate=keys=batch.micro=4 2>&1 | FileCheck %s

// CHECK:      files/mismatch.mlir:3:8: error: 'weft.add' op expected shapes that broadcast, got 'tensor<4x8xf32>' and 'tensor<9xf32>'
// CHECK-NEXT: weft.add
model.import "files/mismatch.mlir"

model.layer @block(%x) {
  // CHECK:      call_stack.mlir:[[#@LINE+2]]:8: note: called from
  // CHECK-NEXT: model.call @biased
  %0 = model.call @biased "proj" (%x) [9]
  model.return %0
}

model.graph @train(%x [batch, 8] f32) {
  // CHECK:      call_stack.mlir:[[#@LINE+2]]:8: note: called from
  // CHECK-NEXT: model.repeat
  %0 = model.repeat 3 "h" @block(%x)
}
