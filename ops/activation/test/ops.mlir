// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

%x, %dy = "test.values"() : () -> (!weft.any, !weft.any)
// CHECK: weft.relu %0#0{{ *$}}
// CHECK-NEXT: weft.silu %0#0{{ *$}}
// CHECK-NEXT: weft.gelu %0#0{{ *$}}
// CHECK-NEXT: weft.gelu %0#0 approximate(tanh){{ *$}}
// CHECK-NEXT: weft.relu_grad %0#1, %0#0{{ *$}}
// CHECK-NEXT: weft.silu_grad %0#1, %0#0{{ *$}}
// CHECK-NEXT: weft.gelu_grad %0#1, %0#0 approximate(tanh){{ *$}}
%0 = weft.relu %x
%1 = weft.silu %x
%2 = weft.gelu %x approximate(none)
%3 = weft.gelu %x approximate(tanh)
%4 = weft.relu_grad %dy, %x
%5 = weft.silu_grad %dy, %x
%6 = weft.gelu_grad %dy, %x approximate(tanh)

%y, %dz = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>)
// CHECK: weft.relu %8#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.silu %8#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.gelu %8#0 approximate(tanh) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.relu_grad %8#1, %8#0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.silu_grad %8#1, %8#0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.gelu_grad %8#1, %8#0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%7 = weft.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
%8 = weft.silu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
%9 = weft.gelu %y approximate(tanh) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%10 = weft.relu_grad %dz, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%11 = weft.silu_grad %dz, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%12 = weft.gelu_grad %dz, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
