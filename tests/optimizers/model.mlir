// The loss is linear in every parameter, so that gradients are the data: what a rule of the optimizer makes of them is
// known without a backward. A wide matrix, a tall one, one that files have as a matrix, and a vector.
model.layer @linear_in(%x) [outer, inner, split] {
  %w = weft.parameter "weight" [outer, inner] init(zeros) sbp(tensor = split)
  %y = weft.einsum "bij,ij->b" %x, %w
  model.return %y
}
model.layer @linear_in_heads(%x) {
  %w = weft.parameter "weight" [4, 3, 2, 2] stored [4, 12] init(zeros) sbp(tensor = S(2))
  %y = weft.einsum "bicnd,icnd->b" %x, %w
  model.return %y
}
model.layer @linear_in_vector(%x) {
  %w = weft.parameter "bias" [12] init(zeros)
  %y = weft.einsum "bi,i->b" %x, %w
  model.return %y
}
model.graph @train(%wide [batch, 8, 12] f32, %tall [batch, 12, 4] f32, %heads [batch, 4, 3, 2, 2] f32,
                   %vector [batch, 12] f32) {
  %0 = model.call @linear_in "wide" (%wide) [8, 12, S(1)]
  %1 = model.call @linear_in "tall" (%tall) [12, 4, S(0)]
  %2 = model.call @linear_in_heads "heads" (%heads)
  %3 = model.call @linear_in_vector "ln" (%vector)
  %4 = weft.add_n %0, %1, %2, %3
  %loss = weft.reduce mean %4 over [0]
  weft.minimize %loss
}
