// GPT-2 has the parameters of Hugging Face's, by name and stored shape, and splits them as Megatron does.
// RUN: weft-opt %S/../gpt2/gpt2.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2,model.set=vocab=256,model.set=seq=64,model.set=positions=64,model.set=layers=2,model.set=heads=4,model.set=hidden=64" | FileCheck %s
// RUN: weft-opt %S/../gpt2/gpt2.mlir --phase-elaborate="keys=model.graph=logits,model.set=layers=1" | FileCheck %s --check-prefix=FUNCTION
// RUN: weft-opt %S/../gpt2/gpt2.mlir --phase-elaborate="keys=model.graph=train,batch.micro=8,dist.data=8,dist.tensor=8,model.set=layers=48,model.set=hidden=1600,model.set=heads=16" | FileCheck %s --check-prefix=XL
// RUN: weft-opt %S/../gpt2/gpt2.mlir --phase-elaborate="keys=model.graph=train_packed,batch.micro=4,model.set=vocab=256,model.set=seq=64,model.set=positions=64,model.set=layers=2,model.set=heads=4,model.set=hidden=64" | FileCheck %s --check-prefix=PACKED

// CHECK: weft.graph @train("tokens" %{{.*}}: tensor<4x64xi32>, "labels" %[[LABELS:.*]]: tensor<4x64xi32>)
// CHECK: weft.parameter "wte.weight" [256, 64] init(normal 2.000000e-02) sbp(tensor = S(0))
// CHECK: weft.parameter "wpe.weight" [64, 64] init(normal 2.000000e-02)
// CHECK: weft.dropout {{.*}} rate(1.000000e-01)
// CHECK: weft.parameter "h.0.ln_1.weight" [64] init(ones)
// CHECK: weft.parameter "h.0.ln_1.bias" [64] init(zeros)
// CHECK: weft.parameter "h.0.attn.c_attn.weight" [64, 3, 4, 16] stored [64, 192] init(normal 2.000000e-02) sbp(tensor = S(2))
// CHECK: weft.parameter "h.0.attn.c_attn.bias" [3, 4, 16] stored [192] init(zeros) sbp(tensor = S(1))
// CHECK: weft.attention {{.*}} causal {scope = "h.0.attn"} {{.*}} -> tensor<4x64x4x16xf32>
// CHECK: weft.parameter "h.0.attn.c_proj.weight" [4, 16, 64] stored [64, 64] init(normal 1.000000e-02) sbp(tensor = S(0))
// CHECK: weft.parameter "h.0.attn.c_proj.bias" [64] init(zeros)
// CHECK: weft.parameter "h.0.ln_2.weight" [64] init(ones)
// CHECK: weft.parameter "h.0.ln_2.bias" [64] init(zeros)
// CHECK: weft.parameter "h.0.mlp.c_fc.weight" [64, 256] init(normal 2.000000e-02) sbp(tensor = S(1))
// CHECK: weft.parameter "h.0.mlp.c_fc.bias" [256] init(zeros) sbp(tensor = S(0))
// CHECK: weft.gelu {{.*}} approximate(tanh)
// CHECK: weft.parameter "h.0.mlp.c_proj.weight" [256, 64] init(normal 1.000000e-02) sbp(tensor = S(0))
// CHECK: weft.parameter "h.0.mlp.c_proj.bias" [64] init(zeros)
// CHECK: weft.parameter "h.1.ln_1.weight" [64] init(ones)
// CHECK: weft.parameter "h.1.mlp.c_proj.bias" [64] init(zeros)
// CHECK-NOT: "h.2
// CHECK: weft.parameter "ln_f.weight" [64] init(ones)
// CHECK: weft.parameter "ln_f.bias" [64] init(zeros)
// CHECK: %[[LOGITS:.*]] = weft.einsum "bsh,vh->bsv" {{.*}} -> tensor<4x64x256xf32>
// CHECK: %[[LOSS:.*]], %[[COUNT:.*]] = weft.cross_entropy %[[LOGITS]], %[[LABELS]]
// CHECK: weft.minimize %[[LOSS]] per %[[COUNT]]

// A function draws nothing at random.
// FUNCTION:     weft.graph @logits("tokens" %{{.*}}: tensor<1x1024xi32>)
// FUNCTION-NOT: weft.dropout
// FUNCTION:     weft.output "logits" {{.*}} : (tensor<1x1024x50304xf32>)

// XL: weft.parameter "wte.weight" [50304, 1600]
// XL: weft.parameter "h.47.attn.c_attn.weight" [1600, 3, 16, 100] stored [1600, 4800]

// Documents are kept apart by one mask for all layers, positions and weights of rows; the parameters are the same.
// PACKED: weft.graph @train_packed("tokens" %{{.*}}: tensor<4x64xi32>, "labels" %[[LABELS:.*]]: tensor<4x64xi32>, "documents" %{{.*}}: tensor<4x64xi32>, "positions" %[[POSITIONS:.*]]: tensor<4x64xi32>, "loss_mask" %[[WEIGHTS:.*]]: tensor<4x64xf32>)
// PACKED: %[[WPE:.*]] = weft.parameter "wpe.weight" [64, 64] init(normal 2.000000e-02)
// PACKED: weft.embedding %[[POSITIONS]], %[[WPE]]
// PACKED: %[[MASK:.*]] = weft.equal {{.*}} -> tensor<4x1x64x64xi8>
// PACKED: weft.attention {{.*}} mask(%[[MASK]]) causal {scope = "h.0.attn"}
// PACKED: weft.parameter "h.0.ln_2.weight"
// PACKED: weft.attention {{.*}} mask(%[[MASK]]) causal {scope = "h.1.attn"}
// PACKED: weft.cross_entropy %{{.*}}, %[[LABELS]] weights(%[[WEIGHTS]])
