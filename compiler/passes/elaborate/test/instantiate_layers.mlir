// Layers that are given to layers, and what a repeat says of its turn.
// RUN: weft-opt %s --weft-elaborate-config --weft-elaborate-instantiate -split-input-file -verify-diagnostics | FileCheck %s

model.layer @exp(%x) [rate] {
  %0 = weft.exp %x
  model.return %0
}
model.layer @scaled(%x) [rate] {
  %0 = weft.scale %x by(rate)
  model.return %0
}
// `inner` is the layer that the call gives, or the default; it is handed on to another layer.
model.layer @block(%x) [rate, inner = @exp] {
  %0 = model.call @inner "inner" (%x) [rate]
  model.return %0
}
model.layer @outer(%x) [kind] {
  %0 = model.call @block "block" (%x) [2.0, kind]
  model.return %0
}
// CHECK:      weft.exp %x {scope = "a.inner"}
// CHECK-NEXT: weft.scale %{{.*}} by(3.000000e+00) {scope = "b.inner"}
// CHECK-NEXT: weft.scale %{{.*}} by(2.000000e+00) {scope = "c.block.inner"}
// CHECK-NEXT: weft.scale %{{.*}} by(0.000000e+00) {scope = "h.0"}
// CHECK-NEXT: weft.scale %{{.*}} by(5.000000e-01) {scope = "h.1"}
// CHECK-NEXT: weft.scale %{{.*}} by(1.000000e+00) {scope = "h.2"}
// CHECK-NEXT: weft.output
model.graph @g(%x [2] f32) {
  %0 = model.call @block "a" (%x) [1.0]
  %1 = model.call @block "b" (%0) [3.0, @scaled]
  %2 = model.call @outer "c" (%1) [@scaled]
  %3 = model.repeat 3 "h" @scaled(%2) ["index / 2"]
  weft.output "y" %3
}

// -----

model.layer @l(%x) [n] {
  // expected-error @+1 {{"n": expected a number, got @l}}
  %0 = weft.scale %x by(n)
  model.return %0
}
model.graph @g(%x [2] f32) {
  %0 = model.call @l (%x) [@l]
  weft.output "y" %0
}
