// Sequential, imported from tests/torch_modules/models.py:mlp.

model.layer @linear(%x) {
  %weight = weft.parameter "weight" [32, 16] init(normal 0.14) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [32] init(normal 0.15) sbp(tensor = S(0))
  %0 = weft.einsum "bi,oi->bo" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [10, 32] init(normal 0.1) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [10] init(normal 0.09) sbp(tensor = S(0))
  %0 = weft.einsum "bi,oi->bo" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.graph @train(%input [batch, 16] f32, %labels [batch] i32) {
  %0 = model.call @linear "0" (%input)
  %1 = weft.relu %0
  %2 = model.call @linear_2 "2" (%1)
  %3, %4 = weft.cross_entropy %2, %labels
  weft.minimize %3 per %4
}
