// OlmoForCausalLM, imported from tests/torch_modules/models.py:olmo.
model.config @layers = 2

model.layer @embedding(%x) {
  %weight = weft.parameter "weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.embedding %x, %weight
  %1 = weft.fill [1, 1] value(1) to i32
  %2 = weft.equal %x, %1
  %3 = weft.reshape %2 [batch, 16, 1]
  %4 = weft.stop_gradient %0
  %5 = weft.select %3, %4, %0
  model.return %5
}

model.layer @linear(%x) {
  %weight = weft.parameter "weight" [4, 8, 32] stored [32, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  model.return %0
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [32, 4, 8] stored [32, 32] init(normal 0.15) sbp(tensor = S(1))
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  model.return %0
}

model.layer @olmo_attention(%x) {
  %0 = model.call @linear "q_proj" (%x)
  %1 = model.call @linear "k_proj" (%x)
  %2 = model.call @linear "v_proj" (%x)
  %3 = weft.rope %0 theta(10000.0)
  %4 = weft.rope %1 theta(10000.0)
  %5 = weft.attention %3, %4, %2 causal
  %6 = model.call @linear_2 "o_proj" (%5)
  model.return %6
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

model.layer @olmo_mlp(%x) {
  %0 = model.call @linear_3 "gate_proj" (%x) [48]
  %1 = weft.silu %0
  %2 = model.call @linear_3 "up_proj" (%x) [48]
  %3 = weft.mul %1, %2
  %4 = model.call @linear_4 "down_proj" (%3)
  model.return %4
}

model.layer @olmo_decoder_layer(%x) {
  %0 = weft.fill [32] value(0.0)
  %1 = weft.fill [32] value(1.0)
  %2 = weft.layer_norm %x, %1, %0 eps(1.0e-05)
  %3 = model.call @olmo_attention "self_attn" (%2)
  %4 = weft.add %x, %3
  %5 = weft.fill [32] value(0.0)
  %6 = weft.fill [32] value(1.0)
  %7 = weft.layer_norm %4, %6, %5 eps(1.0e-05)
  %8 = model.call @olmo_mlp "mlp" (%7)
  %9 = weft.add %4, %8
  model.return %9
}

model.layer @olmo_model(%x) {
  %0 = model.call @embedding "embed_tokens" (%x)
  %1 = model.repeat layers "layers" @olmo_decoder_layer(%0)
  %2 = weft.fill [32] value(0.0)
  %3 = weft.fill [32] value(1.0)
  %4 = weft.layer_norm %1, %3, %2 eps(1.0e-05)
  model.return %4
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %0 = model.call @olmo_model "model" (%tokens)
  %1 = model.call @linear_3 "lm_head" (%0) [64]
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
