// SwinForImageClassification, imported from tests/torch_modules/models.py:swin.

model.layer @conv2d(%x) {
  %weight = weft.parameter "weight" [8, 1, 2, 2] init(normal 0.14)
  %bias = weft.parameter "bias" [8] init(zeros)
  %0 = weft.unfold %x dim(2) size [2, 2] stride [2, 2]
  %1 = weft.einsum "bistjk,oijk->bost" %0, %weight
  %2 = weft.reshape %bias [8, 1, 1]
  %3 = weft.add %1, %2
  model.return %3
}

model.layer @swin_patch_embeddings(%x) {
  %0 = model.call @conv2d "projection" (%x)
  %1 = weft.reshape %0 [batch, 8, 256]
  %2 = weft.transpose %1 [0, 2, 1]
  model.return %2
}

model.layer @layer_norm(%x) [size] {
  %weight = weft.parameter "weight" [size] init(ones)
  %bias = weft.parameter "bias" [size] init(zeros)
  %0 = weft.layer_norm %x, %weight, %bias eps(1.0e-05)
  model.return %0
}

model.layer @swin_embeddings(%x) {
  %0 = model.call @swin_patch_embeddings "patch_embeddings" (%x)
  %1 = model.call @layer_norm "norm" (%0) [8]
  model.return %1
}

model.layer @linear(%x) [size, size_2, std] {
  %weight = weft.parameter "weight" [size, 4, size_2] stored [size_2, size_2] init(normal std) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [size, 4] stored [size_2] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @swin_self_attention(%x) [columns, size_2, std] {
  %relative_position_bias_table = weft.parameter "relative_position_bias_table" [49, columns] init(zeros)
  %0 = model.call @linear "query" (%x) [columns, size_2, std]
  %1 = model.call @linear "key" (%x) [columns, size_2, std]
  %2 = model.call @linear "value" (%x) [columns, size_2, 0.15]
  %3 = weft.constant [16, 16] values [24, 23, 22, 21, 17, 16, 15, 14, 10, 9, 8, 7, 3, 2, 1, 0, 25, 24, 23, 22, 18,
      17, 16, 15, 11, 10, 9, 8, 4, 3, 2, 1, 26, 25, 24, 23, 19, 18, 17, 16, 12, 11, 10, 9, 5, 4, 3, 2, 27, 26, 25, 24,
      20, 19, 18, 17, 13, 12, 11, 10, 6, 5, 4, 3, 31, 30, 29, 28, 24, 23, 22, 21, 17, 16, 15, 14, 10, 9, 8, 7, 32, 31,
      30, 29, 25, 24, 23, 22, 18, 17, 16, 15, 11, 10, 9, 8, 33, 32, 31, 30, 26, 25, 24, 23, 19, 18, 17, 16, 12, 11, 10,
      9, 34, 33, 32, 31, 27, 26, 25, 24, 20, 19, 18, 17, 13, 12, 11, 10, 38, 37, 36, 35, 31, 30, 29, 28, 24, 23, 22,
      21, 17, 16, 15, 14, 39, 38, 37, 36, 32, 31, 30, 29, 25, 24, 23, 22, 18, 17, 16, 15, 40, 39, 38, 37, 33, 32, 31,
      30, 26, 25, 24, 23, 19, 18, 17, 16, 41, 40, 39, 38, 34, 33, 32, 31, 27, 26, 25, 24, 20, 19, 18, 17, 45, 44, 43,
      42, 38, 37, 36, 35, 31, 30, 29, 28, 24, 23, 22, 21, 46, 45, 44, 43, 39, 38, 37, 36, 32, 31, 30, 29, 25, 24, 23,
      22, 47, 46, 45, 44, 40, 39, 38, 37, 33, 32, 31, 30, 26, 25, 24, 23, 48, 47, 46, 45, 41, 40, 39, 38, 34, 33, 32,
      31, 27, 26, 25, 24] to i32
  %4 = weft.reshape %3 [256]
  %5 = weft.take %relative_position_bias_table, %4 dim(0)
  %6 = weft.reshape %5 [16, 16, columns]
  %7 = weft.transpose %6 [2, 0, 1]
  %8 = weft.reshape %7 [1, columns, 16, 16]
  %9 = weft.attention %0, %1, %2 bias(%8)
  model.return %9
}

model.layer @linear_2(%x) [size, size_1, std] {
  %weight = weft.parameter "weight" [size, size_1, 4] stored [size, size] init(normal std) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [size] init(zeros)
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @swin_attention(%x) [columns, size_2, std] {
  %0 = model.call @swin_self_attention "self" (%x) [columns, size_2, std]
  %1 = model.call @linear_2 "output.dense" (%0) [size_2, columns, std]
  model.return %1
}

model.layer @linear_3(%x) {
  %weight = weft.parameter "weight" [32, 8] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [32] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @swin_intermediate(%x) {
  %0 = model.call @linear_3 "dense" (%x)
  %1 = weft.gelu %0 approximate(none)
  model.return %1
}

model.layer @linear_4(%x) {
  %weight = weft.parameter "weight" [8, 32] init(normal 0.15) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [8] init(zeros)
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @swin_layer(%x) {
  %0 = model.call @layer_norm "layernorm_before" (%x) [8]
  %1 = weft.reshape %0 [batch * 4, 4, 4, 32]
  %2 = weft.transpose %1 [0, 2, 1, 3]
  %3 = weft.reshape %2 [batch * 16, 16, 8]
  %4 = model.call @swin_attention "attention" (%3) [2, 8, 0.16]
  %5 = weft.reshape %4 [batch * 4, 4, 4, 32]
  %6 = weft.transpose %5 [0, 2, 1, 3]
  %7 = weft.reshape %6 [batch, 256, 8]
  %8 = weft.add %x, %7
  %9 = model.call @layer_norm "layernorm_after" (%8) [8]
  %10 = model.call @swin_intermediate "intermediate" (%9)
  %11 = model.call @linear_4 "output.dense" (%10)
  %12 = weft.add %8, %11
  model.return %12
}

model.layer @linear_5(%x) [size, size_2, std] {
  %weight = weft.parameter "weight" [size, 4, size_2] stored [size_2, size_2] init(normal std)
  %bias = weft.parameter "bias" [size, 4] stored [size_2] init(zeros)
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @swin_self_attention_2(%x) {
  %relative_position_bias_table = weft.parameter "relative_position_bias_table" [49, 2] init(zeros)
  %0 = model.call @linear_5 "query" (%x) [2, 8, 0.16]
  %1 = model.call @linear_5 "key" (%x) [2, 8, 0.16]
  %2 = model.call @linear_5 "value" (%x) [2, 8, 0.15]
  %3 = weft.einsum "bsti,boti->btso" %0, %1
  %4 = weft.scale %3 by(0.5)
  %5 = weft.constant [16, 16] values [24, 23, 22, 21, 17, 16, 15, 14, 10, 9, 8, 7, 3, 2, 1, 0, 25, 24, 23, 22, 18,
      17, 16, 15, 11, 10, 9, 8, 4, 3, 2, 1, 26, 25, 24, 23, 19, 18, 17, 16, 12, 11, 10, 9, 5, 4, 3, 2, 27, 26, 25, 24,
      20, 19, 18, 17, 13, 12, 11, 10, 6, 5, 4, 3, 31, 30, 29, 28, 24, 23, 22, 21, 17, 16, 15, 14, 10, 9, 8, 7, 32, 31,
      30, 29, 25, 24, 23, 22, 18, 17, 16, 15, 11, 10, 9, 8, 33, 32, 31, 30, 26, 25, 24, 23, 19, 18, 17, 16, 12, 11, 10,
      9, 34, 33, 32, 31, 27, 26, 25, 24, 20, 19, 18, 17, 13, 12, 11, 10, 38, 37, 36, 35, 31, 30, 29, 28, 24, 23, 22,
      21, 17, 16, 15, 14, 39, 38, 37, 36, 32, 31, 30, 29, 25, 24, 23, 22, 18, 17, 16, 15, 40, 39, 38, 37, 33, 32, 31,
      30, 26, 25, 24, 23, 19, 18, 17, 16, 41, 40, 39, 38, 34, 33, 32, 31, 27, 26, 25, 24, 20, 19, 18, 17, 45, 44, 43,
      42, 38, 37, 36, 35, 31, 30, 29, 28, 24, 23, 22, 21, 46, 45, 44, 43, 39, 38, 37, 36, 32, 31, 30, 29, 25, 24, 23,
      22, 47, 46, 45, 44, 40, 39, 38, 37, 33, 32, 31, 30, 26, 25, 24, 23, 48, 47, 46, 45, 41, 40, 39, 38, 34, 33, 32,
      31, 27, 26, 25, 24] to i32
  %6 = weft.reshape %5 [256]
  %7 = weft.take %relative_position_bias_table, %6 dim(0)
  %8 = weft.reshape %7 [16, 16, 2]
  %9 = weft.transpose %8 [2, 0, 1]
  %10 = weft.reshape %9 [1, 2, 16, 16]
  %11 = weft.add %4, %10
  %12 = weft.reshape %11 [batch, 16, 2, 16, 16]
  %13 = weft.fill [1, 1, 1] value(0.0)
  %14 = weft.constant [1, 1, 16, 1] values
      [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0]
  %15 = weft.broadcast_to %14 [1, 2, 16, 1]
  %16 = weft.fill [1, 1, 1, 1] value(0.0)
  %17 = weft.broadcast_to %16 [1, 2, 16, 1]
  %18 = weft.constant [1, 1, 16, 1] values
      [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
  %19 = weft.broadcast_to %18 [1, 12, 16, 1]
  %20 = weft.concat %19, %15, %17 dim(1)
  %21 = weft.slice %20 dim(1) from(0) size(14)
  %22 = weft.constant [1, 1, 16, 1] values
      [6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 0.0, 0.0, 0.0, 0.0]
  %23 = weft.broadcast_to %22 [1, 2, 16, 1]
  %24 = weft.concat %21, %23 dim(1)
  %25 = weft.slice %24 dim(1) from(0) size(14)
  %26 = weft.constant [1, 1, 16, 1] values
      [6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 7.0, 7.0, 0.0, 0.0]
  %27 = weft.broadcast_to %26 [1, 2, 16, 1]
  %28 = weft.concat %25, %27 dim(1)
  %29 = weft.slice %28 dim(1) from(0) size(14)
  %30 = weft.constant [1, 1, 16, 1] values
      [6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 7.0, 7.0, 8.0, 8.0]
  %31 = weft.broadcast_to %30 [1, 2, 16, 1]
  %32 = weft.concat %29, %31 dim(1)
  %33 = weft.reshape %32 [4, 4, 4, 4]
  %34 = weft.transpose %33 [0, 2, 1, 3]
  %35 = weft.reshape %34 [16, 16, 1]
  %36 = weft.reshape %34 [16, 1, 16]
  %37 = weft.sub %36, %35
  %38 = weft.equal %37, %13
  %39 = weft.fill [1, 1, 1] value(-100.0)
  %40 = weft.not_equal %37, %13
  %41 = weft.select %40, %39, %37
  %42 = weft.select %38, %13, %41
  %43 = weft.reshape %42 [1, 16, 1, 16, 16]
  %44 = weft.add %12, %43
  %45 = weft.reshape %44 [batch * 16, 2, 16, 16]
  %46 = weft.softmax %45
  %47 = weft.einsum "bsti,biso->btso" %46, %2
  model.return %47
}

model.layer @linear_6(%x) [size, size_1, std] {
  %weight = weft.parameter "weight" [size, size_1, 4] stored [size, size] init(normal std)
  %bias = weft.parameter "bias" [size] init(zeros)
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @swin_attention_2(%x) {
  %0 = model.call @swin_self_attention_2 "self" (%x)
  %1 = model.call @linear_6 "output.dense" (%0) [8, 2, 0.16]
  model.return %1
}

model.layer @swin_layer_2(%x) {
  %0 = model.call @layer_norm "layernorm_before" (%x) [8]
  %1 = weft.reshape %0 [batch, 16, 16, 8]
  %2 = weft.slice %1 dim(1) from(2) size(14)
  %3 = weft.slice %1 dim(1) from(0) size(2)
  %4 = weft.concat %2, %3 dim(1)
  %5 = weft.slice %4 dim(2) from(2) size(14)
  %6 = weft.slice %4 dim(2) from(0) size(2)
  %7 = weft.concat %5, %6 dim(2)
  %8 = weft.reshape %7 [batch * 4, 4, 4, 32]
  %9 = weft.transpose %8 [0, 2, 1, 3]
  %10 = weft.reshape %9 [batch * 16, 16, 8]
  %11 = model.call @swin_attention_2 "attention" (%10)
  %12 = weft.reshape %11 [batch, 4, 4, 4, 4, 8]
  %13 = weft.transpose %12 [0, 1, 3, 2, 4, 5]
  %14 = weft.reshape %13 [batch, 16, 16, 8]
  %15 = weft.slice %14 dim(1) from(14) size(2)
  %16 = weft.slice %14 dim(1) from(0) size(14)
  %17 = weft.concat %15, %16 dim(1)
  %18 = weft.slice %17 dim(2) from(14) size(2)
  %19 = weft.slice %17 dim(2) from(0) size(14)
  %20 = weft.concat %18, %19 dim(2)
  %21 = weft.reshape %20 [batch, 256, 8]
  %22 = weft.add %x, %21
  %23 = model.call @layer_norm "layernorm_after" (%22) [8]
  %24 = model.call @swin_intermediate "intermediate" (%23)
  %25 = model.call @linear_4 "output.dense" (%24)
  %26 = weft.add %22, %25
  model.return %26
}

model.layer @linear_7(%x) {
  %weight = weft.parameter "weight" [16, 32] init(normal 0.15)
  %0 = weft.einsum "bsti,oi->bsto" %x, %weight
  model.return %0
}

model.layer @swin_patch_merging(%x) {
  %0 = weft.reshape %x [batch, 16, 16, 8]
  %1 = weft.iota [8] dim(0)
  %2 = weft.fill [1] value(2) to i32
  %3 = weft.mul %1, %2
  %4 = weft.take %0, %3 dim(1)
  %5 = weft.take %4, %3 dim(2)
  %6 = weft.fill [1] value(1) to i32
  %7 = weft.add %3, %6
  %8 = weft.take %0, %7 dim(1)
  %9 = weft.take %8, %3 dim(2)
  %10 = weft.take %4, %7 dim(2)
  %11 = weft.take %8, %7 dim(2)
  %12 = weft.concat %5, %9, %10, %11 dim(3)
  %13 = model.call @layer_norm "norm" (%12) [32]
  %14 = model.call @linear_7 "reduction" (%13)
  model.return %14
}

model.layer @swin_stage(%x) {
  %0 = model.call @swin_layer "blocks.0" (%x)
  %1 = model.call @swin_layer_2 "blocks.1" (%0)
  %2 = model.call @swin_patch_merging "downsample" (%1)
  model.return %2
}

model.layer @linear_8(%x) {
  %weight = weft.parameter "weight" [64, 16] init(normal 0.16) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [64] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsti,oi->bsto" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @swin_intermediate_2(%x) {
  %0 = model.call @linear_8 "dense" (%x)
  %1 = weft.gelu %0 approximate(none)
  model.return %1
}

model.layer @linear_9(%x) {
  %weight = weft.parameter "weight" [16, 64] init(normal 0.15) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [16] init(zeros)
  %0 = weft.einsum "bsti,oi->bsto" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @swin_layer_3(%x) {
  %0 = model.call @layer_norm "layernorm_before" (%x) [16]
  %1 = weft.reshape %0 [batch * 2, 4, 2, 64]
  %2 = weft.transpose %1 [0, 2, 1, 3]
  %3 = weft.reshape %2 [batch * 4, 16, 16]
  %4 = model.call @swin_attention "attention" (%3) [4, 16, 0.15]
  %5 = weft.reshape %4 [batch * 2, 2, 4, 64]
  %6 = weft.transpose %5 [0, 2, 1, 3]
  %7 = weft.reshape %6 [batch, 8, 8, 16]
  %8 = weft.add %x, %7
  %9 = model.call @layer_norm "layernorm_after" (%8) [16]
  %10 = model.call @swin_intermediate_2 "intermediate" (%9)
  %11 = model.call @linear_9 "output.dense" (%10)
  %12 = weft.add %8, %11
  model.return %12
}

model.layer @swin_self_attention_3(%x) {
  %relative_position_bias_table = weft.parameter "relative_position_bias_table" [49, 4] init(zeros)
  %0 = model.call @linear_5 "query" (%x) [4, 16, 0.15]
  %1 = model.call @linear_5 "key" (%x) [4, 16, 0.15]
  %2 = model.call @linear_5 "value" (%x) [4, 16, 0.15]
  %3 = weft.einsum "bsti,boti->btso" %0, %1
  %4 = weft.scale %3 by(0.5)
  %5 = weft.constant [16, 16] values [24, 23, 22, 21, 17, 16, 15, 14, 10, 9, 8, 7, 3, 2, 1, 0, 25, 24, 23, 22, 18,
      17, 16, 15, 11, 10, 9, 8, 4, 3, 2, 1, 26, 25, 24, 23, 19, 18, 17, 16, 12, 11, 10, 9, 5, 4, 3, 2, 27, 26, 25, 24,
      20, 19, 18, 17, 13, 12, 11, 10, 6, 5, 4, 3, 31, 30, 29, 28, 24, 23, 22, 21, 17, 16, 15, 14, 10, 9, 8, 7, 32, 31,
      30, 29, 25, 24, 23, 22, 18, 17, 16, 15, 11, 10, 9, 8, 33, 32, 31, 30, 26, 25, 24, 23, 19, 18, 17, 16, 12, 11, 10,
      9, 34, 33, 32, 31, 27, 26, 25, 24, 20, 19, 18, 17, 13, 12, 11, 10, 38, 37, 36, 35, 31, 30, 29, 28, 24, 23, 22,
      21, 17, 16, 15, 14, 39, 38, 37, 36, 32, 31, 30, 29, 25, 24, 23, 22, 18, 17, 16, 15, 40, 39, 38, 37, 33, 32, 31,
      30, 26, 25, 24, 23, 19, 18, 17, 16, 41, 40, 39, 38, 34, 33, 32, 31, 27, 26, 25, 24, 20, 19, 18, 17, 45, 44, 43,
      42, 38, 37, 36, 35, 31, 30, 29, 28, 24, 23, 22, 21, 46, 45, 44, 43, 39, 38, 37, 36, 32, 31, 30, 29, 25, 24, 23,
      22, 47, 46, 45, 44, 40, 39, 38, 37, 33, 32, 31, 30, 26, 25, 24, 23, 48, 47, 46, 45, 41, 40, 39, 38, 34, 33, 32,
      31, 27, 26, 25, 24] to i32
  %6 = weft.reshape %5 [256]
  %7 = weft.take %relative_position_bias_table, %6 dim(0)
  %8 = weft.reshape %7 [16, 16, 4]
  %9 = weft.transpose %8 [2, 0, 1]
  %10 = weft.reshape %9 [1, 4, 16, 16]
  %11 = weft.add %4, %10
  %12 = weft.reshape %11 [batch, 4, 4, 16, 16]
  %13 = weft.fill [1, 1, 1] value(0.0)
  %14 = weft.constant [4, 16, 1] values [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
      0.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0,
      3.0, 3.0, 3.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 4.0, 4.0, 5.0, 5.0, 4.0, 4.0, 5.0, 5.0, 7.0, 7.0, 8.0,
      8.0, 7.0, 7.0, 8.0, 8.0]
  %15 = weft.constant [4, 1, 16] values [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
      0.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0,
      3.0, 3.0, 3.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 4.0, 4.0, 5.0, 5.0, 4.0, 4.0, 5.0, 5.0, 7.0, 7.0, 8.0,
      8.0, 7.0, 7.0, 8.0, 8.0]
  %16 = weft.sub %15, %14
  %17 = weft.equal %16, %13
  %18 = weft.fill [1, 1, 1] value(-100.0)
  %19 = weft.not_equal %16, %13
  %20 = weft.select %19, %18, %16
  %21 = weft.select %17, %13, %20
  %22 = weft.reshape %21 [1, 4, 1, 16, 16]
  %23 = weft.add %12, %22
  %24 = weft.reshape %23 [batch * 4, 4, 16, 16]
  %25 = weft.softmax %24
  %26 = weft.einsum "bsti,biso->btso" %25, %2
  model.return %26
}

model.layer @swin_attention_3(%x) {
  %0 = model.call @swin_self_attention_3 "self" (%x)
  %1 = model.call @linear_6 "output.dense" (%0) [16, 4, 0.15]
  model.return %1
}

model.layer @swin_layer_4(%x) {
  %0 = model.call @layer_norm "layernorm_before" (%x) [16]
  %1 = weft.slice %0 dim(1) from(2) size(6)
  %2 = weft.slice %0 dim(1) from(0) size(2)
  %3 = weft.concat %1, %2 dim(1)
  %4 = weft.slice %3 dim(2) from(2) size(6)
  %5 = weft.slice %3 dim(2) from(0) size(2)
  %6 = weft.concat %4, %5 dim(2)
  %7 = weft.reshape %6 [batch * 2, 4, 2, 64]
  %8 = weft.transpose %7 [0, 2, 1, 3]
  %9 = weft.reshape %8 [batch * 4, 16, 16]
  %10 = model.call @swin_attention_3 "attention" (%9)
  %11 = weft.reshape %10 [batch, 2, 2, 4, 4, 16]
  %12 = weft.transpose %11 [0, 1, 3, 2, 4, 5]
  %13 = weft.reshape %12 [batch, 8, 8, 16]
  %14 = weft.slice %13 dim(1) from(6) size(2)
  %15 = weft.slice %13 dim(1) from(0) size(6)
  %16 = weft.concat %14, %15 dim(1)
  %17 = weft.slice %16 dim(2) from(6) size(2)
  %18 = weft.slice %16 dim(2) from(0) size(6)
  %19 = weft.concat %17, %18 dim(2)
  %20 = weft.add %x, %19
  %21 = model.call @layer_norm "layernorm_after" (%20) [16]
  %22 = model.call @swin_intermediate_2 "intermediate" (%21)
  %23 = model.call @linear_9 "output.dense" (%22)
  %24 = weft.add %20, %23
  model.return %24
}

model.layer @swin_stage_2(%x) {
  %0 = model.call @swin_layer_3 "blocks.0" (%x)
  %1 = model.call @swin_layer_4 "blocks.1" (%0)
  model.return %1
}

model.layer @swin_encoder(%x) {
  %0 = model.call @swin_stage "layers.0" (%x)
  %1 = model.call @swin_stage_2 "layers.1" (%0)
  model.return %1
}

model.layer @layer_norm_2(%x) {
  %weight = weft.parameter "weight" [16] init(ones)
  %bias = weft.parameter "bias" [16] init(zeros)
  %0 = weft.layer_norm %x, %weight, %bias eps(1.0e-05)
  %1 = weft.reshape %0 [batch, 64, 16]
  model.return %1
}

model.layer @swin_model(%x) {
  %0 = model.call @swin_embeddings "embeddings" (%x)
  %1 = model.call @swin_encoder "encoder" (%0)
  %2 = model.call @layer_norm_2 "layernorm" (%1)
  %3 = weft.transpose %2 [0, 2, 1]
  %4 = weft.reshape %3 [batch, 16, 1, 64]
  %5 = weft.reduce mean %4 over [3]
  %6 = weft.reshape %5 [batch, 16]
  model.return %6
}

model.layer @linear_10(%x) {
  %weight = weft.parameter "weight" [10, 16] init(normal 0.16) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [10] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bi,oi->bo" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.graph @train(%pixel_values [batch, 1, 32, 32] f32, %labels [batch] i32) {
  %0 = model.call @swin_model "swin" (%pixel_values)
  %1 = model.call @linear_10 "classifier" (%0)
  %2, %3 = weft.cross_entropy %1, %labels
  weft.minimize %2 per %3
}
