// GPT2LMHeadModel, imported from tests/torch_modules/models.py:gpt2.
model.config @layers = 2

model.layer @layer_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.layer_norm %x, %weight, %bias eps(1.0e-05)
  model.return %0
}

model.layer @conv1d(%x) {
  %bias = weft.parameter "bias" [3, 4, 8] stored [96] init(zeros) sbp(tensor = S(1))
  %weight = weft.parameter "weight" [32, 3, 4, 8] stored [32, 96] init(normal 0.15) sbp(tensor = S(2))
  %0 = weft.einsum "bsi,iopq->bsopq" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @conv1d_2(%x) {
  %bias = weft.parameter "bias" [32] init(zeros)
  %weight = weft.parameter "weight" [4, 8, 32] stored [32, 32] init(normal 0.076) sbp(tensor = S(0))
  %0 = weft.einsum "bsij,ijo->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @gpt2_attention(%x) {
  %0 = model.call @conv1d "c_attn" (%x)
  %1 = weft.slice %0 dim(2) from(1) size(1)
  %2 = weft.reshape %1 [batch, 16, 4, 8]
  %3 = weft.slice %0 dim(2) from(2) size(1)
  %4 = weft.reshape %3 [batch, 16, 4, 8]
  %5 = weft.slice %0 dim(2) from(0) size(1)
  %6 = weft.reshape %5 [batch, 16, 4, 8]
  %7 = weft.attention %6, %2, %4 causal
  %8 = model.call @conv1d_2 "c_proj" (%7)
  model.return %8
}

model.layer @conv1d_3(%x) {
  %bias = weft.parameter "bias" [128] init(zeros) sbp(tensor = S(0))
  %weight = weft.parameter "weight" [32, 128] init(normal 0.15) sbp(tensor = S(1))
  %0 = weft.einsum "bsi,io->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @conv1d_4(%x) {
  %bias = weft.parameter "bias" [32] init(zeros)
  %weight = weft.parameter "weight" [128, 32] init(normal 0.075) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,io->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @gpt2mlp(%x) {
  %0 = model.call @conv1d_3 "c_fc" (%x)
  %1 = weft.gelu %0 approximate(tanh)
  %2 = model.call @conv1d_4 "c_proj" (%1)
  model.return %2
}

model.layer @gpt2_block(%x) {
  %0 = model.call @layer_norm "ln_1" (%x)
  %1 = model.call @gpt2_attention "attn" (%0)
  %2 = weft.add %1, %x
  %3 = model.call @layer_norm "ln_2" (%2)
  %4 = model.call @gpt2mlp "mlp" (%3)
  %5 = weft.add %2, %4
  model.return %5
}

model.layer @gpt2_model(%x, %y) {
  %weight = weft.parameter "wpe.weight" [24, 32] init(normal 0.15)
  %0 = weft.embedding %x, %y
  %1 = weft.slice %weight dim(0) from(0) size(16)
  %2 = weft.reshape %1 [1, 16, 32]
  %3 = weft.add %0, %2
  %4 = model.repeat layers "h" @gpt2_block(%3)
  %5 = model.call @layer_norm "ln_f" (%4)
  model.return %5
}

model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32) {
  %weight = weft.parameter "transformer.wte.weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %0 = model.call @gpt2_model "transformer" (%tokens, %weight)
  %1 = weft.einsum "bsi,oi->bso" %0, %weight
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
