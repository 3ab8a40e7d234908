// RUN: weft-opt %s --weft-fuse-squares -split-input-file | FileCheck %s

// The sum of two tensors' squares and of a third one's, as sums of many are cut: one kernel, in the same order.
// CHECK-LABEL: task.program @all
// CHECK-NOT: add_n
// CHECK: task.kernel "square_sum" ins(%[[A:.*]], %[[B:.*]], %[[C:.*]] : {{.*}}) outs(%[[ALL:.*]] : {{.*}}) {} step
// CHECK-NOT: task.kernel
// CHECK: task.metric "norm" %[[ALL]]
!g = !task.buffer<tensor<4xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @all on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" gradient : !g
  %b = task.buffer "b" gradient : !g
  %c = task.buffer "c" gradient : !g
  %1 = task.buffer "1" gradient : !s
  %2 = task.buffer "2" gradient : !s
  %3 = task.buffer "3" gradient : !s
  %two = task.buffer "two" gradient : !s
  %all = task.buffer "all" gradient : !s
  task.kernel "square_sum" ins(%a : !g) outs(%1 : !s) {} step
  task.kernel "square_sum" ins(%b : !g) outs(%2 : !s) {} step
  task.kernel "square_sum" ins(%c : !g) outs(%3 : !s) {} step
  task.kernel "add_n" ins(%1, %2 : !s, !s) outs(%two : !s) {} step
  task.kernel "add_n" ins(%two, %3 : !s, !s) outs(%all : !s) {} step
  task.metric "norm" %all : !s
}

// -----
// What is read by others too, is of another tensor's norm, or is added behind another sum, stays.
// CHECK-LABEL: task.program @apart
// CHECK-COUNT-3: "add_n"
!g = !task.buffer<tensor<4xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @apart on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" gradient : !g
  %b = task.buffer "b" gradient : !g
  %count = task.buffer "count" gradient : !s
  %1 = task.buffer "1" gradient : !s
  %2 = task.buffer "2" gradient : !s
  %3 = task.buffer "3" gradient : !s
  %x = task.buffer "x" gradient : !s
  %y = task.buffer "y" gradient : !s
  %z = task.buffer "z" gradient : !s
  task.kernel "square_sum" ins(%a : !g) outs(%1 : !s) {} step
  task.kernel "square_sum" ins(%b : !g) outs(%2 : !s) {} step
  task.kernel "add_n" ins(%1, %2 : !s, !s) outs(%x : !s) {} step
  task.metric "part" %1 : !s
  task.kernel "square_sum" ins(%b : !g) outs(%3 : !s) {} step
  task.kernel "add_n" ins(%count, %3 : !s, !s) outs(%y : !s) {} step
  task.kernel "add_n" ins(%x, %y : !s, !s) outs(%z : !s) {} step
  task.metric "norm" %z : !s
}
