// RUN: weft-opt %s --canonicalize | FileCheck %s
// A cast to its own type, and one back from a type that has all numbers of the first; not one that has lost some.
// CHECK-LABEL: weft.graph @casts
// CHECK-NEXT: %[[LOST:.*]] = weft.cast %arg0 to bf16
// CHECK-NEXT: %[[BACK:.*]] = weft.cast %[[LOST]] to f32
// CHECK-NEXT: %[[RANGE:.*]] = weft.cast %arg1 to bf16
// CHECK-NEXT: %[[RETURN:.*]] = weft.cast %[[RANGE]] to f16
// CHECK-NEXT: weft.output "same" %arg0
// CHECK-NEXT: weft.output "lost" %[[BACK]]
// CHECK-NEXT: weft.output "kept" %arg1
// CHECK-NEXT: weft.output "range" %[[RETURN]]
weft.graph @casts("x" %x: tensor<4xf32>, "h" %h: tensor<4xf16>) placements [#weft.placement<"cpu", [], [0]>] {
  %0 = weft.cast %x to f32 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.cast %x to bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = weft.cast %1 to f32 : (tensor<4xbf16>) -> tensor<4xf32>
  %3 = weft.cast %h to f32 : (tensor<4xf16>) -> tensor<4xf32>
  %4 = weft.cast %3 to f16 : (tensor<4xf32>) -> tensor<4xf16>
  %5 = weft.cast %h to bf16 : (tensor<4xf16>) -> tensor<4xbf16>
  %6 = weft.cast %5 to f16 : (tensor<4xbf16>) -> tensor<4xf16>
  weft.output "same" %0 : (tensor<4xf32>)
  weft.output "lost" %2 : (tensor<4xf32>)
  weft.output "kept" %4 : (tensor<4xf16>)
  weft.output "range" %6 : (tensor<4xf16>)
}

// Integers: u8 in every type, i32 in i64; not i32 in f32, nor f32 in i64.
// CHECK-LABEL: weft.graph @integers
// CHECK-NEXT: %[[LOST:.*]] = weft.cast %arg0 to f32
// CHECK-NEXT: %[[BACK:.*]] = weft.cast %[[LOST]] to i32
// CHECK-NEXT: %[[CUT:.*]] = weft.cast %arg2 to i64
// CHECK-NEXT: %[[RETURN:.*]] = weft.cast %[[CUT]] to f32
// CHECK-NEXT: weft.output "lost" %[[BACK]]
// CHECK-NEXT: weft.output "kept" %arg0
// CHECK-NEXT: weft.output "byte" %arg1
// CHECK-NEXT: weft.output "byte of bf16" %arg1
// CHECK-NEXT: weft.output "cut" %[[RETURN]]
weft.graph @integers("i" %i: tensor<4xi32>, "b" %b: tensor<4xi8>, "x" %x: tensor<4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  %0 = weft.cast %i to f32 : (tensor<4xi32>) -> tensor<4xf32>
  %1 = weft.cast %0 to i32 : (tensor<4xf32>) -> tensor<4xi32>
  %2 = weft.cast %i to i64 : (tensor<4xi32>) -> tensor<4xi64>
  %3 = weft.cast %2 to i32 : (tensor<4xi64>) -> tensor<4xi32>
  %4 = weft.cast %b to i32 : (tensor<4xi8>) -> tensor<4xi32>
  %5 = weft.cast %4 to i8 : (tensor<4xi32>) -> tensor<4xi8>
  %6 = weft.cast %b to bf16 : (tensor<4xi8>) -> tensor<4xbf16>
  %7 = weft.cast %6 to i8 : (tensor<4xbf16>) -> tensor<4xi8>
  %8 = weft.cast %x to i64 : (tensor<4xf32>) -> tensor<4xi64>
  %9 = weft.cast %8 to f32 : (tensor<4xi64>) -> tensor<4xf32>
  weft.output "lost" %1 : (tensor<4xi32>)
  weft.output "kept" %3 : (tensor<4xi32>)
  weft.output "byte" %5 : (tensor<4xi8>)
  weft.output "byte of bf16" %7 : (tensor<4xi8>)
  weft.output "cut" %9 : (tensor<4xf32>)
}
