model.import "leaf.mlir"
model.layer @middle(%x) {
  %y = model.call @leaf (%x)
  model.return %y
}
