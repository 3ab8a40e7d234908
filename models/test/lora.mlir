// Adapters have the names and stored shapes of peft's, and lie over `tensor` as the frozen matrix beside them.
// RUN: weft-opt %S/../llama/lora.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2,model.set=vocab=256,model.set=seq=64,model.set=layers=2,model.set=heads=4,model.set=kv_heads=2,model.set=hidden=64,model.set=inner=176" | FileCheck %s

// CHECK: weft.parameter "model.layers.0.self_attn.q_proj.weight" [4, 16, 64] stored [64, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: weft.parameter "model.layers.0.self_attn.q_proj.lora_A.weight" [8, 64] init(uniform -1.250000e-01 1.250000e-01)
// CHECK: weft.parameter "model.layers.0.self_attn.q_proj.lora_B.weight" [64, 8] init(zeros) sbp(tensor = S(0))
// CHECK: weft.scale {{.*}} by(2.000000e+00)
// CHECK: weft.parameter "model.layers.0.self_attn.k_proj.weight"
// CHECK-NOT: k_proj.lora
// CHECK: weft.parameter "model.layers.0.self_attn.v_proj.lora_B.weight" [32, 8] init(zeros) sbp(tensor = S(0))
// CHECK: weft.parameter "lm_head.weight"
