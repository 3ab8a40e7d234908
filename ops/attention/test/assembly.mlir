// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s | weft-opt -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// Before elaborate: no types, and one result.
%q = weft.parameter "q" [batch, seq, heads, size] init(zeros)
%k = weft.parameter "k" [batch, seq, heads, size] init(zeros)
%v = weft.parameter "v" [batch, seq, heads, size] init(zeros)
// CHECK: %[[OUT:.*]] = weft.attention %[[Q:.*]], %[[K:.*]], %[[V:.*]] causal{{ *$}}
%out = weft.attention %q, %k, %v causal
// CHECK: weft.attention %[[Q]], %[[K]], %[[V]]{{ *$}}
%all = weft.attention %q, %k, %v
// CHECK: weft.attention %[[Q]], %[[K]], %[[V]] scale(1.250000e-01){{ *$}}
%scaled = weft.attention %q, %k, %v scale(0.125)
// CHECK: weft.attention %[[Q]], %[[K]], %[[V]] causal scale(factor * 2){{ *$}}
%both = weft.attention %q, %k, %v causal scale(factor * 2)

// CHECK-LABEL: weft.graph @typed
weft.graph @typed("q" %tq: tensor<2x8x6x4xf32>, "k" %tk: tensor<2x8x3x4xf32>, "v" %tv: tensor<2x8x3x4xf32>)
    placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK: weft.attention %{{.*}}, %{{.*}}, %{{.*}} causal : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> tensor<2x8x6x4xf32>
  %0 = weft.attention %tq, %tk, %tv causal : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> tensor<2x8x6x4xf32>
  // CHECK: %[[TOUT:.*]], %[[LSE:.*]] = weft.attention {{.*}} -> (tensor<2x8x6x4xf32>, tensor<2x6x8xf32>)
  // GENERIC: "weft.attention"({{.*}}) <{causal, scale = 2.500000e-01 : f64}> : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x6x8xf32>)
  %1, %lse = weft.attention %tq, %tk, %tv causal scale(0.25) : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x6x8xf32>)
  // CHECK: weft.attention_grad %[[TOUT]], %{{.*}}, %{{.*}}, %{{.*}}, %[[TOUT]], %[[LSE]] causal scale(2.500000e-01) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x6x4xf32>, tensor<2x6x8xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>)
  %dq, %dk, %dv = weft.attention_grad %1, %tq, %tk, %tv, %1, %lse causal scale(0.25) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x6x4xf32>, tensor<2x6x8xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>)
}
