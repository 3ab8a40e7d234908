// Mixer, imported from tests/torch_modules/models.py:mixer.
model.config @layers = 2

model.layer @conv2d(%x) {
  %weight = weft.parameter "weight" [32, 3, 4, 4] init(normal 0.083)
  %bias = weft.parameter "bias" [32] init(normal 0.081)
  %0 = weft.unfold %x dim(2) size [4, 4] stride [4, 4]
  %1 = weft.einsum "bistjk,oijk->bost" %0, %weight
  %2 = weft.reshape %bias [32, 1, 1]
  %3 = weft.add %1, %2
  model.return %3
}

model.layer @layer_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.layer_norm %x, %weight, %bias eps(1.0e-05)
  model.return %0
}

model.layer @linear(%x) {
  %weight = weft.parameter "weight" [24, 16] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [24] init(normal 0.14) sbp(tensor = S(0))
  %0 = weft.einsum "bis,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [48, 32] init(normal 0.1) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [48] init(normal 0.099) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @linear_3(%x) {
  %weight = weft.parameter "weight" [32, 48] init(normal 0.083) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [32] init(normal 0.088)
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @block(%x) {
  %weight = weft.parameter "places.2.weight" [16, 24] init(normal 0.12) sbp(tensor = S(1))
  %bias = weft.parameter "places.2.bias" [16] init(normal 0.11)
  %0 = model.call @layer_norm "norm1" (%x)
  %1 = model.call @linear "places.0" (%0)
  %2 = weft.gelu %1 approximate(none)
  %3 = weft.einsum "bsi,oi->bos" %2, %weight
  %4 = weft.reshape %bias [16, 1]
  %5 = weft.add %3, %4
  %6 = weft.add %x, %5
  %7 = model.call @layer_norm "norm2" (%6)
  %8 = model.call @linear_2 "channels.0" (%7)
  %9 = weft.gelu %8 approximate(none)
  %10 = model.call @linear_3 "channels.2" (%9)
  %11 = weft.add %6, %10
  model.return %11
}

model.layer @linear_4(%x) {
  %weight = weft.parameter "weight" [10, 32] init(normal 0.097) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [10] init(normal 0.12) sbp(tensor = S(0))
  %0 = weft.einsum "bi,oi->bo" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.graph @train(%images [batch, 3, 16, 16] f32, %labels [batch] i32) {
  %0 = model.call @conv2d "patches" (%images)
  %1 = weft.reshape %0 [batch, 32, 16]
  %2 = weft.transpose %1 [0, 2, 1]
  %3 = model.repeat layers "blocks" @block(%2)
  %4 = weft.reduce mean %3 over [1]
  %5 = model.call @linear_4 "head" (%4)
  %6, %7 = weft.cross_entropy %5, %labels
  weft.minimize %6 per %7
}
