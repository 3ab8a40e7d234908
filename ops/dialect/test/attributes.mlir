// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics | weft-opt -allow-unregistered-dialect -split-input-file | FileCheck %s

// CHECK: "test.op"() {a = #weft.sbp<S(0), B, P, P(max), S(12)>}
// CHECK-NEXT: "test.op"() {a = #weft.sbp<>}
// CHECK-NEXT: "test.op"() {a = #weft.placement<"cpu", [data = 2, "a b" = 1], [3, 1]>}
// CHECK-NEXT: "test.op"() {a = #weft.placement<"cuda", [], [0]>}
// CHECK-NEXT: "test.op"() {a = #weft.expr<"4 * hidden">}
// CHECK-NEXT: "test.op"() {a = #weft.init<"zeros">}
// CHECK-NEXT: "test.op"() {a = #weft.init<"uniform", [-1 : i64, 5.000000e-01 : f64]>}
// CHECK-NEXT: "test.op"() : () -> !weft.any
"test.op"() {a = #weft.sbp<S(0), B, P, P(max), S(12)>} : () -> ()
"test.op"() {a = #weft.sbp<>} : () -> ()
"test.op"() {a = #weft.placement<"cpu", [data = 2, "a b" = 1], [3, 1]>} : () -> ()
"test.op"() {a = #weft.placement<"cuda", [], [0]>} : () -> ()
"test.op"() {a = #weft.expr<"4 * hidden">} : () -> ()
"test.op"() {a = #weft.init<"zeros">} : () -> ()
"test.op"() {a = #weft.init<"uniform", [-1, 0.5]>} : () -> ()
%0 = "test.op"() : () -> !weft.any

// -----

// expected-error @+1 {{SBP state: expected S(dim), B, P or P(max), got R}}
"test.op"() {a = #weft.sbp<R>} : () -> ()

// -----

// expected-error @+1 {{expected 'max'}}
"test.op"() {a = #weft.sbp<P(min)>} : () -> ()

// -----

// expected-error @+1 {{SBP: expected a split of a dimension less than 2, got S(2)}}
"test.op"() : () -> tensor<4x4xf32, #weft.sbp<B, S(2)>>

// -----

// expected-error @+1 {{SBP: expected a split of a dimension less than 2, got S(-1)}}
"test.op"() : () -> tensor<4x4xf32, #weft.sbp<S(-1)>>

// -----

// expected-error @+1 {{mesh axis "data": expected a positive size, got 0}}
"test.op"() {a = #weft.placement<"cpu", [data = 0], []>} : () -> ()

// -----

// expected-error @+1 {{mesh: expected distinct axes, got "data" twice}}
"test.op"() {a = #weft.placement<"cpu", [data = 1, data = 1], [0]>} : () -> ()

// -----

// expected-error @+1 {{mesh: expected 4 ranks, got 3}}
"test.op"() {a = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2]>} : () -> ()

// -----

// expected-error @+1 {{mesh: expected ranks of 0 or more, got -1}}
"test.op"() {a = #weft.placement<"cpu", [data = 2], [0, -1]>} : () -> ()

// -----

// expected-error @+1 {{mesh: expected distinct ranks, got 1 twice}}
"test.op"() {a = #weft.placement<"cpu", [data = 2], [1, 1]>} : () -> ()
