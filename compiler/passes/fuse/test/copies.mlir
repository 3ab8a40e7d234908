// RUN: weft-opt %s --weft-fuse-copies -split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-fuse-copies=updates=false -split-input-file | FileCheck %s --check-prefix=APART

// With several micro-batches an update is followed by the cast, which reads what it has made; the copy is kept.
// APART-LABEL: task.program @sums
// APART: task.kernel "cast" ins(%{{.*}}) outs(%{{.*}}) {to = bf16} begin
// CHECK-LABEL: task.program @sums
// CHECK: %[[W:.*]] = task.buffer "w" parameter init "fill" {value = 1.000000e+00 : f64} : <tensor<8x4xf32
// CHECK: %[[N:.*]] = task.buffer "w/bf16" working init "cast" {of = "w"} : <tensor<8x4xbf16
// CHECK-NOT: "cast"
// CHECK: task.kernel "sgd" ins(%[[W]], {{.*}}) outs(%[[W]] : {{.*}} step {phase = "update"}
// CHECK-NEXT: task.kernel "cast" ins(%[[W]] : {{.*}}) outs(%[[N]] : {{.*}}) {to = bf16} step {phase = "update"}
!w = !task.buffer<tensor<8x4xf32, #weft.sbp<>>>
!n = !task.buffer<tensor<8x4xbf16, #weft.sbp<>>>
!x = !task.buffer<tensor<2x8xbf16, #weft.sbp<>>>
!y = !task.buffer<tensor<2x4xbf16, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @sums on #weft.placement<"cpu", [], [0]> micro_batches(2) {
  %w = task.buffer "w" parameter init "fill" {value = 1.0 : f64} : !w
  %n = task.buffer "cast.0" working : !n
  %x = task.buffer "x" input : !x
  %y = task.buffer "y" activation : !y
  %d = task.buffer "d" gradient : !w
  %r = task.buffer "r" gradient : !s
  task.kernel "cast" ins(%w : !w) outs(%n : !n) {to = bf16} begin
  task.kernel "einsum" ins(%x, %n : !x, !n) outs(%y : !y) {} micro
  task.kernel "accumulate_einsum" ins(%x, %y, %d : !x, !y, !w) outs(%d : !w) {} micro {phase = "backward"}
  task.kernel "sgd" ins(%w, %d, %r, %r : !w, !w, !s, !s) outs(%w : !w) {weight_decay = 0.0} step {phase = "update"}
  task.metric "rate" %r : !s
}

// -----
// One micro-batch, where there is most when the gradient is made: it may take over the bytes of the copy.
// CHECK-LABEL: task.program @few
// CHECK: task.buffer "cast.0" working : <
// CHECK: task.kernel "cast" {{.*}} begin
!w = !task.buffer<tensor<8x4xf32, #weft.sbp<>>>
!n = !task.buffer<tensor<8x4xbf16, #weft.sbp<>>>
!x = !task.buffer<tensor<15x4xbf16, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @few on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter : !w
  %n = task.buffer "cast.0" working : !n
  %x = task.buffer "x" activation : !x
  %d = task.buffer "d" gradient : !n
  %r = task.buffer "r" input : !s
  task.kernel "cast" ins(%w : !w) outs(%n : !n) {to = bf16} begin
  task.kernel "einsum" ins(%n : !n) outs(%x : !x) {} micro
  task.kernel "einsum" ins(%x : !x) outs(%d : !n) {} micro {phase = "backward"}
  task.kernel "sgd" ins(%w, %d, %r, %r : !w, !n, !s, !s) outs(%w : !w) {} step {phase = "update"}
}

// -----
// There is as much before, beside the copy.
// CHECK-LABEL: task.program @many
// CHECK: task.buffer "w/bf16" working init "cast" {of = "w"}
// CHECK: task.kernel "cast" {{.*}} step
!w = !task.buffer<tensor<8x4xf32, #weft.sbp<>>>
!n = !task.buffer<tensor<8x4xbf16, #weft.sbp<>>>
!x = !task.buffer<tensor<16x4xbf16, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @many on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter : !w
  %n = task.buffer "cast.0" working : !n
  %x = task.buffer "x" activation : !x
  %d = task.buffer "d" gradient : !n
  %e = task.buffer "e" activation : !n
  %r = task.buffer "r" input : !s
  task.kernel "cast" ins(%w : !w) outs(%n : !n) {to = bf16} begin
  task.kernel "einsum" ins(%n : !n) outs(%x : !x) {} micro
  task.kernel "neg" ins(%n : !n) outs(%e : !n) {} micro
  task.kernel "einsum" ins(%x : !x) outs(%d : !n) {} micro {phase = "backward"}
  task.kernel "sgd" ins(%w, %d, %r, %r : !w, !n, !s, !s) outs(%w : !w) {} step {phase = "update"}
}

// -----
// Shares that are gathered before the micro-batches are there for a moment only.
// CHECK-LABEL: task.program @gathered
// CHECK: task.kernel "cast" {{.*}} begin
!w = !task.buffer<tensor<8x4xf32, #weft.sbp<S(0)>>>
!n = !task.buffer<tensor<8x4xbf16, #weft.sbp<S(0)>>>
!b = !task.buffer<tensor<8x4xbf16, #weft.sbp<B>>>
!s = !task.buffer<tensor<f32, #weft.sbp<B>>>
task.program @gathered on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(2) {
  %w = task.buffer "w" parameter : !w
  %n = task.buffer "cast.0" working : !n
  %b = task.buffer "b" working : !b
  %y = task.buffer "y" activation : !b
  %d = task.buffer "d" gradient : !w
  %r = task.buffer "r" input : !s
  task.kernel "cast" ins(%w : !w) outs(%n : !n) {to = bf16} begin
  task.collective all_gather [0] dim 0 %n to %b begin : !n, !b
  task.kernel "neg" ins(%b : !b) outs(%y : !b) {} micro
  task.kernel "sgd" ins(%w, %d, %r, %r : !w, !w, !s, !s) outs(%w : !w) {} step {phase = "update"}
}

// -----
// What no step updates, beside what one does, is cast once: when it gets its value.
// CHECK-LABEL: task.program @frozen
// CHECK: task.buffer "w/bf16" working init "cast" {of = "w"}
// CHECK-NOT: task.kernel "cast"
// CHECK: task.kernel "neg"
// APART-LABEL: task.program @frozen
// APART-NOT: task.kernel "cast"
// APART: task.kernel "neg"
!w = !task.buffer<tensor<8x4xf32, #weft.sbp<>>>
!n = !task.buffer<tensor<8x4xbf16, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @frozen on #weft.placement<"cpu", [], [0]> micro_batches(2) {
  %w = task.buffer "w" parameter : !w
  %v = task.buffer "v" parameter : !w
  %n = task.buffer "cast.0" working : !n
  %y = task.buffer "y" activation : !n
  %d = task.buffer "d" gradient : !w
  %r = task.buffer "r" input : !s
  task.kernel "cast" ins(%w : !w) outs(%n : !n) {to = bf16} begin
  task.kernel "neg" ins(%n : !n) outs(%y : !n) {} micro
  task.kernel "sgd" ins(%v, %d, %r, %r : !w, !w, !s, !s) outs(%v : !w) {} step {phase = "update"}
}

// -----
// What lies in a tier comes up for its update, and a copy with it.
// CHECK-LABEL: task.program @below
// CHECK: task.kernel "cast" {{.*}} begin
!w = !task.buffer<tensor<8x4xf32, #weft.sbp<>>>
!n = !task.buffer<tensor<8x4xbf16, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @below on #weft.placement<"cpu", [], [0]> micro_batches(2) {
  %w = task.buffer "w" parameter : !w
  %m = task.buffer "m" optimizer tier "host" : !w
  %n = task.buffer "cast.0" working : !n
  %y = task.buffer "y" activation : !n
  %d = task.buffer "d" gradient : !w
  %r = task.buffer "r" input : !s
  task.kernel "cast" ins(%w : !w) outs(%n : !n) {to = bf16} begin
  task.kernel "neg" ins(%n : !n) outs(%y : !n) {} micro
  task.kernel "sgd_momentum" ins(%w, %d, %m, %r, %r : !w, !w, !w, !s, !s) outs(%w, %m : !w, !w) {} step {phase = "update"}
}

// -----
// A function's parameter is in memory as it is read.
// CHECK-LABEL: task.program @function
// CHECK-NEXT: %[[W:.*]] = task.buffer "w" parameter stored_type f32 : <tensor<8x4xbf16
// CHECK-NEXT: %[[Y:.*]] = task.buffer "y"
// CHECK-NEXT: task.kernel "neg" ins(%[[W]] : {{.*}}) outs(%[[Y]]
!w = !task.buffer<tensor<8x4xf32, #weft.sbp<>>>
!n = !task.buffer<tensor<8x4xbf16, #weft.sbp<>>>
task.program @function on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter : !w
  %n = task.buffer "cast.0" activation : !n
  %y = task.buffer "y" activation : !n
  task.kernel "cast" ins(%w : !w) outs(%n : !n) {to = bf16} micro
  task.kernel "neg" ins(%n : !n) outs(%y : !n) {} micro
}

// -----
// One that is read as it is in files too has a copy beside it.
// CHECK-LABEL: task.program @both
// CHECK: task.buffer "w" parameter : <tensor<8x4xf32
// CHECK: task.buffer "w/bf16" working init "cast" {of = "w"}
// CHECK-NOT: "cast" ins
!w = !task.buffer<tensor<8x4xf32, #weft.sbp<>>>
!n = !task.buffer<tensor<8x4xbf16, #weft.sbp<>>>
task.program @both on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter : !w
  %n = task.buffer "cast.0" activation : !n
  %y = task.buffer "y" activation : !n
  %z = task.buffer "z" activation : !w
  task.kernel "cast" ins(%w : !w) outs(%n : !n) {to = bf16} micro
  task.kernel "neg" ins(%n : !n) outs(%y : !n) {} micro
  task.kernel "neg" ins(%w : !w) outs(%z : !w) {} micro
}

// -----
// Where a training is between whose steps it is evaluated, parameters are what they are there.
// CHECK-LABEL: task.program @evaluation
// CHECK: task.kernel "cast"
!w = !task.buffer<tensor<8x4xf32, #weft.sbp<>>>
!n = !task.buffer<tensor<8x4xbf16, #weft.sbp<>>>
task.program @evaluation on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter {held} : !w
  %n = task.buffer "cast.0" activation : !n
  %y = task.buffer "y" activation : !n
  task.kernel "cast" ins(%w : !w) outs(%n : !n) {to = bf16} micro
  task.kernel "neg" ins(%n : !n) outs(%y : !n) {} micro
}
