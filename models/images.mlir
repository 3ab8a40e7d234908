// Layers of models that tell images apart. Where a layer speaks of `batch`, that of the job is meant.

// Hidden states [batch, patches, hidden] of images[batch, channels, size, size], one of each patch x patch pixels: a
// convolution whose stride is its size, as Conv2d stores it.
model.layer @patches(%images) [size, patch, channels, hidden] {
  %w = weft.parameter "weight" [hidden, channels, patch, patch] init(normal 0.02)
  %b = weft.parameter "bias" [hidden] init(zeros)
  %0 = weft.reshape %images [batch, channels, size floordiv patch, patch, size floordiv patch, patch]
  %1 = weft.transpose %0 [0, 2, 4, 1, 3, 5]
  %2 = weft.reshape %1 [batch, (size floordiv patch) * (size floordiv patch), channels * patch * patch]
  %3 = weft.reshape %w [hidden, channels * patch * patch]
  %4 = weft.einsum "bsi,oi->bso" %2, %3
  %5 = weft.add %4, %b
  model.return %5
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

// Of logits[batch, classes]: the loss, how many count for it, and the share of the images that get their own class.
model.layer @loss_of_classes(%logits, %labels) {
  %loss, %count = weft.cross_entropy %logits, %labels
  %0 = model.call @hits (%logits, %labels)
  %accuracy = weft.reduce mean %0 over [0]
  model.return %loss, %count, %accuracy
}
