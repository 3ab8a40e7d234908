// RUN: not weft-opt %s --weft-recompute-clone=policy=auto 2>&1 | FileCheck %s --check-prefix=AUTO
// RUN: not weft-opt %s --weft-recompute-clone=layers=h.0=some 2>&1 | FileCheck %s --check-prefix=SOME
// RUN: sed 's/{node_ranks = 64}/{speed = 3.0}/' %s | not weft-opt --weft-recompute-clone 2>&1 | FileCheck %s --check-prefix=MACHINE

// AUTO: recompute policy: expected none, selective or full, got auto
// SOME: recompute policy: expected none, selective or full, got some
// MACHINE: weft.machine: expected rates of 0 or more, of {{.*}}, got speed = 3.000000e+00 : f64
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @function("x" %x: tensor<4xf32>) placements [#mesh] attributes {weft.machine = {node_ranks = 64}} {
  %0 = weft.gelu %x {scope = "h.0"} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %0 : (tensor<4xf32>)
}
