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

// -----

// A mask is made where it is used: its bytes are in no memory. Pixels are read as bytes.
// CHECK-LABEL: task.program @mask
// CHECK-NOT: "mask"
// CHECK: task.kernel "cast+greater+select"
!pixels = !task.buffer<tensor<64x256xi8, #weft.sbp<>>>
!numbers = !task.buffer<tensor<64x256xf32, #weft.sbp<>>>
!truth = !task.buffer<tensor<64x256xi8, #weft.sbp<>>>
!limit = !task.buffer<tensor<256xf32, #weft.sbp<>>>
task.program @mask on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %pixels = task.buffer "pixels" input : !pixels
  %limit = task.buffer "limit" input : !limit
  %other = task.buffer "other" input : !numbers
  %x = task.buffer "x" activation : !numbers
  %mask = task.buffer "mask" activation : !truth
  %y = task.buffer "y" activation : !numbers
  task.kernel "cast" ins(%pixels : !pixels) outs(%x : !numbers) {} micro
  task.kernel "greater" ins(%x, %limit : !numbers, !limit) outs(%mask : !truth) {} micro
  task.kernel "select" ins(%mask, %x, %other : !truth, !numbers, !numbers) outs(%y : !numbers) {} micro
}
