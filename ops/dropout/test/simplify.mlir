// RUN: weft-opt %s -canonicalize -cse | FileCheck %s

#one = #weft.placement<"cpu", [], [0]>

// CHECK-LABEL: weft.graph @rate_zero
weft.graph @rate_zero("x" %x: tensor<4xf32>) placements [#one] {
  // CHECK-NEXT: weft.output "y" %arg0
  %0 = weft.dropout %x rate(0.0) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.dropout %0 rate(0) seed(3) : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %1 : (tensor<4xf32>)
}

// Without a seed each op will be given its own; with one, equal ops drop the same elements.
// CHECK-LABEL: weft.graph @merged
weft.graph @merged("x" %x: tensor<4xf32>) placements [#one] {
  // CHECK-NEXT: %[[A:.*]] = weft.dropout %arg0 rate(5.000000e-01) :
  // CHECK-NEXT: %[[B:.*]] = weft.dropout %arg0 rate(5.000000e-01) :
  // CHECK-NEXT: %[[C:.*]] = weft.dropout %arg0 rate(5.000000e-01) seed(3) :
  // CHECK-NEXT: weft.add_n %[[A]], %[[B]], %[[C]], %[[C]]
  %0 = weft.dropout %x rate(0.5) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.dropout %x rate(0.5) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.dropout %x rate(0.5) seed(3) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = weft.dropout %x rate(0.5) seed(3) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = weft.add_n %0, %1, %2, %3 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %4 : (tensor<4xf32>)
}

// CHECK-LABEL: weft.graph @unused
weft.graph @unused("x" %x: tensor<4xf32>) placements [#one] {
  // CHECK-NOT: weft.dropout
  %0 = weft.dropout %x rate(0.5) : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %x : (tensor<4xf32>)
}
