// RUN: weft-opt %s -allow-unregistered-dialect -canonicalize | FileCheck %s

// A box that changes nothing goes; one to another stage stays.
// CHECK: %[[X:.*]] = "test.value"
// CHECK-NEXT: %[[Y:.*]] = weft.box %[[X]] {stage = 1 : i64}
// CHECK-NEXT: "test.use"(%[[X]], %[[Y]])
!b = tensor<4xf32, #weft.sbp<B>>
%x = "test.value"() : () -> !b
%0 = weft.box %x : (!b) -> !b
%1 = weft.box %x {stage = 1 : i64} : (!b) -> !b
"test.use"(%0, %1) : (!b, !b) -> ()
