// OPTForCausalLM, imported from tests/torch_modules/models.py:opt.
model.config @layers = 2

model.layer @layer_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.layer_norm %x, %weight, %bias eps(1.0e-05)
  model.return %0
}

model.layer @linear(%x) {
  %weight = weft.parameter "weight" [32, 32] init(normal 0.02)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [4, 8, 32] stored [32, 32] init(normal 0.02)
  %bias = weft.parameter "bias" [4, 8] stored [32] init(zeros)
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @linear_3(%x) {
  %weight = weft.parameter "weight" [32, 4, 8] stored [32, 32] init(normal 0.019)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @opt_attention(%x) {
  %0 = model.call @linear "q_proj" (%x)
  %1 = weft.scale %0 by(0.3535533905932738)
  %2 = weft.reshape %1 [batch, 16, 4, 8]
  %3 = model.call @linear_2 "k_proj" (%x)
  %4 = model.call @linear_2 "v_proj" (%x)
  %5 = weft.attention %2, %3, %4 causal scale(1.0)
  %6 = model.call @linear_3 "out_proj" (%5)
  model.return %6
}

model.layer @linear_4(%x) {
  %weight = weft.parameter "weight" [64, 32] init(normal 0.02) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [64] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @linear_5(%x) {
  %weight = weft.parameter "weight" [32, 64] init(normal 0.02) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @opt_decoder_layer(%x) {
  %0 = model.call @layer_norm "self_attn_layer_norm" (%x)
  %1 = model.call @opt_attention "self_attn" (%0)
  %2 = weft.add %x, %1
  %3 = model.call @layer_norm "final_layer_norm" (%2)
  %4 = model.call @linear_4 "fc1" (%3)
  %5 = weft.relu %4
  %6 = model.call @linear_5 "fc2" (%5)
  %7 = weft.add %2, %6
  model.return %7
}

model.layer @opt_decoder(%x, %y) {
  %weight = weft.parameter "embed_positions.weight" [66, 32] init(normal 0.02)
  %0 = weft.embedding %x, %y
  %1 = weft.fill [1, 1] value(1) to i32
  %2 = weft.equal %x, %1
  %3 = weft.reshape %2 [batch, 16, 1]
  %4 = weft.stop_gradient %0
  %5 = weft.select %3, %4, %0
  %6 = weft.slice %weight dim(0) from(2) size(16)
  %7 = weft.reshape %6 [1, 16, 32]
  %8 = weft.add %5, %7
  %9 = model.repeat layers "layers" @opt_decoder_layer(%8)
  %10 = model.call @layer_norm "final_layer_norm" (%9)
  model.return %10
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %weight = weft.parameter "model.decoder.embed_tokens.weight" [64, 32] init(normal 0.02) sbp(tensor = S(0))
  %0 = model.call @opt_decoder "model.decoder" (%tokens, %weight)
  %1 = weft.einsum "bsi,oi->bso" %0, %weight
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
