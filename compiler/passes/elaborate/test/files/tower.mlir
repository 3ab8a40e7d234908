model.import "leaf.mlir"
model.config @width = 2 * leaf_size
model.layer @side(%x) [width] {
  %0 = weft.scale %x by(width)
  model.return %0
}
model.layer @tower(%x) {
  %0 = model.call @leaf (%x)
  %1 = model.call @side (%0) [width + batch]
  model.return %1
}
