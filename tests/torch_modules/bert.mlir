// BertForMaskedLM, imported from tests/torch_modules/models.py:bert.
model.config @layers = 2

model.layer @layer_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.layer_norm %x, %weight, %bias eps(1.0e-12)
  model.return %0
}

model.layer @bert_embeddings(%x, %y) {
  %weight = weft.parameter "token_type_embeddings.weight" [2, 32] init(normal 0.16)
  %weight_2 = weft.parameter "position_embeddings.weight" [24, 32] init(normal 0.15)
  %0 = weft.embedding %x, %y
  %1 = weft.fill [1, 1] value(0) to i32
  %2 = weft.equal %x, %1
  %3 = weft.reshape %2 [batch, 16, 1]
  %4 = weft.stop_gradient %0
  %5 = weft.select %3, %4, %0
  %6 = weft.fill [1, 1] value(0) to i32
  %7 = weft.broadcast_to %6 [batch, 16]
  %8 = weft.embedding %7, %weight
  %9 = weft.add %5, %8
  %10 = weft.slice %weight_2 dim(0) from(0) size(16)
  %11 = weft.reshape %10 [1, 16, 32]
  %12 = weft.add %9, %11
  %13 = model.call @layer_norm "LayerNorm" (%12)
  model.return %13
}

model.layer @linear(%x) {
  %weight = weft.parameter "weight" [4, 8, 32] stored [32, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [4, 8] stored [32] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @bert_sdpa_self_attention(%x, %y) {
  %0 = model.call @linear "query" (%x)
  %1 = model.call @linear "key" (%x)
  %2 = model.call @linear "value" (%x)
  %3 = weft.attention %0, %1, %2 bias(%y)
  model.return %3
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [32, 4, 8] stored [32, 32] init(normal 0.15) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @bert_self_output(%x, %y) {
  %0 = model.call @linear_2 "dense" (%x)
  %1 = weft.add %0, %y
  %2 = model.call @layer_norm "LayerNorm" (%1)
  model.return %2
}

model.layer @bert_attention(%x, %y) {
  %0 = model.call @bert_sdpa_self_attention "self" (%x, %y)
  %1 = model.call @bert_self_output "output" (%0, %x)
  model.return %1
}

model.layer @linear_3(%x) {
  %weight = weft.parameter "weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [64] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @bert_intermediate(%x) {
  %0 = model.call @linear_3 "dense" (%x)
  %1 = weft.gelu %0 approximate(none)
  model.return %1
}

model.layer @linear_4(%x) {
  %weight = weft.parameter "weight" [32, 64] init(normal 0.15) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @bert_output(%x, %y) {
  %0 = model.call @linear_4 "dense" (%x)
  %1 = weft.add %0, %y
  %2 = model.call @layer_norm "LayerNorm" (%1)
  model.return %2
}

model.layer @bert_layer(%x, %y) {
  %0 = model.call @bert_attention "attention" (%x, %y)
  %1 = model.call @bert_intermediate "intermediate" (%0)
  %2 = model.call @bert_output "output" (%1, %0)
  model.return %2
}

model.layer @bert_encoder(%x, %y) {
  %0 = model.repeat layers "layer" @bert_layer(%x, %y)
  model.return %0
}

model.layer @bert_model(%x, %y, %z) {
  %0 = model.call @bert_embeddings "embeddings" (%x, %y)
  %1 = weft.reshape %z [batch, 1, 1, 16]
  %2 = weft.cast %1 to f32
  %3 = weft.fill [] value(1.0)
  %4 = weft.sub %3, %2
  %5 = weft.fill [1, 1, 1, 1] value(0.0)
  %6 = weft.not_equal %4, %5
  %7 = weft.fill [1, 1, 1, 1] value(-3.4028234663852886e+38)
  %8 = weft.select %6, %7, %4
  %9 = model.call @bert_encoder "encoder" (%0, %8)
  model.return %9
}

model.layer @linear_5(%x) {
  %weight = weft.parameter "weight" [32, 32] init(normal 0.15)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @bert_prediction_head_transform(%x) {
  %0 = model.call @linear_5 "dense" (%x)
  %1 = weft.gelu %0 approximate(none)
  %2 = model.call @layer_norm "LayerNorm" (%1)
  model.return %2
}

model.layer @bert_lm_prediction_head(%x, %y) {
  %bias = weft.parameter "bias" [64] init(zeros) sbp(tensor = S(0))
  %0 = model.call @bert_prediction_head_transform "transform" (%x)
  %1 = weft.einsum "bsi,oi->bso" %0, %y
  %2 = weft.add %1, %bias
  model.return %2
}

model.graph @train(%input_ids [batch, 16] i32, %attention_mask [batch, 16] i32, %labels [batch, 16] i32) {
  %weight = weft.parameter "bert.embeddings.word_embeddings.weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = model.call @bert_model "bert" (%input_ids, %weight, %attention_mask)
  %1 = model.call @bert_lm_prediction_head "cls.predictions" (%0, %weight)
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
