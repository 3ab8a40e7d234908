// What grows, what is set, and what is cut.
// RUN: weft-opt %s --weft-pad -split-input-file | FileCheck %s

// A vocabulary of 7 over 4 ranks: table, logits and their gradient have 8. The maximum and the sum of exponentials see
// numbers below all others, in one tensor that everybody reads; the product over the vocabulary sees zeros.
// CHECK-LABEL: weft.graph @vocabulary
#mesh = #weft.placement<"cpu", [tensor = 4], [0, 1, 2, 3]>
weft.graph @vocabulary("x" %x: tensor<2x4xf32>, "labels" %labels: tensor<2xi32>, "dloss" %dloss: tensor<f32>) placements [#mesh] {
  // CHECK: %[[TABLE:.*]] = weft.parameter "wte" [8, 4] init(normal {{.*}}) sbp(tensor = S(0)) {unpadded = [array<i64: 7, 4>]} : () -> tensor<8x4xf32>
  %table = weft.parameter "wte" [7, 4] init(normal 0.02) sbp(tensor = S(0)) : () -> tensor<7x4xf32>
  // CHECK-NEXT: %[[RAW:.*]] = weft.einsum "bh,vh->bv" %{{.*}}, %[[TABLE]] {unpadded = [array<i64: 2, 7>]}
  // CHECK-NEXT: %[[LOGITS:.*]] = weft.set_padding %[[RAW]] [2, 7] value(-3.000000e+38) {unpadded = [array<i64: 2, 7>]}
  %logits = weft.einsum "bh,vh->bv" %x, %table : (tensor<2x4xf32>, tensor<7x4xf32>) -> tensor<2x7xf32>
  // CHECK-NEXT: %[[MAX:.*]] = weft.reduce max %[[LOGITS]] over [1] : (tensor<2x8xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[SUM:.*]] = weft.sum_exp %[[LOGITS]], %[[MAX]]
  // CHECK-NEXT: weft.pick %[[LOGITS]]
  // CHECK-NEXT: %[[RAWGRAD:.*]] = weft.cross_entropy_grad %{{.*}}, %[[LOGITS]]
  // CHECK-NEXT: %[[GRAD:.*]] = weft.set_padding %[[RAWGRAD]] [2, 7] value(0.000000e+00)
  // CHECK-NEXT: weft.einsum "bv,vh->bh" %[[GRAD]], %[[TABLE]] :
  // CHECK-NEXT: weft.einsum "bv,bh->vh" %[[GRAD]], %{{.*}} {unpadded = [array<i64: 7, 4>]}
  %max = weft.reduce max %logits over [1] : (tensor<2x7xf32>) -> tensor<2xf32>
  %sum = weft.sum_exp %logits, %max : (tensor<2x7xf32>, tensor<2xf32>) -> tensor<2xf32>
  %picked = weft.pick %logits, %labels : (tensor<2x7xf32>, tensor<2xi32>) -> tensor<2xf32>
  %grad = weft.cross_entropy_grad %dloss, %logits, %max, %sum, %labels : (tensor<f32>, tensor<2x7xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>) -> tensor<2x7xf32>
  %dx = weft.einsum "bv,vh->bh" %grad, %table : (tensor<2x7xf32>, tensor<7x4xf32>) -> tensor<2x4xf32>
  %dtable = weft.einsum "bv,bh->vh" %grad, %x : (tensor<2x7xf32>, tensor<2x4xf32>) -> tensor<7x4xf32>
  weft.output "dx" %dx : (tensor<2x4xf32>)
  weft.output "dtable" %dtable : (tensor<7x4xf32>)
}

// -----

// Three heads of size 2 over 2 ranks grow by a head, where they are merged too. A softmax over what is merged gets what
// there is, and its result is padded again; a sum of zeros and zeros is zeros, and is not set.
// CHECK-LABEL: weft.graph @heads
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @heads("x" %x: tensor<2x5xf32>) placements [#mesh] {
  // CHECK: weft.parameter "w" [5, 4, 2] stored [5, 6] init(normal {{.*}}) sbp(tensor = S(1)) {unpadded = [array<i64: 5, 3, 2>]} : () -> tensor<5x4x2xf32>
  %w = weft.parameter "w" [5, 3, 2] stored [5, 6] init(normal 0.02) sbp(tensor = S(1)) : () -> tensor<5x3x2xf32>
  // CHECK-NEXT: %[[O:.*]] = weft.parameter "o" [8, 5] init(normal {{.*}}) {unpadded = [array<i64: 6, 5>]} : () -> tensor<8x5xf32>
  %o = weft.parameter "o" [6, 5] init(normal 0.02) : () -> tensor<6x5xf32>
  // CHECK-NEXT: %[[HEADS:.*]] = weft.einsum {{.*}} {unpadded = [array<i64: 2, 3, 2>]} : (tensor<2x5xf32>, tensor<5x4x2xf32>) -> tensor<2x4x2xf32>
  // CHECK-NEXT: %[[MERGED:.*]] = weft.reshape %[[HEADS]] [2, 8] {unpadded = [array<i64: 2, 6>]}
  // CHECK-NEXT: %[[CUT:.*]] = weft.slice %[[MERGED]] dim(1) from(0) size(6)
  // CHECK-NEXT: %[[SOFTMAX:.*]] = weft.softmax %[[CUT]] : (tensor<2x6xf32>) -> tensor<2x6xf32>
  // CHECK-NEXT: %[[AGAIN:.*]] = weft.pad %[[SOFTMAX]] dim(1) before(0) after(2)
  // CHECK-NEXT: %[[SUM:.*]] = weft.add %[[AGAIN]], %[[MERGED]]
  // CHECK-NEXT: weft.einsum "bi,io->bo" %[[SUM]], %[[O]] :
  %0 = weft.einsum "bi,ind->bnd" %x, %w : (tensor<2x5xf32>, tensor<5x3x2xf32>) -> tensor<2x3x2xf32>
  %1 = weft.reshape %0 [2, 6] : (tensor<2x3x2xf32>) -> tensor<2x6xf32>
  %2 = weft.softmax %1 : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %3 = weft.add %2, %1 : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
  %4 = weft.einsum "bi,io->bo" %3, %o : (tensor<2x6xf32>, tensor<6x5xf32>) -> tensor<2x5xf32>
  weft.output "y" %4 : (tensor<2x5xf32>)
}

// -----

// What is not linear may make anything of zeros: it is set before it is summed. What an optimizer's rule makes of zeros
// is zeros; what it gets is made so.
// CHECK-LABEL: weft.graph @set
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @set("x" %x: tensor<2x5xf32>, "scalar" %s: tensor<f32>) placements [#mesh] {
  // CHECK: %[[W:.*]] = weft.parameter "w" [5, 4]
  %w = weft.parameter "w" [5, 3] init(normal 0.02) sbp(tensor = S(1)) : () -> tensor<5x3xf32>
  // CHECK: %[[EXP:.*]] = weft.exp
  // CHECK-NEXT: %[[SET:.*]] = weft.set_padding %[[EXP]] [2, 3] value(0.000000e+00)
  // CHECK-NEXT: weft.reduce sum %[[SET]] over [1]
  // CHECK-NEXT: %[[G:.*]] = weft.einsum "bi,bo->io" %{{.*}}, %[[SET]]
  // CHECK-NEXT: %[[N:.*]] = weft.sgd %[[W]], %[[G]]
  // CHECK-NEXT: weft.assign %[[W]], %[[N]]
  %0 = weft.einsum "bi,io->bo" %x, %w : (tensor<2x5xf32>, tensor<5x3xf32>) -> tensor<2x3xf32>
  %1 = weft.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = weft.reduce sum %1 over [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  %g = weft.einsum "bi,bo->io" %x, %1 : (tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %n = weft.sgd %w, %g, %s, %s weight_decay(0.0) : (tensor<5x3xf32>, tensor<5x3xf32>, tensor<f32>, tensor<f32>) -> tensor<5x3xf32>
  weft.assign %w, %n : (tensor<5x3xf32>, tensor<5x3xf32>)
  weft.output "sums" %2 : (tensor<2xf32>)
}

// -----

// Nothing that an axis does not divide: nothing happens.
// CHECK-LABEL: weft.graph @even
// CHECK-NOT: unpadded
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @even("x" %x: tensor<2x5xf32>) placements [#mesh] {
  %w = weft.parameter "w" [5, 4] init(normal 0.02) sbp(tensor = S(1)) : () -> tensor<5x4xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w : (tensor<2x5xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  weft.output "y" %0 : (tensor<2x4xf32>)
}

// -----

// One head cannot be split: both ranks have it, and what is assigned is the parameter. Rows of queries grow, keys are there
// as they are.
// CHECK-LABEL: weft.graph @one
#mesh = #weft.placement<"cpu", [context = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @one("x" %x: tensor<2x5x4xf32>, "scalar" %s: tensor<f32>) placements [#mesh] {
  // CHECK: %[[W:.*]] = weft.parameter "w" [4, 1, 4] init(normal {{.*}}) sbp(tensor = S(1)) : () -> tensor<4x1x4xf32>
  %w = weft.parameter "w" [4, 1, 4] init(normal 0.02) sbp(tensor = S(1)) : () -> tensor<4x1x4xf32>
  // CHECK: %[[Q:.*]] = weft.einsum {{.*}} -> tensor<2x6x1x4xf32>
  // CHECK: %[[KEYS:.*]] = weft.slice %{{.*}} dim(1) from(0) size(5)
  // CHECK: weft.attention %[[Q]], %{{.*}}, %{{.*}} causal {unpadded = [array<i64: 2, 5, 1, 4>]}
  %q = weft.einsum "bsi,ind->bsnd" %x, %w : (tensor<2x5x4xf32>, tensor<4x1x4xf32>) -> tensor<2x5x1x4xf32>
  %y = weft.attention %q, %q, %q causal : (tensor<2x5x1x4xf32>, tensor<2x5x1x4xf32>, tensor<2x5x1x4xf32>) -> tensor<2x5x1x4xf32>
  %g = weft.einsum "bsi,bsnd->ind" %x, %y : (tensor<2x5x4xf32>, tensor<2x5x1x4xf32>) -> tensor<4x1x4xf32>
  // CHECK: %[[N:.*]] = weft.sgd %[[W]],
  // CHECK-NEXT: weft.assign %[[W]], %[[N]]
  %n = weft.sgd %w, %g, %s, %s weight_decay(0.0) : (tensor<4x1x4xf32>, tensor<4x1x4xf32>, tensor<f32>, tensor<f32>) -> tensor<4x1x4xf32>
  weft.assign %w, %n : (tensor<4x1x4xf32>, tensor<4x1x4xf32>)
  weft.output "y" %y : (tensor<2x5x1x4xf32>)
}

// -----

// The rows of a sum by number.
// CHECK-LABEL: weft.graph @rows
#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
weft.graph @rows("x" %x: tensor<2x5xf32>, "ids" %ids: tensor<2x5xi32>) placements [#mesh] {
  // CHECK: %[[Y:.*]] = weft.scatter_add {{.*}} dim(1) size(6) batch(1) {unpadded = [array<i64: 2, 5>]}
  // CHECK-NEXT: weft.add %{{.*}}, %[[Y]]
  %y = weft.scatter_add %x, %ids dim(1) size(5) batch(1) : (tensor<2x5xf32>, tensor<2x5xi32>) -> tensor<2x5xf32>
  %z = weft.add %x, %y : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  weft.output "z" %z : (tensor<2x5xf32>)
}

// -----

// 0 by 0 is no number: the gradient of a square root is set, though it is linear in what is 0 there.
// CHECK-LABEL: weft.graph @wild
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @wild("x" %x: tensor<2x5xf32>, "dy" %dy: tensor<2x5xf32>) placements [#mesh] {
  %w = weft.parameter "w" [5, 3] init(normal 0.02) sbp(tensor = S(1)) : () -> tensor<5x3xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w : (tensor<2x5xf32>, tensor<5x3xf32>) -> tensor<2x3xf32>
  %1 = weft.sqrt %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %g = weft.einsum "bi,io->bo" %dy, %w : (tensor<2x5xf32>, tensor<5x3xf32>) -> tensor<2x3xf32>
  // CHECK: %[[DIV:.*]] = weft.div
  // CHECK-NEXT: %[[MUL:.*]] = weft.mul %{{.*}}, %[[DIV]]
  // CHECK-NEXT: %[[SET:.*]] = weft.set_padding %[[MUL]] [2, 3] value(0.000000e+00)
  // CHECK-NEXT: weft.reduce sum %[[SET]]
  %2 = weft.div %g, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = weft.mul %g, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = weft.reduce sum %3 over [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  weft.output "y" %4 : (tensor<2xf32>)
}

// -----

// A norm's gradient is linear in dy alone: with dy 0 in the padding, what else it reads there has to be a number.
// CHECK-LABEL: weft.graph @reads_infinite
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @reads_infinite("a" %a: tensor<3x5xf32>, "b" %b: tensor<3x5xf32>, "dy" %dy: tensor<3x5xf32>) placements [#mesh] {
  %w = weft.parameter "w" [5] init(ones) sbp() : () -> tensor<5xf32>
  // CHECK: %[[DIV:.*]] = weft.div
  // CHECK-NEXT: %[[X:.*]] = weft.set_padding %[[DIV]] [3, 5] value(0.000000e+00)
  %x = weft.div %a, %b : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  // CHECK: %{{.*}}, %[[NORM_RSTD:.*]] = weft.rms_norm %[[X]]
  // CHECK-NEXT: %[[RSTD:.*]] = weft.set_padding %[[NORM_RSTD]] [3] value(0.000000e+00)
  %y, %rstd = weft.rms_norm %x, %w eps(1.0e-6) : (tensor<3x5xf32>, tensor<5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>)
  // CHECK: weft.rms_norm_grad %{{.*}}, %[[X]], %{{.*}}, %[[RSTD]]
  %dx, %dw = weft.rms_norm_grad %dy, %x, %w, %rstd : (tensor<3x5xf32>, tensor<3x5xf32>, tensor<5xf32>, tensor<3xf32>) -> (tensor<3x5xf32>, tensor<5xf32>)
  weft.output "y" %y : (tensor<3x5xf32>)
  weft.output "dx" %dx : (tensor<3x5xf32>)
  weft.output "dw" %dw : (tensor<5xf32>)
}
