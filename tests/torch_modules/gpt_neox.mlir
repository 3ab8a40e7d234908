// GPTNeoXForCausalLM, imported from tests/torch_modules/models.py:gpt_neox.
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
  %weight = weft.parameter "weight" [4, 24, 32] stored [96, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [4, 24] stored [96] init(zeros) sbp(tensor = S(0))
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

model.layer @gpt_neo_x_attention(%x) {
  %0 = model.call @linear "query_key_value" (%x)
  %1 = weft.slice %0 dim(3) from(0) size(8)
  %2 = weft.slice %0 dim(3) from(8) size(8)
  %3 = weft.slice %0 dim(3) from(16) size(8)
  %4 = weft.slice %1 dim(3) from(0) size(2)
  %5 = weft.slice %1 dim(3) from(2) size(6)
  %6 = weft.slice %2 dim(3) from(0) size(2)
  %7 = weft.slice %2 dim(3) from(2) size(6)
  %8 = weft.rope %4 theta(10000.0)
  %9 = weft.rope %6 theta(10000.0)
  %10 = weft.concat %8, %5 dim(3)
  %11 = weft.concat %9, %7 dim(3)
  %12 = weft.attention %10, %11, %3 causal
  %13 = model.call @linear_2 "dense" (%12)
  model.return %13
}

model.layer @linear_3(%x) {
  %weight = weft.parameter "weight" [48, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [48] init(zeros) sbp(tensor = S(0))
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

model.layer @gpt_neo_xmlp(%x) {
  %0 = model.call @linear_3 "dense_h_to_4h" (%x)
  %1 = weft.gelu %0 approximate(none)
  %2 = model.call @linear_4 "dense_4h_to_h" (%1)
  model.return %2
}

model.layer @gpt_neo_x_layer(%x) {
  %0 = model.call @layer_norm "input_layernorm" (%x)
  %1 = model.call @gpt_neo_x_attention "attention" (%0)
  %2 = model.call @layer_norm "post_attention_layernorm" (%x)
  %3 = model.call @gpt_neo_xmlp "mlp" (%2)
  %4 = weft.add %3, %1
  %5 = weft.add %4, %x
  model.return %5
}

model.layer @gpt_neo_x_model(%x) {
  %0 = model.call @embedding "embed_in" (%x)
  %1 = model.repeat layers "layers" @gpt_neo_x_layer(%0)
  %2 = model.call @layer_norm "final_layer_norm" (%1)
  model.return %2
}

model.layer @linear_5(%x) {
  %weight = weft.parameter "weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %0 = model.call @gpt_neo_x_model "gpt_neox" (%tokens)
  %1 = model.call @linear_5 "embed_out" (%0)
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
