// RUN: weft-opt %s -canonicalize -cse | FileCheck %s

// Equal constants are one, and what nothing reads is gone.
// CHECK-LABEL: weft.graph @merged
weft.graph @merged() placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK-NEXT: %[[A:.*]] = weft.iota [4] dim(0) to f32
  // CHECK-NEXT: weft.add_n %[[A]], %[[A]]
  // CHECK-NEXT: weft.output
  // CHECK-NEXT: }
  %0 = weft.iota [4] dim(0) to f32 : () -> tensor<4xf32>
  %1 = weft.iota [4] dim(0) to f32 : () -> tensor<4xf32>
  %2 = weft.fill [4] value(0) : () -> tensor<4xf32>
  %3 = weft.constant [1] values [0] : () -> tensor<1xf32>
  %4 = weft.add_n %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  weft.output "x" %4 : (tensor<4xf32>)
}
