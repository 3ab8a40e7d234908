model.config @leaf_size = 3
model.layer @leaf(%x) {
  %y = weft.tanh %x
  model.return %y
}
