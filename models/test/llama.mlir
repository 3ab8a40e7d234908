// Llama has the parameters of Hugging Face's LlamaForCausalLM, by name and stored shape, and splits them as Megatron does.
// RUN: weft-opt %S/../llama/llama.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2,model.set=vocab=256,model.set=seq=64,model.set=layers=2,model.set=heads=4,model.set=kv_heads=2,model.set=hidden=64,model.set=inner=176" | FileCheck %s
// RUN: weft-opt %S/../llama/llama.mlir --phase-elaborate="keys=model.graph=train_packed,batch.micro=4,model.set=vocab=256,model.set=seq=64,model.set=layers=2,model.set=heads=4,model.set=kv_heads=2,model.set=hidden=64,model.set=inner=176" | FileCheck %s --check-prefix=PACKED

// CHECK: weft.graph @train("tokens" %{{.*}}: tensor<4x64xi32>, "labels" %[[LABELS:.*]]: tensor<4x64xi32>)
// CHECK: weft.parameter "model.embed_tokens.weight" [256, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: weft.parameter "model.layers.0.input_layernorm.weight" [64] init(ones)
// CHECK: weft.rms_norm {{.*}} eps(1.000000e-05)
// CHECK: weft.parameter "model.layers.0.self_attn.q_proj.weight" [4, 16, 64] stored [64, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: weft.parameter "model.layers.0.self_attn.k_proj.weight" [2, 16, 64] stored [32, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: weft.parameter "model.layers.0.self_attn.v_proj.weight" [2, 16, 64] stored [32, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: weft.rope {{.*}} theta(5.000000e+05) factor(8.000000e+00) low(1.000000e+00) high(4.000000e+00) original(8192)
// CHECK: weft.rope {{.*}} theta(5.000000e+05) factor(8.000000e+00) low(1.000000e+00) high(4.000000e+00) original(8192)
// CHECK: weft.attention {{.*}} causal
// CHECK: weft.parameter "model.layers.0.self_attn.o_proj.weight" [64, 4, 16] stored [64, 64] init(normal 2.000000e-02) sbp(tensor = S(1))
// CHECK: weft.parameter "model.layers.0.post_attention_layernorm.weight" [64] init(ones)
// CHECK: weft.parameter "model.layers.0.mlp.gate_proj.weight" [176, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: weft.silu
// CHECK: weft.parameter "model.layers.0.mlp.up_proj.weight" [176, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: weft.parameter "model.layers.0.mlp.down_proj.weight" [64, 176] init(normal 2.000000e-02) sbp(tensor = S(1))
// CHECK: weft.parameter "model.layers.1.mlp.down_proj.weight"
// CHECK-NOT: "model.layers.2
// CHECK: weft.parameter "model.norm.weight" [64] init(ones)
// CHECK: weft.parameter "lm_head.weight" [256, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: %[[LOGITS:.*]] = weft.einsum "bsh,vh->bsv" {{.*}} -> tensor<4x64x256xf32>
// CHECK: %[[LOSS:.*]], %[[COUNT:.*]] = weft.cross_entropy %[[LOGITS]], %[[LABELS]]
// CHECK: weft.minimize %[[LOSS]] per %[[COUNT]]

// Documents are kept apart by one mask for all layers, positions and weights of rows; the parameters are the same.
// PACKED: weft.graph @train_packed("tokens" %{{.*}}: tensor<4x64xi32>, "labels" %[[LABELS:.*]]: tensor<4x64xi32>, "documents" %{{.*}}: tensor<4x64xi32>, "positions" %[[POSITIONS:.*]]: tensor<4x64xi32>, "loss_mask" %[[WEIGHTS:.*]]: tensor<4x64xf32>)
// PACKED: %[[MASK:.*]] = weft.equal {{.*}} -> tensor<4x1x64x64xi8>
// PACKED: weft.parameter "model.layers.0.self_attn.q_proj.weight"
// PACKED: %[[Q:.*]] = weft.rope %{{.*}} at(%[[POSITIONS]])
// PACKED: %[[K:.*]] = weft.rope %{{.*}} at(%[[POSITIONS]])
// PACKED: weft.attention %[[Q]], %[[K]], %{{.*}} mask(%[[MASK]]) causal {scope = "model.layers.0.self_attn"}
// PACKED: weft.attention {{.*}} mask(%[[MASK]]) causal {scope = "model.layers.1.self_attn"}
// PACKED: weft.cross_entropy %{{.*}}, %[[LABELS]] weights(%[[WEIGHTS]])
