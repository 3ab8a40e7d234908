// RUN: weft-opt %S/../mlp/mlp.mlir --phase-elaborate="keys=batch.micro=8,dist.tensor=2" | FileCheck %s
// RUN: weft-opt %S/../mlp/mlp.mlir --phase-elaborate="keys=batch.micro=8,dist.tensor=2" --weft-autodiff --weft-autodiff-optimizer \
// RUN:   --weft-autodiff-decompose --cse --weft-shard-infer | FileCheck %s --check-prefix=SHARD
// CHECK: weft.graph @train("tokens" %{{.*}}: tensor<8x64xi32>, "labels" %{{.*}}: tensor<8x64xi32>)
// CHECK: weft.parameter "embedding.weight" [256, 64] {{.*}} sbp(tensor = S(0))
// CHECK: weft.parameter "up.weight" [64, 256] {{.*}} sbp(tensor = S(1))
// CHECK: weft.parameter "up.bias" [256] {{.*}} sbp(tensor = S(0))
// CHECK: weft.parameter "down.weight" [256, 256] {{.*}} sbp(tensor = S(0))
// CHECK: weft.parameter "down.bias" [256]
// CHECK: weft.minimize

// A matrix split by columns has its bias split alike: read, differentiated and updated where it lies, without a box.
// SHARD: %[[B:.*]] = weft.parameter "up.bias" [256] {{.*}} -> tensor<256xf32, #weft.sbp<S(0)>>
// SHARD: %[[Y:.*]] = weft.einsum "bsi,io->bso" {{.*}} {scope = "up"}
// SHARD-NEXT: weft.add %[[Y]], %[[B]] {scope = "up"}
// SHARD: %[[DB:.*]] = weft.reduce sum %{{.*}} over [0, 1] {phase = "backward", scope = "up"} {{.*}} -> tensor<256xf32, #weft.sbp<S(0)>>
// SHARD: %[[SUM:.*]] = weft.accumulate %[[DB]]
// SHARD: %[[NEXT:.*]] = weft.sgd %[[B]], %[[SUM]],
// SHARD-NEXT: weft.assign %[[B]], %[[NEXT]]
