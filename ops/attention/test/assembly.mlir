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
// CHECK: weft.attention %[[Q]], %[[K]], %[[V]] causal window(reach * 2){{ *$}}
%near = weft.attention %q, %k, %v causal window(reach * 2)
// CHECK: weft.attention %[[Q]], %[[K]], %[[V]] bias(%[[V]]) mask(%[[K]]) causal window(4) unfused scale(1){{ *$}}
%adjusted = weft.attention %q, %k, %v bias(%v) mask(%k) causal window(4) unfused scale(1)
// CHECK: weft.attention %[[Q]], %[[K]], %[[V]] mask(%[[K]]){{ *$}}
%masked = weft.attention %q, %k, %v mask(%k)

// CHECK-LABEL: weft.graph @typed
weft.graph @typed("q" %tq: tensor<2x8x6x4xf32>, "k" %tk: tensor<2x8x3x4xf32>, "v" %tv: tensor<2x8x3x4xf32>)
    placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK: weft.attention %{{.*}}, %{{.*}}, %{{.*}} causal : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> tensor<2x8x6x4xf32>
  %0 = weft.attention %tq, %tk, %tv causal : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> tensor<2x8x6x4xf32>
  // CHECK: %[[TOUT:.*]], %[[LSE:.*]] = weft.attention {{.*}} -> (tensor<2x8x6x4xf32>, tensor<2x6x8xf32>)
  // GENERIC: "weft.attention"({{.*}}) <{causal, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 2.500000e-01 : f64}> : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x6x8xf32>)
  %1, %lse = weft.attention %tq, %tk, %tv causal scale(0.25) : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x6x8xf32>)
  // CHECK: weft.attention_grad %[[TOUT]], %{{.*}}, %{{.*}}, %{{.*}}, %[[TOUT]], %[[LSE]] causal scale(2.500000e-01) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x6x4xf32>, tensor<2x6x8xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>)
  %dq, %dk, %dv = weft.attention_grad %1, %tq, %tk, %tv, %1, %lse causal scale(0.25) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x6x4xf32>, tensor<2x6x8xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>)
}

!q = tensor<2x8x6x4xf32>
!k = tensor<2x9x3x4xf32>
!bias = tensor<1x6x8x9xf32>
!mask = tensor<2x1x1x9xi8>
!lse = tensor<2x6x8xf32>
// CHECK-LABEL: weft.graph @adjusted
weft.graph @adjusted("q" %q1: !q, "k" %k1: !k, "bias" %bias: !bias, "mask" %mask: !mask)
    placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK: %[[AOUT:.*]], %[[ALSE:.*]] = weft.attention %{{.*}}, %{{.*}}, %{{.*}} bias(%{{.*}}) mask(%{{.*}}) : (tensor<2x8x6x4xf32>, tensor<2x9x3x4xf32>, tensor<2x9x3x4xf32>, tensor<1x6x8x9xf32>, tensor<2x1x1x9xi8>) -> (tensor<2x8x6x4xf32>, tensor<2x6x8xf32>)
  // GENERIC: "weft.attention"({{.*}}) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  %0, %lse1 = weft.attention %q1, %k1, %k1 bias(%bias) mask(%mask) : (!q, !k, !k, !bias, !mask) -> (!q, !lse)
  // CHECK: weft.attention {{.*}} mask(%{{.*}}) causal window(3) : (tensor<2x8x6x4xf32>, tensor<2x9x3x4xf32>, tensor<2x9x3x4xf32>, tensor<2x1x1x9xi8>) -> tensor<2x8x6x4xf32>
  %1 = weft.attention %q1, %k1, %k1 mask(%mask) causal window(3) : (!q, !k, !k, !mask) -> !q
  // CHECK: weft.attention_grad %[[AOUT]], {{.*}}, %[[AOUT]], %[[ALSE]] bias(%{{.*}}) mask(%{{.*}}) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x9x3x4xf32>, tensor<2x9x3x4xf32>, tensor<2x8x6x4xf32>, tensor<2x6x8xf32>, tensor<1x6x8x9xf32>, tensor<2x1x1x9xi8>) -> (tensor<2x8x6x4xf32>, tensor<2x9x3x4xf32>, tensor<2x9x3x4xf32>)
  %dq1, %dk1, %dv1 = weft.attention_grad %0, %q1, %k1, %k1, %0, %lse1 bias(%bias) mask(%mask) : (!q, !q, !k, !k, !q, !lse, !bias, !mask) -> (!q, !k, !k)
  // CHECK: weft.attention_bias_grad %[[AOUT]], {{.*}}, %[[AOUT]], %[[ALSE]] bias(%{{.*}}) causal scale(1) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x9x3x4xf32>, tensor<2x9x3x4xf32>, tensor<2x8x6x4xf32>, tensor<2x6x8xf32>, tensor<1x6x8x9xf32>) -> tensor<1x6x8x9xf32>
  %dbias = weft.attention_bias_grad %0, %q1, %k1, %k1, %0, %lse1 bias(%bias) causal scale(1) : (!q, !q, !k, !k, !q, !lse, !bias) -> !bias
}
