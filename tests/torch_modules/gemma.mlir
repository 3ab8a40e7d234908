// GemmaForCausalLM, imported from tests/torch_modules/models.py:gemma.
model.config @layers = 2

model.layer @gemma_rms_norm(%x) {
  %weight = weft.parameter "weight" [32] init(zeros)
  %0 = weft.add_scalar %weight by(1.0)
  %1 = weft.rms_norm %x, %0 eps(1.0e-06)
  model.return %1
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

model.layer @gemma_attention(%x) {
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

model.layer @gemma_mlp(%x) {
  %0 = model.call @linear_3 "gate_proj" (%x)
  %1 = weft.gelu %0 approximate(tanh)
  %2 = model.call @linear_3 "up_proj" (%x)
  %3 = weft.mul %1, %2
  %4 = model.call @linear_4 "down_proj" (%3)
  model.return %4
}

model.layer @gemma_decoder_layer(%x) {
  %0 = model.call @gemma_rms_norm "input_layernorm" (%x)
  %1 = model.call @gemma_attention "self_attn" (%0)
  %2 = weft.add %x, %1
  %3 = model.call @gemma_rms_norm "post_attention_layernorm" (%2)
  %4 = model.call @gemma_mlp "mlp" (%3)
  %5 = weft.add %2, %4
  model.return %5
}

model.layer @gemma_model(%x, %y) {
  %0 = weft.embedding %x, %y
  %1 = weft.fill [1, 1] value(0) to i32
  %2 = weft.equal %x, %1
  %3 = weft.reshape %2 [batch, 16, 1]
  %4 = weft.stop_gradient %0
  %5 = weft.select %3, %4, %0
  %6 = weft.fill [] value(5.656854152679443)
  %7 = weft.mul %5, %6
  %8 = model.repeat layers "layers" @gemma_decoder_layer(%7)
  %9 = model.call @gemma_rms_norm "norm" (%8)
  model.return %9
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %weight = weft.parameter "model.embed_tokens.weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = model.call @gemma_model "model" (%tokens, %weight)
  %1 = weft.einsum "bsi,oi->bso" %0, %weight
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
