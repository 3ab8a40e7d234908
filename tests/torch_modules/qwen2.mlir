// Qwen2ForCausalLM, imported from tests/torch_modules/models.py:qwen2.
model.config @layers = 2

model.layer @qwen2rms_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %0 = weft.rms_norm %x, %weight eps(1.0e-06)
  model.return %0
}

model.layer @linear(%x) [size, size_2] {
  %weight = weft.parameter "weight" [size, 8, 32] stored [size_2, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [size, 8] stored [size_2] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [32, 4, 8] stored [32, 32] init(normal 0.15) sbp(tensor = S(1))
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  model.return %0
}

model.layer @qwen2_attention(%x) {
  %0 = model.call @linear "q_proj" (%x) [4, 32]
  %1 = model.call @linear "k_proj" (%x) [2, 16]
  %2 = model.call @linear "v_proj" (%x) [2, 16]
  %3 = weft.rope %0 theta(10000.0)
  %4 = weft.rope %1 theta(10000.0)
  %5 = weft.attention %3, %4, %2 causal
  %6 = model.call @linear_2 "o_proj" (%5)
  model.return %6
}

model.layer @linear_3(%x) {
  %weight = weft.parameter "weight" [48, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.layer @linear_4(%x) {
  %weight = weft.parameter "weight" [32, 48] init(normal 0.15) sbp(tensor = S(1))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.layer @qwen2mlp(%x) {
  %0 = model.call @linear_3 "gate_proj" (%x)
  %1 = weft.silu %0
  %2 = model.call @linear_3 "up_proj" (%x)
  %3 = weft.mul %1, %2
  %4 = model.call @linear_4 "down_proj" (%3)
  model.return %4
}

model.layer @qwen2_decoder_layer(%x) {
  %0 = model.call @qwen2rms_norm "input_layernorm" (%x)
  %1 = model.call @qwen2_attention "self_attn" (%0)
  %2 = weft.add %x, %1
  %3 = model.call @qwen2rms_norm "post_attention_layernorm" (%2)
  %4 = model.call @qwen2mlp "mlp" (%3)
  %5 = weft.add %2, %4
  model.return %5
}

model.layer @qwen2_model(%x, %y) {
  %0 = weft.embedding %x, %y
  %1 = model.repeat layers "layers" @qwen2_decoder_layer(%0)
  %2 = model.call @qwen2rms_norm "norm" (%1)
  model.return %2
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %weight = weft.parameter "model.embed_tokens.weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = model.call @qwen2_model "model" (%tokens, %weight)
  %1 = weft.einsum "bsi,oi->bso" %0, %weight
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
