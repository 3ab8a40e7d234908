// PhiForCausalLM, imported from tests/torch_modules/models.py:phi.
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
  %weight = weft.parameter "weight" [4, 8, 32] stored [32, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [4, 8] stored [32] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [32, 4, 8] stored [32, 32] init(normal 0.15) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @phi_attention(%x) {
  %0 = model.call @linear "q_proj" (%x)
  %1 = model.call @linear "k_proj" (%x)
  %2 = model.call @linear "v_proj" (%x)
  %3 = weft.slice %0 dim(3) from(0) size(4)
  %4 = weft.slice %0 dim(3) from(4) size(4)
  %5 = weft.slice %1 dim(3) from(0) size(4)
  %6 = weft.slice %1 dim(3) from(4) size(4)
  %7 = weft.rope %3 theta(10000.0)
  %8 = weft.rope %5 theta(10000.0)
  %9 = weft.concat %7, %4 dim(3)
  %10 = weft.concat %8, %6 dim(3)
  %11 = weft.attention %9, %10, %2 causal
  %12 = model.call @linear_2 "dense" (%11)
  model.return %12
}

model.layer @linear_3(%x) [out] {
  %weight = weft.parameter "weight" [out, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [out] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @linear_4(%x) {
  %weight = weft.parameter "weight" [32, 48] init(normal 0.15) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @phi_mlp(%x) {
  %0 = model.call @linear_3 "fc1" (%x) [48]
  %1 = weft.gelu %0 approximate(tanh)
  %2 = model.call @linear_4 "fc2" (%1)
  model.return %2
}

model.layer @phi_decoder_layer(%x) {
  %0 = model.call @layer_norm "input_layernorm" (%x)
  %1 = model.call @phi_attention "self_attn" (%0)
  %2 = model.call @phi_mlp "mlp" (%0)
  %3 = weft.add %1, %2
  %4 = weft.add %3, %x
  model.return %4
}

model.layer @phi_model(%x) {
  %0 = model.call @embedding "embed_tokens" (%x)
  %1 = model.repeat layers "layers" @phi_decoder_layer(%0)
  %2 = model.call @layer_norm "final_layernorm" (%1)
  model.return %2
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %0 = model.call @phi_model "model" (%tokens)
  %1 = model.call @linear_3 "lm_head" (%0) [64]
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
