// RUN: weft-opt %s -canonicalize -cse | FileCheck %s

// Without a seed each op will be given its own; with one, equal ops draw the same numbers.
// CHECK-LABEL: weft.graph @merged
weft.graph @merged() placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK-NEXT: %[[A:.*]] = weft.random_normal [4] mean(0) std(1) :
  // CHECK-NEXT: %[[B:.*]] = weft.random_normal [4] mean(0) std(1) :
  // CHECK-NEXT: %[[C:.*]] = weft.random_normal [4] mean(0) std(1) seed(3) :
  // CHECK-NEXT: weft.add_n %[[A]], %[[B]], %[[C]], %[[C]]
  %0 = weft.random_normal [4] mean(0) std(1) : () -> tensor<4xf32>
  %1 = weft.random_normal [4] mean(0) std(1) : () -> tensor<4xf32>
  %2 = weft.random_normal [4] mean(0) std(1) seed(3) : () -> tensor<4xf32>
  %3 = weft.random_normal [4] mean(0) std(1) seed(3) : () -> tensor<4xf32>
  %4 = weft.add_n %0, %1, %2, %3 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  weft.output "normal" %4 : (tensor<4xf32>)
  // CHECK: %[[D:.*]] = weft.random_uniform [4] low(0) high(1) :
  // CHECK-NEXT: %[[E:.*]] = weft.random_uniform [4] low(0) high(1) :
  // CHECK-NEXT: weft.add_n %[[D]], %[[E]]
  %5 = weft.random_uniform [4] low(0) high(1) : () -> tensor<4xf32>
  %6 = weft.random_uniform [4] low(0) high(1) : () -> tensor<4xf32>
  %7 = weft.add_n %5, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  weft.output "uniform" %7 : (tensor<4xf32>)
}

// CHECK-LABEL: weft.graph @unused
weft.graph @unused() placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK-NOT: weft.random
  %0 = weft.random_normal [4] mean(0) std(1) : () -> tensor<4xf32>
  %1 = weft.random_uniform [4] low(0) high(1) : () -> tensor<4xf32>
}
