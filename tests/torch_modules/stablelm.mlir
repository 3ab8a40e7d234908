// StableLmForCausalLM, imported from tests/torch_modules/models.py:stablelm.
model.config @layers = 2

model.layer @embedding(%x) {
  %weight = weft.parameter "weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.embedding %x, %weight
  model.return %0
}

model.layer @layer_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.layer_norm %x, %weight, %bias eps(1.0e-05)
  model.return %0
}

model.layer @linear(%x) {
  %weight = weft.parameter "weight" [2, 8, 32] stored [16, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  model.return %0
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [32, 4, 8] stored [32, 32] init(normal 0.15) sbp(tensor = S(1))
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  model.return %0
}

model.layer @stable_lm_sdpa_attention(%x) {
  %weight = weft.parameter "q_proj.weight" [4, 8, 32] stored [32, 32] init(normal 0.15) sbp(tensor = S(0))
  %weight_2 = weft.parameter "k_proj.weight" [2, 8, 32] stored [16, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = model.call @linear "v_proj" (%x)
  %1 = weft.einsum "bsi,opi->bosp" %x, %weight
  %2 = weft.einsum "bsi,opi->bosp" %x, %weight_2
  %3 = weft.slice %1 dim(3) from(0) size(2)
  %4 = weft.slice %1 dim(3) from(2) size(6)
  %5 = weft.slice %2 dim(3) from(0) size(2)
  %6 = weft.slice %2 dim(3) from(2) size(6)
  %7 = weft.transpose %3 [0, 2, 1, 3]
  %8 = weft.rope %7 theta(10000.0)
  %9 = weft.transpose %8 [0, 2, 1, 3]
  %10 = weft.transpose %5 [0, 2, 1, 3]
  %11 = weft.rope %10 theta(10000.0)
  %12 = weft.transpose %11 [0, 2, 1, 3]
  %13 = weft.concat %9, %4 dim(3)
  %14 = weft.concat %12, %6 dim(3)
  %15 = weft.transpose %13 [0, 2, 1, 3]
  %16 = weft.transpose %14 [0, 2, 1, 3]
  %17 = weft.attention %15, %16, %0 causal
  %18 = model.call @linear_2 "o_proj" (%17)
  model.return %18
}

model.layer @linear_3(%x) [out] {
  %weight = weft.parameter "weight" [out, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.layer @linear_4(%x) {
  %weight = weft.parameter "weight" [32, 48] init(normal 0.15) sbp(tensor = S(1))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.layer @stable_lm_mlp(%x) {
  %0 = model.call @linear_3 "gate_proj" (%x) [48]
  %1 = weft.silu %0
  %2 = model.call @linear_3 "up_proj" (%x) [48]
  %3 = weft.mul %1, %2
  %4 = model.call @linear_4 "down_proj" (%3)
  model.return %4
}

model.layer @stable_lm_decoder_layer(%x) {
  %0 = model.call @layer_norm "input_layernorm" (%x)
  %1 = model.call @stable_lm_sdpa_attention "self_attn" (%0)
  %2 = weft.add %x, %1
  %3 = model.call @layer_norm "post_attention_layernorm" (%2)
  %4 = model.call @stable_lm_mlp "mlp" (%3)
  %5 = weft.add %2, %4
  model.return %5
}

model.layer @stable_lm_model(%x) {
  %0 = model.call @embedding "embed_tokens" (%x)
  %1 = model.repeat layers "layers" @stable_lm_decoder_layer(%0)
  %2 = model.call @layer_norm "norm" (%1)
  model.return %2
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %0 = model.call @stable_lm_model "model" (%tokens)
  %1 = model.call @linear_3 "lm_head" (%0) [64]
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
