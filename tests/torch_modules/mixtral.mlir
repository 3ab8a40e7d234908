// MixtralForCausalLM, imported from tests/torch_modules/models.py:mixtral.
model.config @layers = 2

model.layer @embedding(%x) {
  %weight = weft.parameter "weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.embedding %x, %weight
  model.return %0
}

model.layer @mixtral_rms_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %0 = weft.rms_norm %x, %weight eps(1.0e-05)
  model.return %0
}

model.layer @linear(%x) [size, size_2] {
  %weight = weft.parameter "weight" [size, 8, 32] stored [size_2, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  model.return %0
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [32, 4, 8] stored [32, 32] init(normal 0.15) sbp(tensor = S(1))
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  model.return %0
}

model.layer @mixtral_attention(%x) {
  %0 = model.call @linear "q_proj" (%x) [4, 32]
  %1 = model.call @linear "k_proj" (%x) [2, 16]
  %2 = model.call @linear "v_proj" (%x) [2, 16]
  %3 = weft.rope %0 theta(1000000.0)
  %4 = weft.rope %1 theta(1000000.0)
  %5 = weft.attention %3, %4, %2 causal
  %6 = model.call @linear_2 "o_proj" (%5)
  model.return %6
}

model.layer @linear_3(%x) {
  %weight = weft.parameter "weight" [4, 32] init(normal 0.15)
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.layer @linear_4(%x) [out] {
  %weight = weft.parameter "weight" [out, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.layer @linear_5(%x) {
  %weight = weft.parameter "weight" [32, 48] init(normal 0.15) sbp(tensor = S(1))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.layer @mixtral_block_sparse_top2mlp(%x) {
  %0 = model.call @linear_4 "w1" (%x) [48]
  %1 = weft.silu %0
  %2 = model.call @linear_4 "w3" (%x) [48]
  %3 = weft.mul %1, %2
  %4 = model.call @linear_5 "w2" (%3)
  model.return %4
}

model.layer @mixtral_sparse_moe_block(%x) {
  %0 = model.call @linear_3 "gate" (%x)
  %1 = weft.softmax %0
  %2, %3 = weft.top_k %1 k(2) dim(2)
  %4 = weft.reduce sum %2 over [2] keep_dims
  %5 = weft.div %2, %4
  %6 = model.call @mixtral_block_sparse_top2mlp "experts.0" (%x)
  %7 = weft.fill [1, 1, 1] value(0) to i32
  %8 = weft.equal %3, %7
  %9 = weft.cast %8 to f32
  %10 = weft.mul %5, %9
  %11 = weft.reduce sum %10 over [2] keep_dims
  %12 = weft.mul %6, %11
  %13 = model.call @mixtral_block_sparse_top2mlp "experts.1" (%x)
  %14 = weft.fill [1, 1, 1] value(1) to i32
  %15 = weft.equal %3, %14
  %16 = weft.cast %15 to f32
  %17 = weft.mul %5, %16
  %18 = weft.reduce sum %17 over [2] keep_dims
  %19 = weft.mul %13, %18
  %20 = model.call @mixtral_block_sparse_top2mlp "experts.2" (%x)
  %21 = weft.fill [1, 1, 1] value(2) to i32
  %22 = weft.equal %3, %21
  %23 = weft.cast %22 to f32
  %24 = weft.mul %5, %23
  %25 = weft.reduce sum %24 over [2] keep_dims
  %26 = weft.mul %20, %25
  %27 = model.call @mixtral_block_sparse_top2mlp "experts.3" (%x)
  %28 = weft.fill [1, 1, 1] value(3) to i32
  %29 = weft.equal %3, %28
  %30 = weft.cast %29 to f32
  %31 = weft.mul %5, %30
  %32 = weft.reduce sum %31 over [2] keep_dims
  %33 = weft.mul %27, %32
  %34 = weft.add %12, %19
  %35 = weft.add %34, %26
  %36 = weft.add %35, %33
  model.return %36
}

model.layer @mixtral_decoder_layer(%x) {
  %0 = model.call @mixtral_rms_norm "input_layernorm" (%x)
  %1 = model.call @mixtral_attention "self_attn" (%0)
  %2 = weft.add %x, %1
  %3 = model.call @mixtral_rms_norm "post_attention_layernorm" (%2)
  %4 = model.call @mixtral_sparse_moe_block "block_sparse_moe" (%3)
  %5 = weft.add %2, %4
  model.return %5
}

model.layer @mixtral_model(%x) {
  %0 = model.call @embedding "embed_tokens" (%x)
  %1 = model.repeat layers "layers" @mixtral_decoder_layer(%0)
  %2 = model.call @mixtral_rms_norm "norm" (%1)
  model.return %2
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %0 = model.call @mixtral_model "model" (%tokens)
  %1 = model.call @linear_4 "lm_head" (%0) [64]
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
