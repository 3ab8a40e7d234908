// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// Before elaborate.
// CHECK: weft.random_normal [batch, 2 * hidden] mean(0.000000e+00) std(deviation){{ *$}}
// GENERIC: "weft.random_normal"() <{mean = 0.000000e+00 : f64, seed = 0 : i64, shape = [#weft.expr<"batch">, #weft.expr<"2 * hidden">], std = #weft.expr<"deviation">}>
%0 = weft.random_normal [batch, 2 * hidden] mean(0.0) std(deviation)
// CHECK: weft.random_uniform [batch] low(-1.000000e+00) high(bound) seed(7){{ *$}}
%1 = weft.random_uniform [batch] low(-1.0) high(bound) seed(7)

// CHECK-LABEL: weft.graph @typed
weft.graph @typed() placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK: weft.random_normal [16, 8] mean(0.000000e+00) std(1) : () -> tensor<16x8xf32>
  %3 = weft.random_normal [16, 8] mean(0.0) std(1) : () -> tensor<16x8xf32>
  // CHECK: weft.random_uniform [16, 8] low(-1) high(1) seed(7) : () -> tensor<16x8xf32>
  %4 = weft.random_uniform [16, 8] low(-1) high(1) seed(7) : () -> tensor<16x8xf32>
}
