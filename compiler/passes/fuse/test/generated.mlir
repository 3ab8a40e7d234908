// RUN: weft-opt %s --weft-fuse-clusters -split-input-file -verify-diagnostics | FileCheck %s

// Rows that are shorter than a vector: of many, what has a kernel by hand keeps it, and what has none is generated.
// CHECK-LABEL: task.program @short_rows
// CHECK: task.kernel "softmax" {{.*}} cell @k0_softmax
// CHECK: task.kernel "mul" ins({{.*}}) outs({{.*}}) {} micro{{$}}
!x = !task.buffer<tensor<1024x8xf32, #weft.sbp<>>>
!r = !task.buffer<tensor<1024x1xf32, #weft.sbp<>>>
task.program @short_rows on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %r = task.buffer "r" input : !r
  %y = task.buffer "y" activation : !x
  %z = task.buffer "z" activation : !x
  task.kernel "softmax" ins(%x : !x) outs(%y : !x) {} micro
  task.kernel "mul" ins(%x, %r : !x, !r) outs(%z : !x) {} micro
}

// -----

// A kernel without another way has to be generated.
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
task.program @refused on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %y = task.buffer "y" activation : !x
  // expected-error@+1 {{kernel `gelu`: expected operands that a generated kernel can walk along, got others}}
  task.kernel "gelu" ins(%x : !x) outs(%y : !x) {} micro
}
