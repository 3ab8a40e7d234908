// T5ForConditionalGeneration, imported from tests/torch_modules/models.py:t5.
model.config @layers = 3

model.layer @t5_layer_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %0 = weft.rms_norm %x, %weight eps(1.0e-06)
  model.return %0
}

model.layer @linear(%x) [std] {
  %weight = weft.parameter "weight" [4, 8, 32] stored [32, 32] init(normal std) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  model.return %0
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [32, 4, 8] stored [32, 32] init(normal 0.18) sbp(tensor = S(1))
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  model.return %0
}

model.layer @t5_attention(%x, %y) {
  %0 = model.call @linear "q" (%x) [0.062]
  %1 = model.call @linear "k" (%x) [0.17]
  %2 = model.call @linear "v" (%x) [0.18]
  %3 = weft.attention %0, %1, %2 bias(%y) scale(1.0)
  %4 = model.call @linear_2 "o" (%3)
  model.return %4
}

model.layer @t5_layer_self_attention(%x, %y) {
  %0 = model.call @t5_layer_norm "layer_norm" (%x)
  %1 = model.call @t5_attention "SelfAttention" (%0, %y)
  %2 = weft.add %x, %1
  model.return %2
}

model.layer @linear_3(%x) {
  %weight = weft.parameter "weight" [64, 32] init(normal 0.18) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.layer @linear_4(%x) {
  %weight = weft.parameter "weight" [32, 64] init(normal 0.13) sbp(tensor = S(1))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  model.return %0
}

model.layer @t5_dense_act_dense(%x) {
  %0 = model.call @linear_3 "wi" (%x)
  %1 = weft.relu %0
  %2 = model.call @linear_4 "wo" (%1)
  model.return %2
}

model.layer @t5_layer_ff(%x) {
  %0 = model.call @t5_layer_norm "layer_norm" (%x)
  %1 = model.call @t5_dense_act_dense "DenseReluDense" (%0)
  %2 = weft.add %x, %1
  model.return %2
}

model.layer @t5_block(%x, %y) {
  %0 = model.call @t5_layer_self_attention "layer.0" (%x, %y)
  %1 = model.call @t5_layer_ff "layer.1" (%0)
  model.return %1
}

model.layer @t5_stack(%x, %y, %z) {
  %weight = weft.parameter "block.0.layer.0.SelfAttention.relative_attention_bias.weight" [8, 4] init(normal 0.17)
      sbp(tensor = S(0))
  %0 = weft.embedding %x, %y
  %1 = weft.reshape %z [batch, 1, 1, 16]
  %2 = weft.cast %1 to f32
  %3 = weft.fill [1, 1, 1, 1] value(1.0)
  %4 = weft.sub %3, %2
  %5 = weft.scale %4 by(-3.4028234663852886e+38)
  %6 = weft.fill [1, 1] value(3) to i32
  %7 = weft.iota [16, 1] dim(0)
  %8 = weft.iota [1, 16] dim(1)
  %9 = weft.sub %8, %7
  %10 = weft.fill [1, 1] value(0) to i32
  %11 = weft.sub %10, %9
  %12 = weft.maximum %9, %11
  %13 = weft.cast %12 to f32
  %14 = weft.scale %13 by(0.5)
  %15 = weft.log %14
  %16 = weft.scale %15 by(0.5581106265512472)
  %17 = weft.scale %16 by(2.0)
  %18 = weft.cast %17 to i32
  %19 = weft.fill [1, 1] value(2) to i32
  %20 = weft.add %18, %19
  %21 = weft.minimum %20, %6
  %22 = weft.less %12, %19
  %23 = weft.select %22, %12, %21
  %24 = weft.fill [1, 1] value(4) to i32
  %25 = weft.iota [16, 16] dim(1)
  %26 = weft.iota [16, 16] dim(0)
  %27 = weft.less_equal %25, %26
  %28 = weft.select %27, %10, %24
  %29 = weft.add %28, %23
  %30 = weft.embedding %29, %weight
  %31 = weft.transpose %30 [2, 0, 1]
  %32 = weft.reshape %31 [1, 4, 16, 16]
  %33 = weft.add %32, %5
  %34 = model.repeat layers "block" @t5_block(%0, %33)
  %35 = model.call @t5_layer_norm "final_layer_norm" (%34)
  model.return %35
}

model.layer @t5_attention_2(%x, %y) {
  %0 = model.call @linear "q" (%x) [0.062]
  %1 = model.call @linear "k" (%x) [0.17]
  %2 = model.call @linear "v" (%x) [0.18]
  %3 = weft.attention %0, %1, %2 bias(%y) causal scale(1.0)
  %4 = model.call @linear_2 "o" (%3)
  model.return %4
}

model.layer @t5_layer_self_attention_2(%x, %y) {
  %0 = model.call @t5_layer_norm "layer_norm" (%x)
  %1 = model.call @t5_attention_2 "SelfAttention" (%0, %y)
  %2 = weft.add %x, %1
  model.return %2
}

model.layer @t5_attention_3(%x, %y, %z) {
  %0 = model.call @linear "q" (%x) [0.062]
  %1 = model.call @linear "k" (%y) [0.17]
  %2 = model.call @linear "v" (%y) [0.18]
  %3 = weft.attention %0, %1, %2 bias(%z) scale(1.0)
  %4 = model.call @linear_2 "o" (%3)
  model.return %4
}

model.layer @t5_layer_cross_attention(%x, %y, %z) {
  %0 = model.call @t5_layer_norm "layer_norm" (%x)
  %1 = model.call @t5_attention_3 "EncDecAttention" (%0, %y, %z)
  %2 = weft.add %x, %1
  model.return %2
}

model.layer @t5_block_2(%x, %y, %z, %u) {
  %0 = model.call @t5_layer_self_attention_2 "layer.0" (%x, %y)
  %1 = model.call @t5_layer_cross_attention "layer.1" (%0, %z, %u)
  %2 = model.call @t5_layer_ff "layer.2" (%1)
  model.return %2
}

model.layer @t5_stack_2(%x, %y, %z, %u) {
  %weight = weft.parameter "block.0.layer.0.SelfAttention.relative_attention_bias.weight" [8, 4] init(normal 0.17)
      sbp(tensor = S(0))
  %0 = weft.embedding %x, %y
  %1 = weft.reshape %z [batch, 1, 1, 16]
  %2 = weft.cast %1 to f32
  %3 = weft.fill [1, 1, 1, 1] value(1.0)
  %4 = weft.sub %3, %2
  %5 = weft.scale %4 by(-3.4028234663852886e+38)
  %6 = weft.fill [1, 1] value(7) to i32
  %7 = weft.fill [1, 1] value(0) to i32
  %8 = weft.iota [12, 1] dim(0)
  %9 = weft.iota [1, 12] dim(1)
  %10 = weft.sub %9, %8
  %11 = weft.minimum %10, %7
  %12 = weft.sub %7, %11
  %13 = weft.cast %12 to f32
  %14 = weft.scale %13 by(0.25)
  %15 = weft.log %14
  %16 = weft.scale %15 by(0.9102392266268373)
  %17 = weft.scale %16 by(4.0)
  %18 = weft.cast %17 to i32
  %19 = weft.fill [1, 1] value(4) to i32
  %20 = weft.add %18, %19
  %21 = weft.minimum %20, %6
  %22 = weft.less %12, %19
  %23 = weft.select %22, %12, %21
  %24 = weft.embedding %23, %weight
  %25 = weft.transpose %24 [2, 0, 1]
  %26 = weft.reshape %25 [1, 4, 12, 12]
  %27 = model.repeat layers "block" @t5_block_2(%0, %26, %u, %5)
  %28 = model.call @t5_layer_norm "final_layer_norm" (%27)
  model.return %28
}

model.graph @train(%input_ids [batch, 16] i32, %attention_mask [batch, 16] i32, %labels [batch, 12] i32) {
  %weight = weft.parameter "shared.weight" [64, 32] init(normal 1.0) sbp(tensor = S(0))
  %0 = model.call @t5_stack "encoder" (%input_ids, %weight, %attention_mask)
  %1 = weft.slice %labels dim(1) from(0) size(11)
  %2 = weft.fill [1, 1] value(0) to i32
  %3 = weft.broadcast_to %2 [batch, 1]
  %4 = weft.concat %3, %1 dim(1)
  %5 = weft.slice %4 dim(1) from(1) size(11)
  %6 = weft.concat %3, %5 dim(1)
  %7 = weft.fill [1, 1] value(-100) to i32
  %8 = weft.equal %6, %7
  %9 = weft.select %8, %2, %6
  %10 = model.call @t5_stack_2 "decoder" (%9, %weight, %attention_mask, %0)
  %11 = weft.scale %10 by(0.1767766952966369)
  %12 = weft.einsum "bsi,oi->bso" %11, %weight
  %13, %14 = weft.cross_entropy %12, %labels
  weft.minimize %13 per %14
}
