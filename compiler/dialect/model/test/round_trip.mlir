// Every op of the dialect prints as it is written.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s -mlir-print-op-generic | weft-opt | FileCheck %s

// CHECK: model.import "../layers.mlir"
model.import "../layers.mlir"

// CHECK: model.config @hidden = 64
// CHECK-NEXT: model.config @heads = 4
// CHECK-NEXT: model.config @head_dim = hidden floordiv heads
// CHECK-NEXT: model.config @rate = 1.000000e-01
// CHECK-NEXT: model.config @split = S(0)
model.config @hidden = 64      model.config @heads = 4
model.config @head_dim = hidden floordiv heads
model.config @rate = 0.1
model.config @split = S(0)

// CHECK-LABEL: model.layer @linear(%x) [in, out, split = B, std = 2.000000e-02 * rsqrt(in)] {
// CHECK-NEXT:    %[[W:.*]] = weft.parameter "weight" [in, out] init(normal std) sbp(tensor = split)
// CHECK-NEXT:    model.return %x, %[[W]]
model.layer @linear(%x) [in, out, split = B, std = 0.02 * rsqrt(in)] {
  %w = weft.parameter "weight" [in, out] init(normal std) sbp(tensor = split)
  model.return %x, %w
}

// CHECK-LABEL: model.layer @nothing() {
// CHECK-NEXT:    model.return
model.layer @nothing() {
  model.return
}

// CHECK-LABEL: model.graph @train(%tokens [batch, seq] i32, %scalar [] f32) {
model.graph @train(%tokens [batch, seq] i32, %scalar [] f32) {
  // CHECK-NEXT: model.call @nothing ()
  model.call @nothing ()
  // CHECK-NEXT: model.stage 1
  model.stage 1
  // CHECK-NEXT: model.stage 2 * heads
  model.stage 2 * heads
  // CHECK-NEXT: %[[C:.*]]:2 = model.call @linear "c" (%tokens) [hidden, 4 * hidden, S(1)]
  %a, %b = model.call @linear "c" (%tokens) [hidden, 4 * hidden, S(1)]
  // CHECK-NEXT: model.call @linear "d" (%tokens) [hidden, hidden] averages "c" momentum(%scalar)
  %d, %e = model.call @linear "d" (%tokens) [hidden, hidden] averages "c" momentum(%scalar)
  // CHECK-NEXT: model.call @nothing "e" () averages "" momentum(%scalar)
  model.call @nothing "e" () averages "" momentum(%scalar)
  // CHECK-NEXT: %[[R:.*]]:2 = model.repeat 2 * heads "h" @linear(%[[C]]#0, %[[C]]#1, %scalar) [hidden, hidden]
  %h:2 = model.repeat 2 * heads "h" @linear(%a, %b, %scalar) [hidden, hidden]
}

// A byte is unsigned, whatever MLIR calls it.
// CHECK-LABEL: model.graph @types(%a [batch, 28, 28] u8, %b [batch] u8, %c [batch] i64, %d [2] bf16) {
model.graph @types(%a [batch, 28, 28] u8, %b [batch] i8, %c [batch] i64, %d [2] bf16) {}

// CHECK-LABEL: model.graph @empty() {
// CHECK-NEXT:  }
model.graph @empty() {}
