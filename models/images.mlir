// Layers of models that tell images apart. Where a layer speaks of `batch`, that of the job is meant.

// What a layer makes of its weights before it uses them: nothing, or what is not trained.
model.layer @trained(%w) { model.return %w }
model.layer @frozen(%w) {
  %0 = weft.stop_gradient %w
  model.return %0
}

// Hidden states [count, patches, hidden] of images[count, channels, size, size], one of each patch x patch pixels: a
// convolution whose stride is its size, as Conv2d stores it.
model.layer @patches(%images) [size, patch, channels, hidden, count = batch, weights = @trained, std = 0.02] {
  %weight = weft.parameter "weight" [hidden, channels, patch, patch] init(normal std)
  %bias = weft.parameter "bias" [hidden] init(zeros)
  %w = model.call @weights (%weight)
  %b = model.call @weights (%bias)
  %0 = weft.reshape %images [count, channels, size floordiv patch, patch, size floordiv patch, patch]
  %1 = weft.transpose %0 [0, 2, 4, 1, 3, 5]
  %2 = weft.reshape %1 [count, (size floordiv patch) * (size floordiv patch), channels * patch * patch]
  %3 = weft.reshape %w [hidden, channels * patch * patch]
  %4 = weft.einsum "bsi,oi->bso" %2, %3
  %5 = weft.add %4, %b
  model.return %5
}

// sin and cos of every place along one axis, [grid, width]: of wave i of width / 2 with the angle place / 10000^(2i / width).
model.layer @waves() [grid, width] {
  %0 = weft.iota [1, width floordiv 2] dim(1) to f32
  %1 = weft.fill [1, 1] value(width floordiv 2)
  %2 = weft.div %0, %1
  %3 = weft.scale %2 by(-9.210340371976184)
  %4 = weft.exp %3
  %5 = weft.iota [grid, 1] dim(0) to f32
  %6 = weft.mul %5, %4
  %7 = weft.sin %6
  %8 = weft.cos %6
  %9 = weft.concat %7, %8 dim(1)
  model.return %9
}

// The table of the places of grid x grid patches, [1, grid * grid, width], which is not trained: first where in its row a
// patch is, then in which row.
model.layer @positions() [grid, width] {
  %0 = model.call @waves () [grid, width floordiv 2]
  %1 = weft.reshape %0 [1, grid, width floordiv 2]
  %2 = weft.broadcast_to %1 [grid, grid, width floordiv 2]
  %3 = weft.reshape %0 [grid, 1, width floordiv 2]
  %4 = weft.broadcast_to %3 [grid, grid, width floordiv 2]
  %5 = weft.concat %2, %4 dim(2)
  %6 = weft.reshape %5 [1, grid * grid, width]
  model.return %6
}

// Whether the largest of logits[batch, classes] is that of the label, [batch]: 1 or 0, or the share of several that are
// the largest.
model.layer @hits(%logits, %labels) {
  %max = weft.reduce max %logits over [1] keep_dims to f32
  %0 = weft.cast %logits to f32
  %1 = weft.greater_equal %0, %max as_number
  %largest = weft.reduce sum %1 over [1]
  %own = weft.pick %1, %labels
  %2 = weft.div %own, %largest
  model.return %2
}

// Of logits[batch, classes]: the loss, how many count for it, and the share of the step's images that get their own class.
model.layer @loss_of_classes(%logits, %labels) {
  %loss, %count = weft.cross_entropy %logits, %labels
  %0 = model.call @hits (%logits, %labels)
  %1 = weft.reduce sum %0 over [0]
  %all_hits = weft.accumulate %1
  %all_images = weft.accumulate %count
  %accuracy = weft.div %all_hits, %all_images
  model.return %loss, %count, %accuracy
}
