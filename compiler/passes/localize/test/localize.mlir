// RUN: weft-opt %s --weft-localize -split-input-file | FileCheck %s

// Inputs are read by kernels; parameters say how they start; attributes of ops become constants; an output is a kernel.
// Buffers are named by scope and op.
// CHECK-LABEL: task.program @stage0
// CHECK-NEXT: %[[X:.*]] = task.buffer "input/x" input : <tensor<4x2xf32, #weft.sbp<S(0)>>>
// CHECK-NEXT: task.kernel "input" outs(%[[X]] : !task.buffer<tensor<4x2xf32, #weft.sbp<S(0)>>>) {name = "x"} micro {scope = "batch"}
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" parameter init "fill" {value = 0.000000e+00 : f64} stored [2, 1] : <tensor<2xf32, #weft.sbp<B>>>
// CHECK-NEXT: %[[B:.*]] = task.buffer "b" optimizer init "fill" {value = 1.000000e+00 : f64} : <tensor<2xf32, #weft.sbp<B>>>
// CHECK-NEXT: %[[C:.*]] = task.buffer "c" parameter init "fill" {value = 5.000000e-01 : f64} : <tensor<2xf32, #weft.sbp<B>>>
// CHECK-NEXT: %[[D:.*]] = task.buffer "d" parameter init "random_normal" {mean = 0.000000e+00 : f64, seed = 7 : i64, std = 2.000000e-02 : f64} : <tensor<2xf32, #weft.sbp<B>>>
// CHECK-NEXT: %[[E:.*]] = task.buffer "e" parameter init "random_uniform" {high = 1.000000e+00 : f64, low = -1.000000e+00 : f64, seed = 0 : i64} : <tensor<2xf32, #weft.sbp<B>>>
// CHECK-NEXT: %[[ADD:.*]] = task.buffer "h.0.mlp/add.0" activation : <tensor<4x2xf32, #weft.sbp<S(0)>>>
// CHECK-NEXT: task.kernel "add" ins(%[[X]], %[[A]] : !task.buffer<tensor<4x2xf32, #weft.sbp<S(0)>>>, !task.buffer<tensor<2xf32, #weft.sbp<B>>>) outs(%[[ADD]] : !task.buffer<tensor<4x2xf32, #weft.sbp<S(0)>>>) {} micro in_place [0] {scope = "h.0.mlp"}
// CHECK-NEXT: %[[SCALE:.*]] = task.buffer "h.0.mlp/scale.1" activation : <tensor<4x2xf32, #weft.sbp<S(0)>>>
// CHECK-NEXT: task.kernel "scale" ins(%[[ADD]] : !task.buffer<tensor<4x2xf32, #weft.sbp<S(0)>>>) outs(%[[SCALE]] : !task.buffer<tensor<4x2xf32, #weft.sbp<S(0)>>>) {factor = 3.000000e+00 : f64} micro in_place [0] {phase = "backward", scope = "h.0.mlp"}
// CHECK-NEXT: task.kernel "output" ins(%[[SCALE]] : !task.buffer<tensor<4x2xf32, #weft.sbp<S(0)>>>) {name = "y"} micro
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @function("x" %x: tensor<4x2xf32, #weft.sbp<S(0)>>) placements [#mesh] {
  %a = weft.parameter "a" [2] stored [2, 1] init(zeros) : () -> tensor<2xf32, #weft.sbp<B>>
  %b = weft.parameter "b" [2] init(ones) state : () -> tensor<2xf32, #weft.sbp<B>>
  %c = weft.parameter "c" [2] init(constant 0.5) : () -> tensor<2xf32, #weft.sbp<B>>
  %d = weft.parameter "d" [2] init(normal 0.02) {seed = 7 : i64} : () -> tensor<2xf32, #weft.sbp<B>>
  %e = weft.parameter "e" [2] init(uniform -1.0 1.0) : () -> tensor<2xf32, #weft.sbp<B>>
  %0 = weft.add %x, %a {scope = "h.0.mlp"} : (tensor<4x2xf32, #weft.sbp<S(0)>>, tensor<2xf32, #weft.sbp<B>>) -> tensor<4x2xf32, #weft.sbp<S(0)>>
  %1 = weft.scale %0 by(3.0) {phase = "backward", scope = "h.0.mlp"} : (tensor<4x2xf32, #weft.sbp<S(0)>>) -> tensor<4x2xf32, #weft.sbp<S(0)>>
  weft.output "y" %1 : (tensor<4x2xf32, #weft.sbp<S(0)>>)
}

// -----
// A reshape is another view of the same bytes.
// CHECK-LABEL: task.program @stage0
// CHECK-NEXT: %[[X:.*]] = task.buffer "input/x" input : <tensor<4x6xf32, #weft.sbp<S(1)>>>
// CHECK-NEXT: task.kernel "input" outs(%[[X]] : !task.buffer<tensor<4x6xf32, #weft.sbp<S(1)>>>) {name = "x"} micro {scope = "batch"}
// CHECK-NEXT: %[[ALIAS:.*]] = task.alias %[[X]] : <tensor<4x6xf32, #weft.sbp<S(1)>>> as <tensor<4x2x3xf32, #weft.sbp<S(1)>>>
// CHECK-NEXT: %[[NEG:.*]] = task.buffer "neg.0" activation : <tensor<4x2x3xf32, #weft.sbp<S(1)>>>
// CHECK-NEXT: task.kernel "neg" ins(%[[ALIAS]] : !task.buffer<tensor<4x2x3xf32, #weft.sbp<S(1)>>>) outs(%[[NEG]] : !task.buffer<tensor<4x2x3xf32, #weft.sbp<S(1)>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "output" ins(%[[NEG]] : !task.buffer<tensor<4x2x3xf32, #weft.sbp<S(1)>>>) {name = "y"} micro
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @reshape("x" %x: tensor<4x6xf32, #weft.sbp<S(1)>>) placements [#mesh] {
  %0 = weft.reshape %x [4, 2, 3] : (tensor<4x6xf32, #weft.sbp<S(1)>>) -> tensor<4x2x3xf32, #weft.sbp<S(1)>>
  %1 = weft.neg %0 : (tensor<4x2x3xf32, #weft.sbp<S(1)>>) -> tensor<4x2x3xf32, #weft.sbp<S(1)>>
  weft.output "y" %1 : (tensor<4x2x3xf32, #weft.sbp<S(1)>>)
}

// -----
// Over one micro-batch there is nothing to accumulate. An update happens in place: the assignment is gone. What follows
// the sum happens once a step, and a metric is told.
// CHECK-LABEL: task.program @stage0
// CHECK-NEXT: %[[G:.*]] = task.buffer "input/g" input : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "input" outs(%[[G]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {name = "g"} micro {scope = "batch"}
// CHECK-NEXT: %[[LR:.*]] = task.buffer "input/lr" input : <tensor<f32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "input" outs(%[[LR]] : !task.buffer<tensor<f32, #weft.sbp<>>>) {name = "lr"} micro {scope = "batch"}
// CHECK-NEXT: %[[W:.*]] = task.buffer "w" parameter init "fill" {value = 0.000000e+00 : f64} : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[MUL:.*]] = task.buffer "mul.0" gradient : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "mul" ins(%[[G]], %[[W]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>, !task.buffer<tensor<8xf32, #weft.sbp<>>>) outs(%[[MUL]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: %[[SQUARE_SUM:.*]] = task.buffer "square_sum.1" activation : <tensor<f32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "square_sum" ins(%[[MUL]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) outs(%[[SQUARE_SUM]] : !task.buffer<tensor<f32, #weft.sbp<>>>) {} step
// CHECK-NEXT: task.metric "norm" %[[SQUARE_SUM]] : <tensor<f32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "sgd" ins(%[[W]], %[[MUL]], %[[LR]], %[[LR]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>, !task.buffer<tensor<8xf32, #weft.sbp<>>>, !task.buffer<tensor<f32, #weft.sbp<>>>, !task.buffer<tensor<f32, #weft.sbp<>>>) outs(%[[W]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {weight_decay = 0.000000e+00 : f64} step in_place [0] {phase = "update", scope = "optimizer"}
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @one_micro_batch("g" %g: tensor<8xf32, #weft.sbp<>>, "lr" %lr: tensor<f32, #weft.sbp<>>) placements [#one] {
  %w = weft.parameter "w" [8] init(zeros) : () -> tensor<8xf32, #weft.sbp<>>
  %0 = weft.mul %g, %w : (tensor<8xf32, #weft.sbp<>>, tensor<8xf32, #weft.sbp<>>) -> tensor<8xf32, #weft.sbp<>>
  %1 = weft.accumulate %0 : (tensor<8xf32, #weft.sbp<>>) -> tensor<8xf32, #weft.sbp<>>
  %2 = weft.square_sum %1 : (tensor<8xf32, #weft.sbp<>>) -> tensor<f32, #weft.sbp<>>
  weft.output "norm" metric %2 : (tensor<f32, #weft.sbp<>>)
  %3 = weft.sgd %w, %1, %lr, %lr weight_decay(0.0) {phase = "update", scope = "optimizer"} : (tensor<8xf32, #weft.sbp<>>, tensor<8xf32, #weft.sbp<>>, tensor<f32, #weft.sbp<>>, tensor<f32, #weft.sbp<>>) -> tensor<8xf32, #weft.sbp<>>
  weft.assign %w, %3 {phase = "update", scope = "optimizer"} : (tensor<8xf32, #weft.sbp<>>, tensor<8xf32, #weft.sbp<>>)
}

// -----
// Over several micro-batches the sum has a buffer of its own, read and written by a kernel in the micro section.
// CHECK-LABEL: task.program @stage0
// CHECK-NEXT: %[[G:.*]] = task.buffer "input/g" input : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "input" outs(%[[G]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {name = "g"} micro {scope = "batch"}
// CHECK-NEXT: %[[NEG:.*]] = task.buffer "head/neg.0" activation : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "neg" ins(%[[G]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) outs(%[[NEG]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {} micro in_place [0] {phase = "backward", scope = "head"}
// CHECK-NEXT: %[[ACCUMULATE:.*]] = task.buffer "head/accumulate.1" gradient : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "accumulate" ins(%[[NEG]], %[[ACCUMULATE]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>, !task.buffer<tensor<8xf32, #weft.sbp<>>>) outs(%[[ACCUMULATE]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {} micro {phase = "backward", scope = "head"}
// CHECK-NEXT: %[[SQUARE_SUM:.*]] = task.buffer "optimizer/square_sum.2" gradient : <tensor<f32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "square_sum" ins(%[[ACCUMULATE]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) outs(%[[SQUARE_SUM]] : !task.buffer<tensor<f32, #weft.sbp<>>>) {} step {phase = "update", scope = "optimizer"}
// CHECK-NEXT: task.metric "norm" %[[SQUARE_SUM]] : <tensor<f32, #weft.sbp<>>>
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @micro_batches("g" %g: tensor<8xf32, #weft.sbp<>>) placements [#one] micro_batches 4 {
  %0 = weft.neg %g {phase = "backward", scope = "head"} : (tensor<8xf32, #weft.sbp<>>) -> tensor<8xf32, #weft.sbp<>>
  %1 = weft.accumulate %0 {phase = "backward", scope = "head"} : (tensor<8xf32, #weft.sbp<>>) -> tensor<8xf32, #weft.sbp<>>
  %2 = weft.square_sum %1 {phase = "update", scope = "optimizer"} : (tensor<8xf32, #weft.sbp<>>) -> tensor<f32, #weft.sbp<>>
  weft.output "norm" metric %2 : (tensor<f32, #weft.sbp<>>)
}

// -----
// Somebody reads the old value behind the update: the new one is made elsewhere and copied at the end, behind the reader.
// CHECK-LABEL: task.program @stage0
// CHECK-NEXT: %[[G:.*]] = task.buffer "input/g" input : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "input" outs(%[[G]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {name = "g"} micro {scope = "batch"}
// CHECK-NEXT: %[[LR:.*]] = task.buffer "input/lr" input : <tensor<f32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "input" outs(%[[LR]] : !task.buffer<tensor<f32, #weft.sbp<>>>) {name = "lr"} micro {scope = "batch"}
// CHECK-NEXT: %[[W:.*]] = task.buffer "w" parameter init "fill" {value = 0.000000e+00 : f64} : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[SGD:.*]] = task.buffer "sgd.0" activation : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "sgd" ins(%[[W]], %[[G]], %[[LR]], %[[LR]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>, !task.buffer<tensor<8xf32, #weft.sbp<>>>, !task.buffer<tensor<f32, #weft.sbp<>>>, !task.buffer<tensor<f32, #weft.sbp<>>>) outs(%[[SGD]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {weight_decay = 0.000000e+00 : f64} micro in_place [0]
// CHECK-NEXT: %[[NEG:.*]] = task.buffer "neg.1" activation : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "neg" ins(%[[W]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) outs(%[[NEG]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "output" ins(%[[NEG]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {name = "old"} micro
// CHECK-NEXT: task.kernel "copy" ins(%[[SGD]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) outs(%[[W]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @later_reader("g" %g: tensor<8xf32, #weft.sbp<>>, "lr" %lr: tensor<f32, #weft.sbp<>>) placements [#one] {
  %w = weft.parameter "w" [8] init(zeros) : () -> tensor<8xf32, #weft.sbp<>>
  %0 = weft.sgd %w, %g, %lr, %lr weight_decay(0.0) : (tensor<8xf32, #weft.sbp<>>, tensor<8xf32, #weft.sbp<>>, tensor<f32, #weft.sbp<>>, tensor<f32, #weft.sbp<>>) -> tensor<8xf32, #weft.sbp<>>
  weft.assign %w, %0 : (tensor<8xf32, #weft.sbp<>>, tensor<8xf32, #weft.sbp<>>)
  %1 = weft.neg %w : (tensor<8xf32, #weft.sbp<>>) -> tensor<8xf32, #weft.sbp<>>
  weft.output "old" %1 : (tensor<8xf32, #weft.sbp<>>)
}

// -----
// Reading an alias behind the update is reading too; reading the parameter before it is harmless.
// CHECK-LABEL: task.program @stage0
// CHECK-NEXT: %[[G:.*]] = task.buffer "input/g" input : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "input" outs(%[[G]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {name = "g"} micro {scope = "batch"}
// CHECK-NEXT: %[[LR:.*]] = task.buffer "input/lr" input : <tensor<f32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "input" outs(%[[LR]] : !task.buffer<tensor<f32, #weft.sbp<>>>) {name = "lr"} micro {scope = "batch"}
// CHECK-NEXT: %[[W:.*]] = task.buffer "w" parameter init "fill" {value = 0.000000e+00 : f64} : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[V:.*]] = task.buffer "v" parameter init "fill" {value = 0.000000e+00 : f64} : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[ALIAS:.*]] = task.alias %[[W]] : <tensor<8xf32, #weft.sbp<>>> as <tensor<2x4xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[NEG:.*]] = task.buffer "neg.0" activation : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "neg" ins(%[[V]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) outs(%[[NEG]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: %[[SGD:.*]] = task.buffer "sgd.1" activation : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "sgd" ins(%[[W]], %[[G]], %[[LR]], %[[LR]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>, !task.buffer<tensor<8xf32, #weft.sbp<>>>, !task.buffer<tensor<f32, #weft.sbp<>>>, !task.buffer<tensor<f32, #weft.sbp<>>>) outs(%[[SGD]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {weight_decay = 0.000000e+00 : f64} micro in_place [0]
// CHECK-NEXT: task.kernel "sgd" ins(%[[V]], %[[G]], %[[LR]], %[[LR]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>, !task.buffer<tensor<8xf32, #weft.sbp<>>>, !task.buffer<tensor<f32, #weft.sbp<>>>, !task.buffer<tensor<f32, #weft.sbp<>>>) outs(%[[V]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {weight_decay = 0.000000e+00 : f64} micro in_place [0]
// CHECK-NEXT: %[[NEG1:.*]] = task.buffer "neg.2" activation : <tensor<2x4xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "neg" ins(%[[ALIAS]] : !task.buffer<tensor<2x4xf32, #weft.sbp<>>>) outs(%[[NEG1]] : !task.buffer<tensor<2x4xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "output" ins(%[[NEG1]] : !task.buffer<tensor<2x4xf32, #weft.sbp<>>>) {name = "old"} micro
// CHECK-NEXT: task.kernel "output" ins(%[[NEG]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {name = "v"} micro
// CHECK-NEXT: task.kernel "copy" ins(%[[SGD]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) outs(%[[W]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @later_reader_of_alias("g" %g: tensor<8xf32, #weft.sbp<>>, "lr" %lr: tensor<f32, #weft.sbp<>>) placements [#one] {
  %w = weft.parameter "w" [8] init(zeros) : () -> tensor<8xf32, #weft.sbp<>>
  %v = weft.parameter "v" [8] init(zeros) : () -> tensor<8xf32, #weft.sbp<>>
  %0 = weft.reshape %w [2, 4] : (tensor<8xf32, #weft.sbp<>>) -> tensor<2x4xf32, #weft.sbp<>>
  %1 = weft.neg %v : (tensor<8xf32, #weft.sbp<>>) -> tensor<8xf32, #weft.sbp<>>
  %2 = weft.sgd %w, %g, %lr, %lr weight_decay(0.0) : (tensor<8xf32, #weft.sbp<>>, tensor<8xf32, #weft.sbp<>>, tensor<f32, #weft.sbp<>>, tensor<f32, #weft.sbp<>>) -> tensor<8xf32, #weft.sbp<>>
  %3 = weft.sgd %v, %g, %lr, %lr weight_decay(0.0) : (tensor<8xf32, #weft.sbp<>>, tensor<8xf32, #weft.sbp<>>, tensor<f32, #weft.sbp<>>, tensor<f32, #weft.sbp<>>) -> tensor<8xf32, #weft.sbp<>>
  weft.assign %w, %2 : (tensor<8xf32, #weft.sbp<>>, tensor<8xf32, #weft.sbp<>>)
  weft.assign %v, %3 : (tensor<8xf32, #weft.sbp<>>, tensor<8xf32, #weft.sbp<>>)
  %4 = weft.neg %0 : (tensor<2x4xf32, #weft.sbp<>>) -> tensor<2x4xf32, #weft.sbp<>>
  weft.output "old" %4 : (tensor<2x4xf32, #weft.sbp<>>)
  weft.output "v" %1 : (tensor<8xf32, #weft.sbp<>>)
}

// -----
// A value that does not come from an update in place is copied.
// CHECK-LABEL: task.program @stage0
// CHECK-NEXT: %[[G:.*]] = task.buffer "input/g" input : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "input" outs(%[[G]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {name = "g"} micro {scope = "batch"}
// CHECK-NEXT: %[[W:.*]] = task.buffer "w" parameter init "fill" {value = 0.000000e+00 : f64} : <tensor<8xf32, #weft.sbp<>>>
// CHECK-NEXT: task.kernel "copy" ins(%[[G]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) outs(%[[W]] : !task.buffer<tensor<8xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @assign("g" %g: tensor<8xf32, #weft.sbp<>>) placements [#one] {
  %w = weft.parameter "w" [8] init(zeros) : () -> tensor<8xf32, #weft.sbp<>>
  weft.assign %w, %g : (tensor<8xf32, #weft.sbp<>>, tensor<8xf32, #weft.sbp<>>)
}

// -----
// Each primitive step of boxing: four collectives, pending maxima, all axes at once; slice and pad by copying a tile, a
// mask by rank, and a relabelling that is an alias.
// CHECK-LABEL: task.program @stage0
// CHECK-NEXT: %[[S:.*]] = task.buffer "input/s" input : <tensor<8x4xf32, #weft.sbp<B, S(0)>>>
// CHECK-NEXT: task.kernel "input" outs(%[[S]] : !task.buffer<tensor<8x4xf32, #weft.sbp<B, S(0)>>>) {name = "s"} micro {scope = "batch"}
// CHECK-NEXT: %[[P:.*]] = task.buffer "input/p" input : <tensor<8x4xf32, #weft.sbp<P, P>>>
// CHECK-NEXT: task.kernel "input" outs(%[[P]] : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>) {name = "p"} micro {scope = "batch"}
// CHECK-NEXT: %[[M:.*]] = task.buffer "input/m" input : <tensor<8x4xf32, #weft.sbp<B, P(max)>>>
// CHECK-NEXT: task.kernel "input" outs(%[[M]] : !task.buffer<tensor<8x4xf32, #weft.sbp<B, P(max)>>>) {name = "m"} micro {scope = "batch"}
// CHECK-NEXT: %[[B:.*]] = task.buffer "input/b" input : <tensor<8x4xf32, #weft.sbp<B, B>>>
// CHECK-NEXT: task.kernel "input" outs(%[[B]] : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>) {name = "b"} micro {scope = "batch"}
// CHECK-NEXT: %[[BOX:.*]] = task.buffer "box.0" communication : <tensor<8x4xf32, #weft.sbp<B, B>>>
// CHECK-NEXT: task.collective all_gather [1] dim 0 %[[S]] to %[[BOX]] micro : <tensor<8x4xf32, #weft.sbp<B, S(0)>>>, <tensor<8x4xf32, #weft.sbp<B, B>>>
// CHECK-NEXT: %[[BOX1:.*]] = task.buffer "box.1" communication : <tensor<8x4xf32, #weft.sbp<B, S(1)>>>
// CHECK-NEXT: task.collective all_to_all [1] dim 0 split 1 %[[S]] to %[[BOX1]] micro : <tensor<8x4xf32, #weft.sbp<B, S(0)>>>, <tensor<8x4xf32, #weft.sbp<B, S(1)>>>
// CHECK-NEXT: %[[BOX2:.*]] = task.buffer "box.2" communication : <tensor<8x4xf32, #weft.sbp<B, P>>>
// CHECK-NEXT: task.kernel "copy_tile" ins(%[[S]] : !task.buffer<tensor<8x4xf32, #weft.sbp<B, S(0)>>>) outs(%[[BOX2]] : !task.buffer<tensor<8x4xf32, #weft.sbp<B, P>>>) {} micro
// CHECK-NEXT: %[[BOX3:.*]] = task.buffer "h.0/box.3" communication : <tensor<8x4xf32, #weft.sbp<B, B>>>
// CHECK-NEXT: task.collective all_reduce [0, 1] %[[P]] to %[[BOX3]] micro {phase = "backward", scope = "h.0"} : <tensor<8x4xf32, #weft.sbp<P, P>>>, <tensor<8x4xf32, #weft.sbp<B, B>>>
// CHECK-NEXT: %[[BOX4:.*]] = task.buffer "box.4" communication : <tensor<8x4xf32, #weft.sbp<P, S(1)>>>
// CHECK-NEXT: task.collective reduce_scatter [1] dim 1 %[[P]] to %[[BOX4]] micro : <tensor<8x4xf32, #weft.sbp<P, P>>>, <tensor<8x4xf32, #weft.sbp<P, S(1)>>>
// CHECK-NEXT: %[[BOX5:.*]] = task.buffer "box.5" communication : <tensor<8x4xf32, #weft.sbp<B, B>>>
// CHECK-NEXT: task.collective all_reduce [1] max %[[M]] to %[[BOX5]] micro : <tensor<8x4xf32, #weft.sbp<B, P(max)>>>, <tensor<8x4xf32, #weft.sbp<B, B>>>
// CHECK-NEXT: %[[BOX6:.*]] = task.buffer "box.6" communication : <tensor<8x4xf32, #weft.sbp<B, S(0)>>>
// CHECK-NEXT: task.collective reduce_scatter [1] max dim 0 %[[M]] to %[[BOX6]] micro : <tensor<8x4xf32, #weft.sbp<B, P(max)>>>, <tensor<8x4xf32, #weft.sbp<B, S(0)>>>
// CHECK-NEXT: %[[BOX7:.*]] = task.buffer "box.7" communication : <tensor<8x4xf32, #weft.sbp<S(0), B>>>
// CHECK-NEXT: task.kernel "copy_tile" ins(%[[B]] : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>) outs(%[[BOX7]] : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>) {} micro
// CHECK-NEXT: %[[BOX8:.*]] = task.buffer "box.8" communication : <tensor<8x4xf32, #weft.sbp<B, P>>>
// CHECK-NEXT: task.kernel "mask_rank" ins(%[[B]] : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>) outs(%[[BOX8]] : !task.buffer<tensor<8x4xf32, #weft.sbp<B, P>>>) {axes = array<i64: 1>} micro
// CHECK-NEXT: %[[ALIAS:.*]] = task.alias %[[B]] : <tensor<8x4xf32, #weft.sbp<B, B>>> as <tensor<8x4xf32, #weft.sbp<B, P(max)>>>
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @boxes("s" %s: tensor<8x4xf32, #weft.sbp<B, S(0)>>, "p" %p: tensor<8x4xf32, #weft.sbp<P, P>>, "m" %m: tensor<8x4xf32, #weft.sbp<B, P(max)>>, "b" %b: tensor<8x4xf32, #weft.sbp<B, B>>) placements [#mesh] {
  %0 = weft.box %s : (tensor<8x4xf32, #weft.sbp<B, S(0)>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
  %1 = weft.box %s : (tensor<8x4xf32, #weft.sbp<B, S(0)>>) -> tensor<8x4xf32, #weft.sbp<B, S(1)>>
  %2 = weft.box %s : (tensor<8x4xf32, #weft.sbp<B, S(0)>>) -> tensor<8x4xf32, #weft.sbp<B, P>>
  %3 = weft.box %p {phase = "backward", scope = "h.0"} : (tensor<8x4xf32, #weft.sbp<P, P>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
  %4 = weft.box %p : (tensor<8x4xf32, #weft.sbp<P, P>>) -> tensor<8x4xf32, #weft.sbp<P, S(1)>>
  %5 = weft.box %m : (tensor<8x4xf32, #weft.sbp<B, P(max)>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
  %6 = weft.box %m : (tensor<8x4xf32, #weft.sbp<B, P(max)>>) -> tensor<8x4xf32, #weft.sbp<B, S(0)>>
  %7 = weft.box %b : (tensor<8x4xf32, #weft.sbp<B, B>>) -> tensor<8x4xf32, #weft.sbp<S(0), B>>
  %8 = weft.box %b : (tensor<8x4xf32, #weft.sbp<B, B>>) -> tensor<8x4xf32, #weft.sbp<B, P>>
  %9 = weft.box %b : (tensor<8x4xf32, #weft.sbp<B, B>>) -> tensor<8x4xf32, #weft.sbp<B, P(max)>>
}

// -----
// One program a placement; a box to another one is a send here and a receive there, with one number.
// CHECK-LABEL: task.program @stage0
// CHECK-NEXT: %[[X:.*]] = task.buffer "input/x" input : <tensor<8x4xf32, #weft.sbp<S(0)>>>
// CHECK-NEXT: task.kernel "input" outs(%[[X]] : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0)>>>) {name = "x"} micro {scope = "batch"}
// CHECK-NEXT: %[[NEG:.*]] = task.buffer "h.0/neg.0" activation : <tensor<8x4xf32, #weft.sbp<S(0)>>>
// CHECK-NEXT: task.kernel "neg" ins(%[[X]] : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0)>>>) outs(%[[NEG]] : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0)>>>) {} micro in_place [0] {scope = "h.0"}
// CHECK-NEXT: task.send 0 %[[NEG]] micro {scope = "h.0"} : <tensor<8x4xf32, #weft.sbp<S(0)>>>
// CHECK-NEXT: %[[BOX:.*]] = task.buffer "h.2/box.3" communication : <tensor<8x4xf32, #weft.sbp<S(0)>>>
// CHECK-NEXT: task.receive 1 %[[BOX]] micro {scope = "h.2"} : <tensor<8x4xf32, #weft.sbp<S(0)>>>
// CHECK-NEXT: task.kernel "output" ins(%[[BOX]] : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0)>>>) {name = "y"} micro
// CHECK-NEXT: }
// CHECK-LABEL: task.program @stage1
// CHECK-NEXT: %[[BOX:.*]] = task.buffer "h.1/box.1" communication : <tensor<8x4xf32, #weft.sbp<S(1)>>>
// CHECK-NEXT: task.receive 0 %[[BOX]] micro {scope = "h.1"} : <tensor<8x4xf32, #weft.sbp<S(1)>>>
// CHECK-NEXT: %[[NEG:.*]] = task.buffer "h.1/neg.2" activation : <tensor<8x4xf32, #weft.sbp<S(1)>>>
// CHECK-NEXT: task.kernel "neg" ins(%[[BOX]] : !task.buffer<tensor<8x4xf32, #weft.sbp<S(1)>>>) outs(%[[NEG]] : !task.buffer<tensor<8x4xf32, #weft.sbp<S(1)>>>) {} micro in_place [0] {scope = "h.1"}
// CHECK-NEXT: task.send 1 %[[NEG]] micro {scope = "h.1"} : <tensor<8x4xf32, #weft.sbp<S(1)>>>
// CHECK-NEXT: }
#a = #weft.placement<"cpu", [data = 2], [0, 1]>
#b = #weft.placement<"cpu", [data = 2], [2, 3]>
weft.graph @stages("x" %x: tensor<8x4xf32, #weft.sbp<S(0)>>) placements [#a, #b] {
  %0 = weft.neg %x {scope = "h.0"} : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
  %1 = weft.box %0 {scope = "h.1", stage = 1 : i64} : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
  %2 = weft.neg %1 {scope = "h.1", stage = 1 : i64} : (tensor<8x4xf32, #weft.sbp<S(1)>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
  %3 = weft.box %2 {scope = "h.2"} : (tensor<8x4xf32, #weft.sbp<S(1)>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
  weft.output "y" %3 : (tensor<8x4xf32, #weft.sbp<S(0)>>)
}

// -----
// Two parameters are swapped: what each becomes is put aside before either is overwritten. A parameter that becomes
// itself needs nothing, one that nobody overwrites no place aside.
// CHECK-LABEL: task.program @stage0
// CHECK-DAG: %[[A:.*]] = task.buffer "a" parameter
// CHECK-DAG: %[[B:.*]] = task.buffer "b" parameter
// CHECK-DAG: %[[C:.*]] = task.buffer "c" parameter
// CHECK-DAG: %[[D:.*]] = task.buffer "d" parameter
// CHECK: %[[NEW_A:.*]] = task.buffer "assign.0" activation
// CHECK-NEXT: task.kernel "copy" ins(%[[B]] : {{.*}} outs(%[[NEW_A]] :
// CHECK-NEXT: %[[NEW_B:.*]] = task.buffer "assign.1" activation
// CHECK-NEXT: task.kernel "copy" ins(%[[A]] : {{.*}} outs(%[[NEW_B]] :
// CHECK-NEXT: task.kernel "copy" ins(%[[NEW_A]] : {{.*}} outs(%[[A]] :
// CHECK-NEXT: task.kernel "copy" ins(%[[NEW_B]] : {{.*}} outs(%[[B]] :
// CHECK-NEXT: task.kernel "copy" ins(%[[D]] : {{.*}} outs(%[[C]] :
// CHECK-NEXT: {{^ *[}]}}
#one = #weft.placement<"cpu", [], [0]>
!w = tensor<8xf32, #weft.sbp<>>
weft.graph @swap() placements [#one] {
  %a = weft.parameter "a" [8] init(zeros) : () -> !w
  %b = weft.parameter "b" [8] init(ones) : () -> !w
  %c = weft.parameter "c" [8] init(ones) : () -> !w
  %d = weft.parameter "d" [8] init(ones) : () -> !w
  weft.assign %a, %b : (!w, !w)
  weft.assign %b, %a : (!w, !w)
  weft.assign %c, %d : (!w, !w)
  weft.assign %d, %d : (!w, !w)
}

// -----
// A shift and a zigzag are collectives along the dimension that their axis splits.
// CHECK-LABEL: task.program @stage0
// CHECK: %[[X:.*]] = task.buffer "input/x" input
// CHECK: %[[SHIFT:.*]] = task.buffer "h.0/shift.0" communication : <tensor<8x4xf32, #weft.sbp<B, S(1)>>>
// CHECK-NEXT: task.collective shift [1] dim 1 by 1 %[[X]] to %[[SHIFT]] micro {scope = "h.0"} : <tensor<8x4xf32, #weft.sbp<B, S(1)>>>, <tensor<8x4xf32, #weft.sbp<B, S(1)>>>
// CHECK-NEXT: %[[ZIGZAG:.*]] = task.buffer "h.0/zigzag.1" communication : <tensor<8x4xf32, #weft.sbp<B, S(1)>>>
// CHECK-NEXT: task.collective zigzag [1] dim 1 back %[[SHIFT]] to %[[ZIGZAG]] micro {scope = "h.0"} : <tensor<8x4xf32, #weft.sbp<B, S(1)>>>, <tensor<8x4xf32, #weft.sbp<B, S(1)>>>
#mesh = #weft.placement<"cpu", [data = 2, context = 2], [0, 1, 2, 3]>
weft.graph @function("x" %x: tensor<8x4xf32, #weft.sbp<B, S(1)>>) placements [#mesh] {
  %0 = weft.shift %x axis(1) by(1) {scope = "h.0"} : (tensor<8x4xf32, #weft.sbp<B, S(1)>>) -> tensor<8x4xf32, #weft.sbp<B, S(1)>>
  %1 = weft.zigzag %0 axis(1) back {scope = "h.0"} : (tensor<8x4xf32, #weft.sbp<B, S(1)>>) -> tensor<8x4xf32, #weft.sbp<B, S(1)>>
  weft.output "y" %1 : (tensor<8x4xf32, #weft.sbp<B, S(1)>>)
}
