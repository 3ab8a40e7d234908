// RUN: weft-opt %s --weft-autodiff -split-input-file | FileCheck %s

// A chain: backward ops stand behind the forward ones in reverse order, with the scope of their forward op.
// CHECK-LABEL: weft.graph @chain
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [8, 2] init(zeros) {scope = ""}
// CHECK-NEXT: %[[EINSUM:.*]] = weft.einsum "bi,io->bo" %arg0, %[[W]] {scope = "h.0"}
// CHECK-NEXT: %[[RELU:.*]] = weft.relu %[[EINSUM]] {scope = "h.1"}
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce sum %[[RELU]] over [0, 1] {scope = "head"}
// CHECK-NEXT: %[[FILL:.*]] = weft.fill [] value(1.000000e+00) {loss_seed, scope = "head"}
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[FILL]] [1, 1] {phase = "backward", scope = "head"}
// CHECK-NEXT: %[[BROADCAST_TO:.*]] = weft.broadcast_to %[[RESHAPE]] [4, 2] {phase = "backward", scope = "head"}
// CHECK-NEXT: %[[RELU_GRAD:.*]] = weft.relu_grad %[[BROADCAST_TO]], %[[EINSUM]] {phase = "backward", scope = "h.1"}
// CHECK-NEXT: %[[EINSUM1:.*]] = weft.einsum "bo,io->bi" %[[RELU_GRAD]], %[[W]] {phase = "backward", scope = "h.0"}
// CHECK-NEXT: %[[EINSUM2:.*]] = weft.einsum "bi,bo->io" %arg0, %[[RELU_GRAD]] {phase = "backward", scope = "h.0"}
// CHECK-NEXT: %[[FILL1:.*]] = weft.fill [] value(1.000000e+00) {scope = "head"}
// CHECK-NEXT: %[[ACCUMULATE:.*]] = weft.accumulate %[[FILL1]] {scope = "head"}
// CHECK-NEXT: %[[ACCUMULATE1:.*]] = weft.accumulate %[[REDUCE]] {scope = "head"}
// CHECK-NEXT: %[[DIV:.*]] = weft.div %[[ACCUMULATE1]], %[[ACCUMULATE]] {scope = "head"}
// CHECK-NEXT: weft.output "loss" metric %[[DIV]] {scope = "head"}
// CHECK-NEXT: %[[ACCUMULATE2:.*]] = weft.accumulate %[[EINSUM2]] {phase = "backward", scope = ""}
// CHECK-NEXT: weft.update %[[W]] with %[[ACCUMULATE2]] per %[[ACCUMULATE]] {phase = "backward", scope = ""}
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @chain("x" %x: tensor<4x8xf32>) placements [#one] {
  %w = weft.parameter "w" [8, 2] init(zeros) {scope = ""} : () -> tensor<8x2xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w {scope = "h.0"} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = weft.relu %0 {scope = "h.1"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %loss = weft.reduce sum %1 over [0, 1] {scope = "head"} : (tensor<4x2xf32>) -> tensor<f32>
  weft.minimize %loss {scope = "head"} : (tensor<f32>)
}

// -----

// What flows back to a value with two readers is added once; with three, once too.
// CHECK-LABEL: weft.graph @fan_out
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [4] init(zeros)
// CHECK-NEXT: %[[MUL:.*]] = weft.mul %arg0, %[[W]]
// CHECK-NEXT: %[[NEG:.*]] = weft.neg %[[MUL]]
// CHECK-NEXT: %[[SCALE:.*]] = weft.scale %[[MUL]] by(2.000000e+00)
// CHECK-NEXT: %[[SCALE1:.*]] = weft.scale %[[MUL]] by(3.000000e+00)
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[NEG]], %[[SCALE]]
// CHECK-NEXT: %[[SCALE2:.*]] = weft.scale %[[ADD]] by(4.000000e+00)
// CHECK-NEXT: %[[SCALE3:.*]] = weft.scale %[[ADD]] by(5.000000e+00)
// CHECK-NEXT: %[[ADD_N:.*]] = weft.add_n %[[SCALE1]], %[[SCALE2]], %[[SCALE3]]
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce sum %[[ADD_N]] over [0]
// CHECK-NEXT: %[[FILL:.*]] = weft.fill [] value(1.000000e+00)
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[FILL]] [1] {phase = "backward"}
// CHECK-NEXT: %[[BROADCAST_TO:.*]] = weft.broadcast_to %[[RESHAPE]] [4] {phase = "backward"}
// CHECK-NEXT: %[[SCALE4:.*]] = weft.scale %[[BROADCAST_TO]] by(5.000000e+00) {phase = "backward"}
// CHECK-NEXT: %[[SCALE5:.*]] = weft.scale %[[BROADCAST_TO]] by(4.000000e+00) {phase = "backward"}
// CHECK-NEXT: %[[ADD1:.*]] = weft.add %[[SCALE4]], %[[SCALE5]] {phase = "backward"}
// CHECK-NEXT: %[[SCALE6:.*]] = weft.scale %[[BROADCAST_TO]] by(3.000000e+00) {phase = "backward"}
// CHECK-NEXT: %[[SCALE7:.*]] = weft.scale %[[ADD1]] by(2.000000e+00) {phase = "backward"}
// CHECK-NEXT: %[[NEG1:.*]] = weft.neg %[[ADD1]] {phase = "backward"}
// CHECK-NEXT: %[[ADD_N1:.*]] = weft.add_n %[[SCALE6]], %[[SCALE7]], %[[NEG1]]
// CHECK-NEXT: %[[MUL1:.*]] = weft.mul %[[ADD_N1]], %[[W]] {phase = "backward"}
// CHECK-NEXT: %[[MUL2:.*]] = weft.mul %[[ADD_N1]], %arg0 {phase = "backward"}
// CHECK-NEXT: %[[FILL1:.*]] = weft.fill [] value(1.000000e+00)
// CHECK-NEXT: %[[ACCUMULATE:.*]] = weft.accumulate %[[FILL1]]
// CHECK-NEXT: %[[ACCUMULATE1:.*]] = weft.accumulate %[[REDUCE]]
// CHECK-NEXT: %[[DIV:.*]] = weft.div %[[ACCUMULATE1]], %[[ACCUMULATE]]
// CHECK-NEXT: weft.output "loss" metric %[[DIV]]
// CHECK-NEXT: %[[ACCUMULATE2:.*]] = weft.accumulate %[[MUL2]] {phase = "backward"}
// CHECK-NEXT: weft.update %[[W]] with %[[ACCUMULATE2]] per %[[ACCUMULATE]] {phase = "backward"}
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @fan_out("x" %x: tensor<4xf32>) placements [#one] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.scale %0 by(2.0) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = weft.scale %0 by(3.0) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = weft.add %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = weft.scale %4 by(4.0) : (tensor<4xf32>) -> tensor<4xf32>
  %6 = weft.scale %4 by(5.0) : (tensor<4xf32>) -> tensor<4xf32>
  %7 = weft.add_n %3, %5, %6 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = weft.reduce sum %7 over [0] : (tensor<4xf32>) -> tensor<f32>
  weft.minimize %loss : (tensor<f32>)
}

// -----

// A parameter that is used twice is accumulated once, after its gradients are summed.
// CHECK-LABEL: weft.graph @shared
// CHECK-NEXT: %[[WTE:.*]] = weft.parameter "wte" [16, 8] init(zeros)
// CHECK-NEXT: %[[EMBEDDING:.*]] = weft.embedding %arg0, %[[WTE]]
// CHECK-NEXT: %[[EINSUM:.*]] = weft.einsum "bh,vh->bv" %[[EMBEDDING]], %[[WTE]]
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce sum %[[EINSUM]] over [0, 1]
// CHECK-NEXT: %[[FILL:.*]] = weft.fill [] value(1.000000e+00)
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[FILL]] [1, 1] {phase = "backward"}
// CHECK-NEXT: %[[BROADCAST_TO:.*]] = weft.broadcast_to %[[RESHAPE]] [4, 16] {phase = "backward"}
// CHECK-NEXT: %[[EINSUM1:.*]] = weft.einsum "bv,vh->bh" %[[BROADCAST_TO]], %[[WTE]] {phase = "backward"}
// CHECK-NEXT: %[[EINSUM2:.*]] = weft.einsum "bh,bv->vh" %[[EMBEDDING]], %[[BROADCAST_TO]] {phase = "backward"}
// CHECK-NEXT: %[[EMBEDDING_GRAD:.*]] = weft.embedding_grad %arg0, %[[EINSUM1]] vocab(16) {phase = "backward"}
// CHECK-NEXT: %[[FILL1:.*]] = weft.fill [] value(1.000000e+00)
// CHECK-NEXT: %[[ACCUMULATE:.*]] = weft.accumulate %[[FILL1]]
// CHECK-NEXT: %[[ACCUMULATE1:.*]] = weft.accumulate %[[REDUCE]]
// CHECK-NEXT: %[[DIV:.*]] = weft.div %[[ACCUMULATE1]], %[[ACCUMULATE]]
// CHECK-NEXT: weft.output "loss" metric %[[DIV]]
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[EINSUM2]], %[[EMBEDDING_GRAD]] {phase = "backward"}
// CHECK-NEXT: %[[ACCUMULATE2:.*]] = weft.accumulate %[[ADD]] {phase = "backward"}
// CHECK-NEXT: weft.update %[[WTE]] with %[[ACCUMULATE2]] per %[[ACCUMULATE]] {phase = "backward"}
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @shared("ids" %ids: tensor<4xi32>) placements [#one] {
  %w = weft.parameter "wte" [16, 8] init(zeros) : () -> tensor<16x8xf32>
  %0 = weft.embedding %ids, %w : (tensor<4xi32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %1 = weft.einsum "bh,vh->bv" %0, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %loss = weft.reduce sum %1 over [0, 1] : (tensor<4x16xf32>) -> tensor<f32>
  weft.minimize %loss : (tensor<f32>)
}

// -----

// Nothing flows back to inputs, to integers, to what depends on no parameter, or to optimizer state; each of
// the two ops that could not be differentiated stands beside the path from the parameter to the loss.
// CHECK-LABEL: weft.graph @inactive
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [16, 4] init(zeros)
// CHECK-NEXT: %[[S:.*]] = weft.parameter "s" [4] init(zeros) state
// CHECK-NEXT: %[[GREATER_EQUAL:.*]] = weft.greater_equal %arg0, %[[S]]
// CHECK-NEXT: %[[EMBEDDING:.*]] = weft.embedding %arg1, %[[W]]
// CHECK-NEXT: %[[MUL:.*]] = weft.mul %[[EMBEDDING]], %[[GREATER_EQUAL]]
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce sum %[[MUL]] over [0, 1]
// CHECK-NEXT: %[[GREATER_EQUAL1:.*]] = weft.greater_equal %[[MUL]], %[[EMBEDDING]]
// CHECK-NEXT: weft.output "mask" %[[GREATER_EQUAL1]]
// CHECK-NEXT: %[[FILL:.*]] = weft.fill [] value(1.000000e+00)
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[FILL]] [1, 1] {phase = "backward"}
// CHECK-NEXT: %[[BROADCAST_TO:.*]] = weft.broadcast_to %[[RESHAPE]] [4, 4] {phase = "backward"}
// CHECK-NEXT: %[[MUL1:.*]] = weft.mul %[[BROADCAST_TO]], %[[GREATER_EQUAL]] {phase = "backward"}
// CHECK-NEXT: %[[MUL2:.*]] = weft.mul %[[BROADCAST_TO]], %[[EMBEDDING]] {phase = "backward"}
// CHECK-NEXT: %[[REDUCE1:.*]] = weft.reduce sum %[[MUL2]] over [0] {phase = "backward"}
// CHECK-NEXT: %[[EMBEDDING_GRAD:.*]] = weft.embedding_grad %arg1, %[[MUL1]] vocab(16) {phase = "backward"}
// CHECK-NEXT: %[[FILL1:.*]] = weft.fill [] value(1.000000e+00)
// CHECK-NEXT: %[[ACCUMULATE:.*]] = weft.accumulate %[[FILL1]]
// CHECK-NEXT: %[[ACCUMULATE1:.*]] = weft.accumulate %[[REDUCE]]
// CHECK-NEXT: %[[DIV:.*]] = weft.div %[[ACCUMULATE1]], %[[ACCUMULATE]]
// CHECK-NEXT: weft.output "loss" metric %[[DIV]]
// CHECK-NEXT: %[[ACCUMULATE2:.*]] = weft.accumulate %[[EMBEDDING_GRAD]] {phase = "backward"}
// CHECK-NEXT: weft.update %[[W]] with %[[ACCUMULATE2]] per %[[ACCUMULATE]] {phase = "backward"}
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @inactive("x" %x: tensor<4xf32>, "ids" %ids: tensor<4xi32>) placements [#one] {
  %w = weft.parameter "w" [16, 4] init(zeros) : () -> tensor<16x4xf32>
  %s = weft.parameter "s" [4] init(zeros) state : () -> tensor<4xf32>
  %0 = weft.greater_equal %x, %s as_number : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.embedding %ids, %w : (tensor<4xi32>, tensor<16x4xf32>) -> tensor<4x4xf32>
  %2 = weft.mul %1, %0 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %loss = weft.reduce sum %2 over [0, 1] : (tensor<4x4xf32>) -> tensor<f32>
  %3 = weft.greater_equal %2, %1 as_number : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  weft.output "mask" %3 : (tensor<4x4xf32>)
  weft.minimize %loss : (tensor<f32>)
}

// -----

// Per count: loss and count are both summed over the micro-batches, and divided once a step.
// CHECK-LABEL: weft.graph @per_count
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [4, 16] init(zeros)
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce max %[[W]] over [1]
// CHECK-NEXT: %[[SUM_EXP:.*]] = weft.sum_exp %[[W]], %[[REDUCE]]
// CHECK-NEXT: %[[LOSS:.*]], %[[COUNT:.*]] = weft.cross_entropy %[[W]], %arg0
// CHECK-NEXT: %[[FILL:.*]] = weft.fill [] value(1.000000e+00)
// CHECK-NEXT: %[[CROSS_ENTROPY_GRAD:.*]] = weft.cross_entropy_grad %[[FILL]], %[[W]], %[[REDUCE]], %[[SUM_EXP]], %arg0 {phase = "backward"}
// CHECK-NEXT: %[[ACCUMULATE:.*]] = weft.accumulate %[[COUNT]]
// CHECK-NEXT: %[[ACCUMULATE1:.*]] = weft.accumulate %[[LOSS]]
// CHECK-NEXT: %[[DIV:.*]] = weft.div %[[ACCUMULATE1]], %[[ACCUMULATE]]
// CHECK-NEXT: weft.output "loss" metric %[[DIV]]
// CHECK-NEXT: %[[ACCUMULATE2:.*]] = weft.accumulate %[[CROSS_ENTROPY_GRAD]] {phase = "backward"}
// CHECK-NEXT: weft.update %[[W]] with %[[ACCUMULATE2]] per %[[ACCUMULATE]] {phase = "backward"}
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @per_count("l" %labels: tensor<4xi32>) placements [#one] micro_batches 2 {
  %w = weft.parameter "w" [4, 16] init(zeros) : () -> tensor<4x16xf32>
  %loss, %count = weft.cross_entropy %w, %labels : (tensor<4x16xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<f32>)
  weft.minimize %loss per %count : (tensor<f32>, tensor<f32>)
}

// -----

// Ops whose backward needs statistics are replaced, where they stand, by the variants that yield them.
// CHECK-LABEL: weft.graph @variants
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [8] init(ones)
// CHECK-NEXT: %[[B:.*]] = weft.parameter "b" [8] init(zeros)
// CHECK-NEXT: %[[RESULT:.*]], %[[STATISTICS:.*]]:2 = weft.layer_norm %arg0, %[[W]], %[[B]] eps(1.000000e-05) {scope = "ln"}
// CHECK-NEXT: %[[RESULT1:.*]], %[[STATISTICS1:.*]] = weft.rms_norm %[[RESULT]], %[[W]] eps(1.000000e-05) {scope = "rms"}
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[RESULT1]] [2, 4, 2, 4]
// CHECK-NEXT: %[[OUT:.*]], %[[LSE:.*]] = weft.attention %[[RESHAPE]], %[[RESHAPE]], %[[RESHAPE]] causal {scope = "attn"}
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce sum %[[OUT]] over [0, 1, 2, 3]
// CHECK-NEXT: %[[FILL:.*]] = weft.fill [] value(1.000000e+00)
// CHECK-NEXT: %[[RESHAPE1:.*]] = weft.reshape %[[FILL]] [1, 1, 1, 1] {phase = "backward"}
// CHECK-NEXT: %[[BROADCAST_TO:.*]] = weft.broadcast_to %[[RESHAPE1]] [2, 4, 2, 4] {phase = "backward"}
// CHECK-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = weft.attention_grad %[[BROADCAST_TO]], %[[RESHAPE]], %[[RESHAPE]], %[[RESHAPE]], %[[OUT]], %[[LSE]] causal {phase = "backward", scope = "attn"}
// CHECK-NEXT: %[[ADD_N:.*]] = weft.add_n %[[DQ]], %[[DK]], %[[DV]]
// CHECK-NEXT: %[[RESHAPE2:.*]] = weft.reshape %[[ADD_N]] [2, 4, 8] {phase = "backward"}
// CHECK-NEXT: %[[DINPUT:.*]], %[[DWEIGHT:.*]] = weft.rms_norm_grad %[[RESHAPE2]], %[[RESULT]], %[[W]], %[[STATISTICS1]] {phase = "backward", scope = "rms"}
// CHECK-NEXT: %[[DINPUT1:.*]], %[[DWEIGHT1:.*]], %[[DBIAS:.*]] = weft.layer_norm_grad %[[DINPUT]], %arg0, %[[W]], %[[STATISTICS]]#0, %[[STATISTICS]]#1 {phase = "backward", scope = "ln"}
// CHECK-NEXT: %[[FILL1:.*]] = weft.fill [] value(1.000000e+00)
// CHECK-NEXT: %[[ACCUMULATE:.*]] = weft.accumulate %[[FILL1]]
// CHECK-NEXT: %[[ACCUMULATE1:.*]] = weft.accumulate %[[REDUCE]]
// CHECK-NEXT: %[[DIV:.*]] = weft.div %[[ACCUMULATE1]], %[[ACCUMULATE]]
// CHECK-NEXT: weft.output "loss" metric %[[DIV]]
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[DWEIGHT]], %[[DWEIGHT1]] {phase = "backward"}
// CHECK-NEXT: %[[ACCUMULATE2:.*]] = weft.accumulate %[[ADD]] {phase = "backward"}
// CHECK-NEXT: weft.update %[[W]] with %[[ACCUMULATE2]] per %[[ACCUMULATE]] {phase = "backward"}
// CHECK-NEXT: %[[ACCUMULATE3:.*]] = weft.accumulate %[[DBIAS]] {phase = "backward"}
// CHECK-NEXT: weft.update %[[B]] with %[[ACCUMULATE3]] per %[[ACCUMULATE]] {phase = "backward"}
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @variants("x" %x: tensor<2x4x8xf32>) placements [#one] {
  %w = weft.parameter "w" [8] init(ones) : () -> tensor<8xf32>
  %b = weft.parameter "b" [8] init(zeros) : () -> tensor<8xf32>
  %0 = weft.layer_norm %x, %w, %b eps(1.0e-5) {scope = "ln"} : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %1 = weft.rms_norm %0, %w eps(1.0e-5) {scope = "rms"} : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %2 = weft.reshape %1 [2, 4, 2, 4] : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
  %3 = weft.attention %2, %2, %2 causal {scope = "attn"} : (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x4x2x4xf32>
  %loss = weft.reduce sum %3 over [0, 1, 2, 3] : (tensor<2x4x2x4xf32>) -> tensor<f32>
  weft.minimize %loss : (tensor<f32>)
}

// -----

// A graph without weft.minimize is left as it is.
// CHECK-LABEL: weft.graph @function
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [4] init(zeros)
// CHECK-NEXT: %[[MUL:.*]] = weft.mul %arg0, %[[W]]
// CHECK-NEXT: weft.output "y" %[[MUL]]
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @function("x" %x: tensor<4xf32>) placements [#one] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %0 : (tensor<4xf32>)
}

// -----

// Backward ops live where their forward op lives; a parameter is accumulated and updated on its own placement.
// CHECK-LABEL: weft.graph @stages
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [4] init(zeros)
// CHECK-NEXT: %[[V:.*]] = weft.parameter "v" [4] init(zeros) {stage = 1 : i64}
// CHECK-NEXT: %[[MUL:.*]] = weft.mul %arg0, %[[W]]
// CHECK-NEXT: %[[TO_GLOBAL:.*]] = weft.to_global %[[MUL]] placement("cpu", [1]) {stage = 1 : i64}
// CHECK-NEXT: %[[MUL1:.*]] = weft.mul %[[TO_GLOBAL]], %[[V]] {stage = 1 : i64}
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce sum %[[MUL1]] over [0] {stage = 1 : i64}
// CHECK-NEXT: %[[FILL:.*]] = weft.fill [] value(1.000000e+00) {loss_seed, stage = 1 : i64}
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[FILL]] [1] {phase = "backward", stage = 1 : i64}
// CHECK-NEXT: %[[BROADCAST_TO:.*]] = weft.broadcast_to %[[RESHAPE]] [4] {phase = "backward", stage = 1 : i64}
// CHECK-NEXT: %[[MUL2:.*]] = weft.mul %[[BROADCAST_TO]], %[[V]] {phase = "backward", stage = 1 : i64}
// CHECK-NEXT: %[[MUL3:.*]] = weft.mul %[[BROADCAST_TO]], %[[TO_GLOBAL]] {phase = "backward", stage = 1 : i64}
// CHECK-NEXT: %[[MUL4:.*]] = weft.mul %[[MUL2]], %[[W]] {phase = "backward"}
// CHECK-NEXT: %[[MUL5:.*]] = weft.mul %[[MUL2]], %arg0 {phase = "backward"}
// CHECK-NEXT: %[[FILL1:.*]] = weft.fill [] value(1.000000e+00) {stage = 1 : i64}
// CHECK-NEXT: %[[ACCUMULATE:.*]] = weft.accumulate %[[FILL1]] {stage = 1 : i64}
// CHECK-NEXT: %[[ACCUMULATE1:.*]] = weft.accumulate %[[REDUCE]] {stage = 1 : i64}
// CHECK-NEXT: %[[DIV:.*]] = weft.div %[[ACCUMULATE1]], %[[ACCUMULATE]] {stage = 1 : i64}
// CHECK-NEXT: weft.output "loss" metric %[[DIV]] {stage = 1 : i64}
// CHECK-NEXT: %[[ACCUMULATE2:.*]] = weft.accumulate %[[MUL5]] {phase = "backward"}
// CHECK-NEXT: weft.update %[[W]] with %[[ACCUMULATE2]] per %[[ACCUMULATE]] {phase = "backward"}
// CHECK-NEXT: %[[ACCUMULATE3:.*]] = weft.accumulate %[[MUL3]] {phase = "backward", stage = 1 : i64}
// CHECK-NEXT: weft.update %[[V]] with %[[ACCUMULATE3]] per %[[ACCUMULATE]] {phase = "backward", stage = 1 : i64}
// CHECK-NEXT: }
#a = #weft.placement<"cpu", [], [0]>
#b = #weft.placement<"cpu", [], [1]>
weft.graph @stages("x" %x: tensor<4xf32>) placements [#a, #b] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %v = weft.parameter "v" [4] init(zeros) {stage = 1 : i64} : () -> tensor<4xf32>
  %0 = weft.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.to_global %0 placement("cpu", [1]) {stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.mul %1, %v {stage = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = weft.reduce sum %2 over [0] {stage = 1 : i64} : (tensor<4xf32>) -> tensor<f32>
  weft.minimize %loss {stage = 1 : i64} : (tensor<f32>)
}

// -----

// A metric of the model becomes its mean over the micro-batches, where it stands.
// CHECK-LABEL: weft.graph @metric
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [4] init(zeros)
// CHECK-NEXT: %[[MUL:.*]] = weft.mul %arg0, %[[W]]
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce sum %[[MUL]] over [0]
// CHECK: %[[SUM:.*]] = weft.accumulate %[[REDUCE]] {scope = "h.0"}
// CHECK: %[[ONE:.*]] = weft.fill [] value(1.000000e+00) {scope = "h.0"}
// CHECK-NEXT: %[[COUNT:.*]] = weft.accumulate %[[ONE]] {scope = "h.0"}
// CHECK-NEXT: %[[MEAN:.*]] = weft.div %[[SUM]], %[[COUNT]] {scope = "h.0"}
// CHECK-NEXT: weft.output "m" metric %[[MEAN]] {scope = "h.0"}
// CHECK-NOT: weft.output "m"
#one = #weft.placement<"cpu", [], [0]>
weft.graph @metric("x" %x: tensor<4xf32>) placements [#one] micro_batches 2 {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = weft.reduce sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
  weft.output "m" metric %loss {scope = "h.0"} : (tensor<f32>)
  weft.minimize %loss : (tensor<f32>)
}

// -----

// One that is made of sums over the micro-batches stays what it is.
// CHECK-LABEL: weft.graph @metric_of_the_step
// CHECK: %[[SUM:.*]] = weft.accumulate
// CHECK-NEXT: %[[SQUARE:.*]] = weft.square %[[SUM]]
// CHECK-NEXT: weft.output "m" metric %[[SQUARE]]
#one = #weft.placement<"cpu", [], [0]>
weft.graph @metric_of_the_step("x" %x: tensor<4xf32>) placements [#one] micro_batches 2 {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = weft.reduce sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
  %sum = weft.accumulate %loss : (tensor<f32>) -> tensor<f32>
  %square = weft.square %sum : (tensor<f32>) -> tensor<f32>
  weft.output "m" metric %square : (tensor<f32>)
  weft.minimize %loss : (tensor<f32>)
}
