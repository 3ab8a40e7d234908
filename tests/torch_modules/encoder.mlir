// Encoder, imported from tests/torch_modules/models.py:encoder.
model.config @layers = 2

model.layer @embedding(%x) {
  %weight = weft.parameter "weight" [64, 32] init(normal 1.0) sbp(tensor = S(0))
  %0 = weft.embedding %x, %weight
  model.return %0
}

model.layer @multihead_attention(%x) {
  %in_proj_weight = weft.parameter "in_proj_weight" [3, 4, 8, 32] stored [96, 32] init(normal 0.13)
      sbp(tensor = S(1))
  %in_proj_bias = weft.parameter "in_proj_bias" [3, 4, 8] stored [96] init(zeros) sbp(tensor = S(1))
  %weight = weft.parameter "out_proj.weight" [32, 4, 8] stored [32, 32] init(normal 0.1) sbp(tensor = S(1))
  %bias = weft.parameter "out_proj.bias" [32] init(zeros)
  %0 = weft.einsum "bsi,opqi->bsopq" %x, %in_proj_weight
  %1 = weft.add %0, %in_proj_bias
  %2 = weft.slice %1 dim(2) from(0) size(1)
  %3 = weft.reshape %2 [batch, 16, 4, 8]
  %4 = weft.slice %1 dim(2) from(1) size(1)
  %5 = weft.reshape %4 [batch, 16, 4, 8]
  %6 = weft.slice %1 dim(2) from(2) size(1)
  %7 = weft.reshape %6 [batch, 16, 4, 8]
  %8 = weft.attention %3, %5, %7
  %9 = weft.einsum "bsij,oij->bso" %8, %weight
  %10 = weft.add %9, %bias
  model.return %10
}

model.layer @layer_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.layer_norm %x, %weight, %bias eps(1.0e-05)
  model.return %0
}

model.layer @linear(%x) [std] {
  %weight = weft.parameter "weight" [64, 32] init(normal 0.1) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [64] init(normal std) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [32, 64] init(normal 0.072) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [32] init(normal 0.076)
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @transformer_encoder_layer(%x) {
  %0 = model.call @multihead_attention "self_attn" (%x)
  %1 = weft.add %x, %0
  %2 = model.call @layer_norm "norm1" (%1)
  %3 = model.call @linear "linear1" (%2) [0.098]
  %4 = weft.relu %3
  %5 = model.call @linear_2 "linear2" (%4)
  %6 = weft.add %2, %5
  %7 = model.call @layer_norm "norm2" (%6)
  model.return %7
}

model.layer @transformer_encoder(%x) {
  %0 = model.repeat layers "layers" @transformer_encoder_layer(%x)
  model.return %0
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %0 = model.call @embedding "embedding" (%tokens)
  %1 = model.call @transformer_encoder "encoder" (%0)
  %2 = model.call @linear "head" (%1) [0.12]
  %3, %4 = weft.cross_entropy %2, %labels
  weft.minimize %3 per %4
}
