// RUN: weft-opt %s --weft-autodiff --cse --weft-recompute-clone=policy=none | FileCheck %s --check-prefix=NONE
// RUN: weft-opt %s --weft-autodiff --cse --weft-recompute-clone=policy=selective | FileCheck %s --check-prefix=SELECTIVE
// RUN: weft-opt %s --weft-autodiff --cse --weft-recompute-clone=policy=full | FileCheck %s --check-prefix=FULL
// RUN: weft-opt %s --weft-autodiff --cse "--weft-recompute-clone=policy=full layers=h.0=none,h.1=selective" | FileCheck %s --check-prefix=PINNED
// RUN: weft-opt %s --weft-autodiff --cse --weft-recompute-clone=policy=full --cse | FileCheck %s --check-prefix=FULL

// NONE-NOT: recompute
// NONE: weft.output "loss"

// What is computed again stands in front of the layer's backward, the last layer's first. Each GELU comes from the
// product that its gradient reads anyway, each norm from the layer's input; a dropout keeps its seed. The second
// product of a layer is not read by its backward.
// SELECTIVE-LABEL: weft.graph @two_layers
// SELECTIVE: %[[X0:.*]] = weft.einsum "bi,io->bo" %arg0, %{{.*}}
// SELECTIVE: %{{.*}}, %{{.*}}:2 = weft.layer_norm %[[X0]], %[[W0:[^,]*]], %[[B0:[^,]*]] eps
// SELECTIVE: %[[U0:.*]] = weft.einsum "bi,io->bo" %{{.*}} {scope = "h.0.fc"}
// SELECTIVE: %{{.*}}, %{{.*}}:2 = weft.layer_norm %[[X1:[^,]*]], %[[W1:[^,]*]], %[[B1:[^,]*]] eps
// SELECTIVE: %[[U1:.*]] = weft.einsum "bi,io->bo" %{{.*}} {scope = "h.1.fc"}
// SELECTIVE-NOT: recompute
// SELECTIVE: %[[N1:.*]], %[[S1:.*]]:2 = weft.layer_norm %[[X1]], %[[W1]], %[[B1]] eps(1.000000e-05) {phase = "recompute", scope = "h.1.ln"}
// SELECTIVE-NEXT: %[[G1:.*]] = weft.gelu %[[U1]] {phase = "recompute", scope = "h.1"}
// SELECTIVE-NEXT: %[[D1:.*]] = weft.dropout %[[G1]] rate(1.000000e-01) seed(8) {phase = "recompute", scope = "h.1"}
// SELECTIVE-NEXT: weft.einsum {{.*}} {phase = "backward", scope = "h.1.proj"}
// SELECTIVE: weft.einsum "bi,bo->io" %[[D1]], %{{.*}} {phase = "backward", scope = "h.1.proj"}
// SELECTIVE: weft.gelu_grad %{{.*}}, %[[U1]] {phase = "backward"
// SELECTIVE: weft.einsum "bi,bo->io" %[[N1]], %{{.*}} {phase = "backward", scope = "h.1.fc"}
// SELECTIVE: weft.layer_norm_grad %{{.*}}, %[[X1]], %[[W1]], %[[S1]]#0, %[[S1]]#1 {phase = "backward"
// SELECTIVE: %[[N0:.*]], %{{.*}}:2 = weft.layer_norm %[[X0]], %[[W0]], %[[B0]] eps(1.000000e-05) {phase = "recompute", scope = "h.0.ln"}
// SELECTIVE-NEXT: %[[G0:.*]] = weft.gelu %[[U0]] {phase = "recompute", scope = "h.0"}
// SELECTIVE-NEXT: %[[D0:.*]] = weft.dropout %[[G0]] rate(1.000000e-01) seed(7) {phase = "recompute", scope = "h.0"}
// SELECTIVE-NEXT: weft.add %{{.*}} {phase = "backward", scope = "h.0"}
// SELECTIVE-NOT: recompute
// SELECTIVE: weft.einsum "bi,bo->io" %[[D0]], %{{.*}} {phase = "backward", scope = "h.0.proj"}

// The same with the product in between; nothing of the forward is read but the layer's input and parameters. What
// is outside of the layers, the embedding and the loss, is not computed again. CSE behind it changes nothing.
// FULL-LABEL: weft.graph @two_layers
// FULL: %[[X0:.*]] = weft.einsum "bi,io->bo" %arg0, %{{.*}}
// FULL: %{{.*}}, %{{.*}}:2 = weft.layer_norm %[[X0]],
// FULL: %{{.*}}, %{{.*}}:2 = weft.layer_norm %[[X1:[^,]*]],
// FULL: %[[N1:.*]], %[[S1:.*]]:2 = weft.layer_norm %[[X1]], %{{.*}} {phase = "recompute", scope = "h.1.ln"}
// FULL-NEXT: %[[U1:.*]] = weft.einsum "bi,io->bo" %[[N1]], %{{.*}} {phase = "recompute", scope = "h.1.fc"}
// FULL-NEXT: %[[G1:.*]] = weft.gelu %[[U1]] {phase = "recompute", scope = "h.1"}
// FULL-NEXT: %[[D1:.*]] = weft.dropout %[[G1]] rate(1.000000e-01) seed(8) {phase = "recompute", scope = "h.1"}
// FULL-NEXT: weft.einsum {{.*}} {phase = "backward", scope = "h.1.proj"}
// FULL: weft.einsum "bi,bo->io" %[[D1]], %{{.*}} {phase = "backward", scope = "h.1.proj"}
// FULL: weft.gelu_grad %{{.*}}, %[[U1]]
// FULL: weft.layer_norm_grad %{{.*}}, %[[X1]], %{{.*}}, %[[S1]]#0, %[[S1]]#1 {phase = "backward"
// FULL: weft.layer_norm %[[X0]], %{{.*}} {phase = "recompute", scope = "h.0.ln"}
// FULL: weft.einsum "bi,io->bo" %{{.*}} {phase = "recompute", scope = "h.0.fc"}
// FULL-NEXT: weft.gelu %{{.*}} {phase = "recompute", scope = "h.0"}
// FULL-NEXT: weft.dropout %{{.*}} seed(7) {phase = "recompute", scope = "h.0"}
// FULL-NEXT: weft.add %{{.*}} {phase = "backward", scope = "h.0"}
// FULL-NOT: recompute

// PINNED-LABEL: weft.graph @two_layers
// PINNED: weft.layer_norm {{.*}} {phase = "recompute", scope = "h.1.ln"}
// PINNED-NEXT: weft.gelu {{.*}} {phase = "recompute", scope = "h.1"}
// PINNED-NEXT: weft.dropout {{.*}} {phase = "recompute", scope = "h.1"}
// PINNED-NOT: recompute
// PINNED: weft.output "loss"

#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @two_layers("x" %x: tensor<1024x32xf32>) placements [#mesh] {
  %in = weft.parameter "in" [32, 64] init(zeros) : () -> tensor<32x64xf32>
  %x0 = weft.einsum "bi,io->bo" %x, %in : (tensor<1024x32xf32>, tensor<32x64xf32>) -> tensor<1024x64xf32>

  %w0 = weft.parameter "h.0.ln.weight" [64] init(ones) {scope = "h.0.ln"} : () -> tensor<64xf32>
  %b0 = weft.parameter "h.0.ln.bias" [64] init(zeros) {scope = "h.0.ln"} : () -> tensor<64xf32>
  %n0 = weft.layer_norm %x0, %w0, %b0 eps(1.0e-5) {scope = "h.0.ln"} : (tensor<1024x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1024x64xf32>
  %fc0 = weft.parameter "h.0.fc" [64, 256] init(zeros) {scope = "h.0.fc"} : () -> tensor<64x256xf32>
  %u0 = weft.einsum "bi,io->bo" %n0, %fc0 {scope = "h.0.fc"} : (tensor<1024x64xf32>, tensor<64x256xf32>) -> tensor<1024x256xf32>
  %g0 = weft.gelu %u0 {scope = "h.0"} : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %d0 = weft.dropout %g0 rate(0.1) seed(7) {scope = "h.0"} : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %proj0 = weft.parameter "h.0.proj" [256, 64] init(zeros) {scope = "h.0.proj"} : () -> tensor<256x64xf32>
  %p0 = weft.einsum "bi,io->bo" %d0, %proj0 {scope = "h.0.proj"} : (tensor<1024x256xf32>, tensor<256x64xf32>) -> tensor<1024x64xf32>
  %x1 = weft.add %x0, %p0 {scope = "h.0"} : (tensor<1024x64xf32>, tensor<1024x64xf32>) -> tensor<1024x64xf32>

  %w1 = weft.parameter "h.1.ln.weight" [64] init(ones) {scope = "h.1.ln"} : () -> tensor<64xf32>
  %b1 = weft.parameter "h.1.ln.bias" [64] init(zeros) {scope = "h.1.ln"} : () -> tensor<64xf32>
  %n1 = weft.layer_norm %x1, %w1, %b1 eps(1.0e-5) {scope = "h.1.ln"} : (tensor<1024x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1024x64xf32>
  %fc1 = weft.parameter "h.1.fc" [64, 256] init(zeros) {scope = "h.1.fc"} : () -> tensor<64x256xf32>
  %u1 = weft.einsum "bi,io->bo" %n1, %fc1 {scope = "h.1.fc"} : (tensor<1024x64xf32>, tensor<64x256xf32>) -> tensor<1024x256xf32>
  %g1 = weft.gelu %u1 {scope = "h.1"} : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %d1 = weft.dropout %g1 rate(0.1) seed(8) {scope = "h.1"} : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %proj1 = weft.parameter "h.1.proj" [256, 64] init(zeros) {scope = "h.1.proj"} : () -> tensor<256x64xf32>
  %p1 = weft.einsum "bi,io->bo" %d1, %proj1 {scope = "h.1.proj"} : (tensor<1024x256xf32>, tensor<256x64xf32>) -> tensor<1024x64xf32>
  %x2 = weft.add %x1, %p1 {scope = "h.1"} : (tensor<1024x64xf32>, tensor<1024x64xf32>) -> tensor<1024x64xf32>

  %g = weft.gelu %x2 {scope = "head"} : (tensor<1024x64xf32>) -> tensor<1024x64xf32>
  %s = weft.square %g {scope = "head"} : (tensor<1024x64xf32>) -> tensor<1024x64xf32>
  %loss = weft.reduce sum %s over [0, 1] : (tensor<1024x64xf32>) -> tensor<f32>
  weft.minimize %loss : (tensor<f32>)
}
