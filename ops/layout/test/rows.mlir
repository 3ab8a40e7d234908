// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics | FileCheck %s

// The rows of a rank are one list, of which the parts are taken: the axes that split any of their dimensions split the last.
// CHECK-LABEL: weft.graph @rows
// CHECK: weft.take_rows %arg0 rows(2) from(1) size(5) : {{.*}} -> tensor<1x20x2xf32, #weft.sbp<S(1), S(1)>>
// CHECK: weft.join_rows {{.*}} rows(2) : (tensor<1x4x2xf32, #weft.sbp<S(1), S(1)>>, tensor<1x20x2xf32, #weft.sbp<S(1), S(1)>>) -> tensor<4x6x2xf32, #weft.sbp<S(0), S(1)>>
#two = #weft.placement<"cpu", [data = 2, context = 2], [0, 1, 2, 3]>
!whole = tensor<4x6x2xf32, #weft.sbp<S(0), S(1)>>
!one = tensor<1x4x2xf32, #weft.sbp<S(1), S(1)>>
!five = tensor<1x20x2xf32, #weft.sbp<S(1), S(1)>>
weft.graph @rows("x" %x: !whole) placements [#two] {
  %0 = weft.take_rows %x rows(2) from(0) size(1) : (!whole) -> !one
  %1 = weft.take_rows %x rows(2) from(1) size(5) : (!whole) -> !five
  %2 = weft.join_rows %0, %1 rows(2) : (!one, !five) -> !whole
  weft.output "y" %2 : (!whole)
}

// -----

#one = #weft.placement<"cpu", [], [0]>
weft.graph @dims("x" %x: tensor<4x3xf32, #weft.sbp<>>) placements [#one] {
  // expected-error @+1 {{rows: expected 1 to 2, got 3}}
  %0 = weft.take_rows %x rows(3) from(0) size(1) : (tensor<4x3xf32, #weft.sbp<>>) -> tensor<1x3xf32, #weft.sbp<>>
}

// -----

#one = #weft.placement<"cpu", [], [0]>
weft.graph @beyond("x" %x: tensor<4x3xf32, #weft.sbp<>>) placements [#one] {
  // expected-error @+1 {{expected some of 4 rows, got 2 from 3 on}}
  %0 = weft.take_rows %x rows(1) from(3) size(2) : (tensor<4x3xf32, #weft.sbp<>>) -> tensor<2x3xf32, #weft.sbp<>>
}

// -----

#one = #weft.placement<"cpu", [], [0]>
weft.graph @result("x" %x: tensor<4x3xf32, #weft.sbp<>>) placements [#one] {
  // expected-error @+1 {{result: expected 'tensor<2x3xf32, #weft.sbp<>>', got 'tensor<3x3xf32, #weft.sbp<>>'}}
  %0 = weft.take_rows %x rows(1) from(0) size(2) : (tensor<4x3xf32, #weft.sbp<>>) -> tensor<3x3xf32, #weft.sbp<>>
}

// -----

#one = #weft.placement<"cpu", [], [0]>
weft.graph @too_few("x" %x: tensor<2x3xf32, #weft.sbp<>>) placements [#one] {
  // expected-error @+1 {{expected parts of 4 rows, got 2}}
  %0 = weft.join_rows %x rows(1) : (tensor<2x3xf32, #weft.sbp<>>) -> tensor<4x3xf32, #weft.sbp<>>
}

// -----

#one = #weft.placement<"cpu", [], [0]>
weft.graph @other("x" %x: tensor<4x2xf32, #weft.sbp<>>) placements [#one] {
  // expected-error @+1 {{part 0: expected 'tensor<4x3xf32, #weft.sbp<>>', got 'tensor<4x2xf32, #weft.sbp<>>'}}
  %0 = weft.join_rows %x rows(1) : (tensor<4x2xf32, #weft.sbp<>>) -> tensor<4x3xf32, #weft.sbp<>>
}

// -----

#one = #weft.placement<"cpu", [], [0]>
weft.graph @without("x" %x: tensor<4x3xf32>) placements [#one] {
  // expected-error @+1 {{expected an SBP on operands and result}}
  %0 = weft.take_rows %x rows(1) from(0) size(2) : (tensor<4x3xf32>) -> tensor<2x3xf32>
}

// -----

%x = "test.value"() : () -> tensor<2x3xf32, #weft.sbp<>>
// expected-error @+1 {{expected to be in a weft.graph, which says what ranks there are}}
%0 = weft.take_rows %x rows(1) from(0) size(1) : (tensor<2x3xf32, #weft.sbp<>>) -> tensor<1x3xf32, #weft.sbp<>>

// -----

#one = #weft.placement<"cpu", [], [0]>
weft.graph @cast("x" %x: tensor<4x3xf32, #weft.sbp<>>) placements [#one] {
  // expected-error @+1 {{expected one shape and an SBP, got 'tensor<4x3xf32, #weft.sbp<>>' and 'tensor<3x4xbf16, #weft.sbp<>>'}}
  %0 = weft.cast_parts %x : (tensor<4x3xf32, #weft.sbp<>>) -> tensor<3x4xbf16, #weft.sbp<>>
}
