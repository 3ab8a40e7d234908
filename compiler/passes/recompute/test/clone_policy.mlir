// RUN: not weft-opt %s --weft-recompute-clone=policy=auto 2>&1 | FileCheck %s --check-prefix=AUTO
// RUN: not weft-opt %s --weft-recompute-clone=layers=h.0=some 2>&1 | FileCheck %s --check-prefix=SOME
// RUN: not weft-opt %s --weft-recompute-clone=machine=fast 2>&1 | FileCheck %s --check-prefix=MACHINE

// AUTO: recompute policy: expected none, selective or full, got auto
// SOME: recompute policy: expected none, selective or full, got some
// MACHINE: machine: expected rates, got fast
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @function("x" %x: tensor<4xf32>) placements [#mesh] {
  %0 = weft.gelu %x {scope = "h.0"} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %0 : (tensor<4xf32>)
}
