// BloomForCausalLM, imported from tests/torch_modules/models.py:bloom.
model.config @layers = 2

model.layer @layer_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.layer_norm %x, %weight, %bias eps(1.0e-05)
  model.return %0
}

model.layer @linear(%x) {
  %weight = weft.parameter "weight" [4, 3, 8, 32] stored [96, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [4, 3, 8] stored [96] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,opqi->bsopq" %x, %weight
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

model.layer @bloom_attention(%x, %y) {
  %0 = model.call @linear "query_key_value" (%x)
  %1 = weft.slice %0 dim(3) from(0) size(1)
  %2 = weft.reshape %1 [batch, 16, 4, 8]
  %3 = weft.slice %0 dim(3) from(1) size(1)
  %4 = weft.slice %0 dim(3) from(2) size(1)
  %5 = weft.reshape %4 [batch, 16, 4, 8]
  %6 = weft.reshape %3 [batch, 16, 4, 8]
  %7 = weft.iota [1, 1, 1, 16] dim(3) to f32
  %8 = weft.constant [1, 4, 1, 1] values [0.25, 0.0625, 0.015625, 0.00390625]
  %9 = weft.mul %8, %7
  %10 = weft.attention %2, %6, %5 bias(%9) causal
  %11 = model.call @linear_2 "dense" (%10)
  %12 = weft.add %y, %11
  model.return %12
}

model.layer @linear_3(%x) {
  %weight = weft.parameter "weight" [128, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [128] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @linear_4(%x) {
  %weight = weft.parameter "weight" [32, 128] init(normal 0.15) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @bloom_mlp(%x, %y) {
  %0 = model.call @linear_3 "dense_h_to_4h" (%x)
  %1 = weft.gelu %0 approximate(tanh)
  %2 = model.call @linear_4 "dense_4h_to_h" (%1)
  %3 = weft.add %y, %2
  model.return %3
}

model.layer @bloom_block(%x) {
  %0 = model.call @layer_norm "input_layernorm" (%x)
  %1 = model.call @bloom_attention "self_attention" (%0, %x)
  %2 = model.call @layer_norm "post_attention_layernorm" (%1)
  %3 = model.call @bloom_mlp "mlp" (%2, %1)
  model.return %3
}

model.layer @bloom_model(%x, %y) {
  %0 = weft.embedding %x, %y
  %1 = model.call @layer_norm "word_embeddings_layernorm" (%0)
  %2 = model.repeat layers "h" @bloom_block(%1)
  %3 = model.call @layer_norm "ln_f" (%2)
  model.return %3
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %weight = weft.parameter "transformer.word_embeddings.weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = model.call @bloom_model "transformer" (%tokens, %weight)
  %1 = weft.einsum "bsi,oi->bso" %0, %weight
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
