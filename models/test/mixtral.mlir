// Mixtral has the parameters of Hugging Face's MixtralForCausalLM, by name and stored shape, with a capacity and without;
// with one its experts are split by expert.
// RUN: weft-opt %S/../mixtral/mixtral.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.expert=2,dist.tensor=2,model.set=vocab=256,model.set=seq=64,model.set=layers=2,model.set=heads=4,model.set=kv_heads=2,model.set=hidden=64,model.set=inner=128,model.set=experts=4" | FileCheck %s --check-prefixes=CHECK,DROPLESS
// RUN: weft-opt %S/../mixtral/capacity.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.expert=2,dist.tensor=2,model.set=vocab=256,model.set=seq=64,model.set=layers=2,model.set=heads=4,model.set=kv_heads=2,model.set=hidden=64,model.set=inner=128,model.set=experts=4" | FileCheck %s --check-prefixes=CHECK,CAPACITY

// CHECK: weft.graph @train("tokens" %{{.*}}: tensor<4x64xi32>, "labels" %[[LABELS:.*]]: tensor<4x64xi32>)
// CHECK: weft.parameter "model.embed_tokens.weight" [256, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: weft.parameter "model.layers.0.input_layernorm.weight" [64] init(ones)
// CHECK: weft.parameter "model.layers.0.self_attn.q_proj.weight" [4, 16, 64] stored [64, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: weft.rope {{.*}} theta(1.000000e+06)
// CHECK: weft.parameter "model.layers.0.post_attention_layernorm.weight" [64] init(ones)
// CHECK: weft.parameter "model.layers.0.block_sparse_moe.gate.weight" [4, 64] init(normal 2.000000e-02)
// CHECK: weft.top_k %{{.*}} k(2) dim(2) {{.*}} : (tensor<4x64x4xf32>) -> (tensor<4x64x2xf32>, tensor<4x64x2xi32>)
// CAPACITY: weft.take {{.*}} dim(1) batch(1) {{.*}} : (tensor<4x64x64xf32>, tensor<4x4x40xi32>) -> tensor<4x4x40x64xf32>
// DROPLESS: weft.take {{.*}} dim(1) batch(1) {{.*}} : (tensor<4x64x64xf32>, tensor<4x128xi32>) -> tensor<4x128x64xf32>
// CAPACITY: weft.parameter "model.layers.0.block_sparse_moe.experts.*.w1.weight" [4, 128, 64] init(normal 2.000000e-02) sbp(expert = S(0), tensor = S(1))
// DROPLESS: weft.parameter "model.layers.0.block_sparse_moe.experts.*.w1.weight" [4, 128, 64] init(normal 2.000000e-02) sbp(expert = S(1), tensor = S(1))
// CAPACITY: weft.parameter "model.layers.0.block_sparse_moe.experts.*.w2.weight" [4, 64, 128] init(normal 2.000000e-02) sbp(expert = S(0), tensor = S(2))
// DROPLESS: weft.parameter "model.layers.0.block_sparse_moe.experts.*.w2.weight" [4, 64, 128] init(normal 2.000000e-02) sbp(expert = S(2), tensor = S(2))
// CAPACITY: weft.parameter "model.layers.0.block_sparse_moe.experts.*.w3.weight" [4, 128, 64] init(normal 2.000000e-02) sbp(expert = S(0), tensor = S(1))
// DROPLESS: weft.parameter "model.layers.0.block_sparse_moe.experts.*.w3.weight" [4, 128, 64] init(normal 2.000000e-02) sbp(expert = S(1), tensor = S(1))
// DROPLESS: weft.grouped_matmul {{.*}} transposed {{.*}} : (tensor<4x128x64xf32>, tensor<4x128x64xf32>, tensor<4x4xi32>) -> tensor<4x128x128xf32>
// CHECK: weft.parameter "model.layers.1.block_sparse_moe.experts.*.w3.weight"
// CHECK-NOT: "model.layers.2
// CHECK: weft.parameter "model.norm.weight" [64] init(ones)
// CHECK: weft.parameter "lm_head.weight" [256, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: %[[LOSS:.*]], %[[COUNT:.*]] = weft.cross_entropy %{{.*}}, %[[LABELS]]
// CHECK: weft.output "balance" metric
// CHECK: weft.output "router_z" metric
// CHECK: weft.minimize %{{.*}} per %[[COUNT]]
