// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

%a, %b = "test.values"() : () -> (!weft.any, !weft.any)
// CHECK: weft.neg %0#0{{ *$}}
%0 = weft.neg %a
// CHECK-NEXT: weft.exp %0#0{{ *$}}
%1 = weft.exp %a
// CHECK-NEXT: weft.log %0#0{{ *$}}
%2 = weft.log %a
// CHECK-NEXT: weft.sqrt %0#0{{ *$}}
%3 = weft.sqrt %a
// CHECK-NEXT: weft.rsqrt %0#0{{ *$}}
%4 = weft.rsqrt %a
// CHECK-NEXT: weft.tanh %0#0{{ *$}}
%5 = weft.tanh %a
// CHECK-NEXT: weft.sigmoid %0#0{{ *$}}
%6 = weft.sigmoid %a
// CHECK-NEXT: weft.square %0#0{{ *$}}
%7 = weft.square %a
// CHECK-NEXT: weft.add %0#0, %0#1{{ *$}}
%8 = weft.add %a, %b
// CHECK-NEXT: weft.sub %0#0, %0#1{{ *$}}
%9 = weft.sub %a, %b
// CHECK-NEXT: weft.mul %0#0, %0#1{{ *$}}
%10 = weft.mul %a, %b
// CHECK-NEXT: weft.div %0#0, %0#1{{ *$}}
%11 = weft.div %a, %b
// CHECK-NEXT: weft.maximum %0#0, %0#1{{ *$}}
%12 = weft.maximum %a, %b
// CHECK-NEXT: weft.minimum %0#0, %0#1{{ *$}}
%13 = weft.minimum %a, %b
// CHECK-NEXT: weft.abs %0#0{{ *$}}
%14 = weft.abs %a
// CHECK-NEXT: weft.sign %0#0{{ *$}}
%15 = weft.sign %a
// CHECK-NEXT: weft.scale %0#0 by(heads){{ *$}}
%16 = weft.scale %a by(heads)
// CHECK-NEXT: weft.scale %0#0 by(-5.000000e-01){{ *$}}
%17 = weft.scale %a by(-0.5)
// CHECK-NEXT: weft.scale %0#0 by(-2){{ *$}}
%18 = weft.scale %a by(-2)
// CHECK-NEXT: weft.add_n %0#0, %0#1, %0#0{{ *$}}
%19 = weft.add_n %a, %b, %a
// CHECK-NEXT: weft.cast %0#0 to bf16{{ *$}}
%20 = weft.cast %a to bf16
// CHECK-NEXT: weft.broadcast_to %0#0 [batch, 4 * hidden]{{ *$}}
%21 = weft.broadcast_to %a [batch, 4 * hidden]

%x, %y, %row = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
// CHECK: weft.neg %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%22 = weft.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.exp %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%23 = weft.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.log %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%24 = weft.log %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.sqrt %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%25 = weft.sqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.rsqrt %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%26 = weft.rsqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.tanh %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%27 = weft.tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.sigmoid %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%28 = weft.sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.square %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%29 = weft.square %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.add %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%30 = weft.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.sub %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%31 = weft.sub %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.mul %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%32 = weft.mul %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.div %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%33 = weft.div %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.maximum %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%34 = weft.maximum %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.minimum %23#0, %23#1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%35 = weft.minimum %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.sin %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%36 = weft.sin %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.cos %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%37 = weft.cos %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.add %23#0, %23#2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%38 = weft.add %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.scale %23#0 by(1.250000e-01) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%39 = weft.scale %x by(0.125) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.add_n %23#0, %23#1 {scope = "s"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%40 = weft.add_n %x, %y {scope = "s"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.cast %23#0 to bf16 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
%41 = weft.cast %x to bf16 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
// CHECK-NEXT: weft.broadcast_to %23#2 [2, 3] : (tensor<3xf32>) -> tensor<2x3xf32>
%42 = weft.broadcast_to %row [2, 3] : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.add_scalar %23#0 by(-1.250000e-01) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%43 = weft.add_scalar %x by(-0.125) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.power %23#0 by(3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%44 = weft.power %x by(3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.clamp %23#0 min(-1) max(5.000000e-01) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%45 = weft.clamp %x min(-1) max(0.5) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.clamp %23#0 max(0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%46 = weft.clamp %x max(0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.stop_gradient %23#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
%47 = weft.stop_gradient %x : (tensor<2x3xf32>) -> tensor<2x3xf32>

%c, %d = "test.values"() : () -> (!weft.any, tensor<2x3xi32>)
// CHECK: %[[V:.*]]:2 = "test.values"
// CHECK-NEXT: weft.add_scalar %[[V]]#0 by(2 * eps){{ *$}}
%48 = weft.add_scalar %c by(2 * eps)
// CHECK-NEXT: weft.power %[[V]]#0 by(p){{ *$}}
%49 = weft.power %c by(p)
// CHECK-NEXT: weft.clamp %[[V]]#0 min(low){{ *$}}
%50 = weft.clamp %c min(low)
// CHECK-NEXT: weft.stop_gradient %[[V]]#0{{ *$}}
%51 = weft.stop_gradient %c
// CHECK-NEXT: weft.cast %[[V]]#1 to i8 : (tensor<2x3xi32>) -> tensor<2x3xi8>
%52 = weft.cast %d to i8 : (tensor<2x3xi32>) -> tensor<2x3xi8>
// CHECK-NEXT: weft.mul %[[V]]#1, %[[V]]#1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
%53 = weft.mul %d, %d : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
