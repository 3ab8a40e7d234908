model.layer @biased(%x) [n] {
  %b = weft.parameter "bias" [n]
  %y = weft.add %x, %b
  model.return %y
}
