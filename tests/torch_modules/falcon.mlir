// FalconForCausalLM, imported from tests/torch_modules/models.py:falcon.
model.config @layers = 2

model.layer @layer_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.layer_norm %x, %weight, %bias eps(1.0e-05)
  model.return %0
}

model.layer @falcon_linear(%x) {
  %weight = weft.parameter "weight" [6, 8, 32] stored [48, 32] init(normal 0.15)
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  model.return %0
}

model.layer @falcon_linear_2(%x) {
  %weight = weft.parameter "weight" [32, 4, 8] stored [32, 32] init(normal 0.15)
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  model.return %0
}

model.layer @falcon_attention(%x) {
  %0 = model.call @falcon_linear "query_key_value" (%x)
  %1 = weft.slice %0 dim(2) from(0) size(4)
  %2 = weft.slice %0 dim(2) from(4) size(1)
  %3 = weft.slice %0 dim(2) from(5) size(1)
  %4 = weft.rope %1 theta(10000.0)
  %5 = weft.rope %2 theta(10000.0)
  %6 = weft.attention %4, %5, %3 causal
  %7 = model.call @falcon_linear_2 "dense" (%6)
  model.return %7
}

model.layer @falcon_linear_3(%x) {
  %weight = weft.parameter "weight" [128, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.layer @falcon_linear_4(%x) {
  %weight = weft.parameter "weight" [32, 128] init(normal 0.15) sbp(tensor = S(1))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.layer @falcon_mlp(%x) {
  %0 = model.call @falcon_linear_3 "dense_h_to_4h" (%x)
  %1 = weft.gelu %0 approximate(none)
  %2 = model.call @falcon_linear_4 "dense_4h_to_h" (%1)
  model.return %2
}

model.layer @falcon_decoder_layer(%x) {
  %0 = model.call @layer_norm "input_layernorm" (%x)
  %1 = model.call @falcon_attention "self_attention" (%0)
  %2 = model.call @falcon_mlp "mlp" (%0)
  %3 = weft.add %2, %1
  %4 = weft.add %x, %3
  model.return %4
}

model.layer @falcon_model(%x, %y) {
  %0 = weft.embedding %x, %y
  %1 = model.repeat layers "h" @falcon_decoder_layer(%0)
  %2 = model.call @layer_norm "ln_f" (%1)
  model.return %2
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %weight = weft.parameter "transformer.word_embeddings.weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = model.call @falcon_model "transformer" (%tokens, %weight)
  %1 = weft.einsum "bsi,oi->bso" %0, %weight
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
