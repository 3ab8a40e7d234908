// RUN: weft-opt %s --weft-fuse-clusters --weft-fuse-batches -split-input-file | FileCheck %s

// Updates of tensors of any shapes by one learning rate: one kernel, with what is shared first.
// CHECK-LABEL: task.program @updates
// CHECK: task.kernel "sgd" ins(%[[LR:.*]], %[[SCALE:.*]], %[[W:.*]], %[[DW:.*]], %[[B:.*]], %[[DB:.*]] : {{.*}}) outs(%[[W]], %[[B]] : {{.*}}) {} step cost [0.000000e+00, 3.000000e+00, 1.640000e+02] cell @[[CELL:.*]] segments 2
// Another one does not: the rate is another.
// CHECK: task.kernel "sgd" {{.*}} cell @k1_sgd{{$}}
// CHECK: cell.kernel @[[CELL]] batch domain [1] row 1 strides [array<i64: 0>, array<i64: 0>, array<i64: 1>, array<i64: 1>, array<i64: 1>]
// CHECK-NEXT: ^bb0(%[[RATE:.*]]: f32, %[[FACTOR:.*]]: f32, %[[P:.*]]: f32, %[[G:.*]]: f32):
!w = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<5xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @updates on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter : !w
  %b = task.buffer "b" parameter : !b
  %c = task.buffer "c" parameter : !b
  %dw = task.buffer "dw" gradient : !w
  %db = task.buffer "db" gradient : !b
  %dc = task.buffer "dc" gradient : !b
  %lr = task.buffer "lr" gradient : !s
  %other = task.buffer "other" gradient : !s
  %scale = task.buffer "scale" gradient : !s
  task.kernel "sgd" ins(%w, %dw, %lr, %scale : !w, !w, !s, !s) outs(%w : !w) {weight_decay = 0.1} step cost [0.0, 2.0, 104.0]
  task.kernel "sgd" ins(%b, %db, %lr, %scale : !b, !b, !s, !s) outs(%b : !b) {weight_decay = 0.1} step cost [0.0, 1.0, 68.0]
  task.kernel "sgd" ins(%c, %dc, %other, %scale : !b, !b, !s, !s) outs(%c : !b) {weight_decay = 0.1} step cost [0.0, 1.0, 68.0]
}

// -----
// One that needs what another makes is not run with it; nor are those whose results are there for a part of a step.
// CHECK-LABEL: task.program @apart
// CHECK-NOT: segments
!w = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
task.program @apart on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter : !w
  %v = task.buffer "v" parameter : !w
  %x = task.buffer "x" gradient : !w
  %y = task.buffer "y" gradient : !w
  %s = task.buffer "s" gradient : !w
  %t = task.buffer "t" gradient : !w
  task.kernel "neg" ins(%x : !w) outs(%w : !w) {} step
  task.kernel "sort" ins(%w : !w) outs(%y : !w) {} step
  task.kernel "neg" ins(%y : !w) outs(%v : !w) {} step
  task.kernel "abs" ins(%x : !w) outs(%s : !w) {} step
  task.kernel "abs" ins(%y : !w) outs(%t : !w) {} step
  task.kernel "sort" ins(%s : !w) outs(%x : !w) {} step
  task.kernel "sort" ins(%t : !w) outs(%x : !w) {} step
}
