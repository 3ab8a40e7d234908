// Layers take the place of calls, with numbers for expressions and full names for parameters.
// RUN: weft-opt %s --weft-elaborate-config --weft-elaborate-instantiate=graph=train | FileCheck %s

model.config @hidden = 8
model.config @rate = 0.5

model.layer @linear(%x) [in, out = 2 * in, split = B] {
  %w = weft.parameter "weight" [in, out] stored [in * out] init(normal 0.02 * rsqrt(in)) sbp(tensor = split)
  %y = weft.einsum "bi,io->bo" %x, %w
  model.return %y
}

model.layer @two(%x, %y) {
  %a = weft.add %x, %y
  %b = weft.dropout %y rate(rate)
  model.return %a, %b
}

// The layer's own name hides that of the configuration.
model.layer @hides(%x) [hidden] {
  %y = weft.scale %x by(hidden)
  model.return %y
}

// CHECK-NOT: model.layer
// CHECK-NOT: model.config
// CHECK:     model.graph @train(%x [2, 8] f32) {
model.graph @train(%x [2, hidden] f32) {
  // CHECK-NEXT: %[[W:.*]] = weft.parameter "up.weight" [8, 16] stored [128] init(normal 0.0070710678{{[0-9]+}}) sbp(tensor = B) {scope = "up", seed = {{[0-9]+}} : i64}
  // CHECK-NEXT: %[[Y:.*]] = weft.einsum "bi,io->bo" %x, %[[W]] {scope = "up"}
  %0 = model.call @linear "up" (%x) [hidden]
  // CHECK-NEXT: %[[W:.*]] = weft.parameter "h.down.weight" [16, 4] stored [64] init(normal 5.000000e-03) sbp(tensor = S(1)) {scope = "h.down", seed = {{.*}}}
  // CHECK-NEXT: %[[Z:.*]] = weft.einsum "bi,io->bo" %[[Y]], %[[W]] {scope = "h.down"}
  %1 = model.call @linear "h.down" (%0) [2 * hidden, hidden floordiv 2, S(1)]
  // Carried values thread through; the last operand stays.
  // CHECK-NEXT: %[[A0:.*]] = weft.add %x, %[[Z]] {scope = "r.0"}
  // CHECK-NEXT: %[[B0:.*]] = weft.dropout %[[Z]] rate(5.000000e-01) seed([[#S0:]]) {scope = "r.0"}
  // CHECK-NEXT: %[[A1:.*]] = weft.add %[[A0]], %[[B0]] {scope = "r.1"}
  // CHECK-NEXT: %[[B1:.*]] = weft.dropout %[[B0]] rate(5.000000e-01) seed([[#S1:]]) {scope = "r.1"}
  %a, %b = model.repeat 2 "r" @two(%x, %1)
  // Without a scope nothing is added to names.
  // CHECK-NEXT: %[[H:.*]] = weft.scale %[[A1]] by(3)
  // CHECK-NOT: scope
  // CHECK-SAME: {{$}}
  %c = model.call @hides (%a) [3]
  // CHECK-NEXT: weft.add %[[H]], %[[B1]]
  %none = model.repeat 0 "none" @hides(%c) [3]
  %d = weft.add %none, %b
  // A list of numbers may hold fractions; all others are of extents and dimensions.
  // CHECK: weft.constant [2] values [8, 5.000000e-01]
  %e = weft.constant [2] values [hidden, rate]
}

model.graph @other() {
}
