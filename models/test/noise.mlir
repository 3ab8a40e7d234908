// RUN: weft-opt %S/../noise/noise.mlir --phase-elaborate | FileCheck %s
// CHECK:      weft.graph @noise("x" %[[X:.*]]: tensor<16x8xf32>) placements [#weft.placement<"cpu", [_0 = 2, _1 = 2], [0, 1, 2, 3]>] {
// CHECK-NEXT:   %[[G:.*]] = weft.to_global %[[X]] sbp(S(0), S(1)) :
// CHECK-NEXT:   %[[N:.*]] = weft.random_normal [16, 8] {{.*}} seed({{[0-9]+}})
// CHECK-NEXT:   %[[Y:.*]] = weft.add %[[G]], %[[N]]
// CHECK-NEXT:   weft.output "y" %[[Y]]
