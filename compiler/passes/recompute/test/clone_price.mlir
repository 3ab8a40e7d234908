// RUN: weft-opt %s --weft-autodiff --cse --weft-recompute-clone=policy=selective -split-input-file | FileCheck %s

// A chain of element-wise ops is run again while that is cheaper than to keep its end: from %y, whose bytes are
// needed in any case, two ops are; a result that is as large as what it is made of, which nobody else keeps, is not.
// CHECK-LABEL: weft.graph @chain
// CHECK: %[[Y:.*]] = weft.einsum
// CHECK: %[[KEPT:.*]] = weft.scale %[[Y]] by(3.000000e+00) {scope = "h.0"}
// CHECK-NOT: recompute
// CHECK: %[[E:.*]] = weft.silu %[[KEPT]] {phase = "recompute", scope = "h.0"}
// CHECK-NEXT: %[[F:.*]] = weft.tanh %[[E]] {phase = "recompute", scope = "h.0"}
// CHECK-NOT: recompute
// CHECK: weft.einsum "bi,bo->io" %[[F]], %{{.*}} {phase = "backward", scope = "h.0"}
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @chain("x" %x: tensor<1024x64xf32>) placements [#mesh] {
  %w = weft.parameter "w" [64, 256] init(zeros) {scope = "h.0"} : () -> tensor<64x256xf32>
  %v = weft.parameter "v" [256, 64] init(zeros) {scope = "h.0"} : () -> tensor<256x64xf32>
  %y = weft.einsum "bi,io->bo" %x, %w {scope = "h.0"} : (tensor<1024x64xf32>, tensor<64x256xf32>) -> tensor<1024x256xf32>
  %0 = weft.scale %y by(3.0) {scope = "h.0"} : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %1 = weft.silu %0 {scope = "h.0"} : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %2 = weft.tanh %1 {scope = "h.0"} : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %3 = weft.einsum "bi,io->bo" %2, %v {scope = "h.0"} : (tensor<1024x256xf32>, tensor<256x64xf32>) -> tensor<1024x64xf32>
  %loss = weft.reduce sum %3 over [0, 1] : (tensor<1024x64xf32>) -> tensor<f32>
  weft.minimize %loss : (tensor<f32>)
}

// -----

// Three equal parts of one value: it is as many bytes as they are, and they are kept. With a fourth reader it is the
// value that is kept, and the parts are cut again.
// CHECK-LABEL: weft.graph @parts
// CHECK-NOT: recompute
// CHECK: weft.output "loss"
// CHECK-LABEL: weft.graph @parts_and_whole
// CHECK-COUNT-2: weft.slice {{.*}} {phase = "recompute", scope = "h.0"}
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @parts("x" %x: tensor<1024x64xf32>) placements [#mesh] {
  %w = weft.parameter "w" [64, 256] init(zeros) {scope = "h.0"} : () -> tensor<64x256xf32>
  %y = weft.einsum "bi,io->bo" %x, %w {scope = "h.0"} : (tensor<1024x64xf32>, tensor<64x256xf32>) -> tensor<1024x256xf32>
  %a = weft.slice %y dim(1) from(0) size(128) {scope = "h.0"} : (tensor<1024x256xf32>) -> tensor<1024x128xf32>
  %b = weft.slice %y dim(1) from(128) size(128) {scope = "h.0"} : (tensor<1024x256xf32>) -> tensor<1024x128xf32>
  %c = weft.mul %a, %b {scope = "h.0"} : (tensor<1024x128xf32>, tensor<1024x128xf32>) -> tensor<1024x128xf32>
  %loss = weft.reduce sum %c over [0, 1] : (tensor<1024x128xf32>) -> tensor<f32>
  weft.minimize %loss : (tensor<f32>)
}
weft.graph @parts_and_whole("x" %x: tensor<1024x64xf32>) placements [#mesh] {
  %w = weft.parameter "w" [64, 256] init(zeros) {scope = "h.0"} : () -> tensor<64x256xf32>
  %y = weft.einsum "bi,io->bo" %x, %w {scope = "h.0"} : (tensor<1024x64xf32>, tensor<64x256xf32>) -> tensor<1024x256xf32>
  %a = weft.slice %y dim(1) from(0) size(128) {scope = "h.0"} : (tensor<1024x256xf32>) -> tensor<1024x128xf32>
  %b = weft.slice %y dim(1) from(128) size(128) {scope = "h.0"} : (tensor<1024x256xf32>) -> tensor<1024x128xf32>
  %c = weft.mul %a, %b {scope = "h.0"} : (tensor<1024x128xf32>, tensor<1024x128xf32>) -> tensor<1024x128xf32>
  %s = weft.square %y {scope = "h.0"} : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %l0 = weft.reduce sum %c over [0, 1] : (tensor<1024x128xf32>) -> tensor<f32>
  %l1 = weft.reduce sum %s over [0, 1] : (tensor<1024x256xf32>) -> tensor<f32>
  %loss = weft.add %l0, %l1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  weft.minimize %loss : (tensor<f32>)
}

// -----

// Beginning a kernel costs more than the memory of so few bytes is worth.
// CHECK-LABEL: weft.graph @small
// CHECK-NOT: recompute
// CHECK: weft.output "loss"
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @small("x" %x: tensor<4x8xf32>) placements [#mesh] {
  %w = weft.parameter "w" [8, 8] init(zeros) {scope = "h.0"} : () -> tensor<8x8xf32>
  %y = weft.einsum "bi,io->bo" %x, %w {scope = "h.0"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %0 = weft.gelu %y {scope = "h.0"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = weft.einsum "bi,io->bo" %0, %w {scope = "h.0"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %loss = weft.reduce sum %1 over [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  weft.minimize %loss : (tensor<f32>)
}
