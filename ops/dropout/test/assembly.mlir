// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// Before elaborate.
%x = weft.parameter "x" [batch, hidden] init(zeros)
// CHECK: weft.dropout %{{.*}} rate(dropout){{ *$}}
// GENERIC: "weft.dropout"(%{{.*}}) <{rate = #weft.expr<"dropout">, seed = 0 : i64}>
%0 = weft.dropout %x rate(dropout)
// CHECK: weft.dropout %{{.*}} rate(1.000000e-01) seed(7){{ *$}}
%1 = weft.dropout %0 rate(0.1) seed(7)

// CHECK-LABEL: weft.graph @typed
weft.graph @typed("x" %a: tensor<4x16xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK: weft.dropout %{{.*}} rate(5.000000e-01) seed(3) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = weft.dropout %a rate(0.5) seed(3) : (tensor<4x16xf32>) -> tensor<4x16xf32>
}
