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

// A convolution of x[batch, height, width, in] and its bias, as Conv2d stores them: channels are the last dimension here.
// Split over `tensor`: S(0), S(0) by the channels of the result, S(1), B by those of x.
model.layer @conv2d(%x) [in, out, kernel, stride = 1, padding = 0, split = B, bias_split = B, std = 0.02] {
  %w = weft.parameter "weight" [out, in, kernel, kernel] init(normal std) sbp(tensor = split)
  %b = weft.parameter "bias" [out] init(zeros) sbp(tensor = bias_split)
  %0 = weft.unfold %x dim(1) size [kernel, kernel] stride [stride, stride] padding [padding, padding]
  %1 = weft.transpose %w [0, 2, 3, 1]
  %2 = weft.einsum "bhwijc,oijc->bhwo" %0, %1
  %3 = weft.add %2, %b
  model.return %3
}

// A convolution of every channel with weights of its own: Conv2d with as many groups as channels.
model.layer @depthwise_conv2d(%x) [channels, kernel, stride = 1, padding = 0, std = 0.02] {
  %w = weft.parameter "weight" [channels, kernel, kernel] stored [channels, 1, kernel, kernel] init(normal std)
  %b = weft.parameter "bias" [channels] init(zeros)
  %0 = weft.transpose %w [1, 2, 0]
  %1 = weft.depthwise_conv %x, %0 stride [stride, stride] padding [padding, padding]
  %2 = weft.add %1, %b
  model.return %2
}

// The largest and the mean of each window of x[batch, height, width, channels], as MaxPool2d and AvgPool2d have them: what
// is outside is never the largest, and counts as zeros in a mean.
model.layer @max_pool2d(%x) [kernel, stride, padding = 0] {
  %0 = weft.max_pool %x dim(1) size [kernel, kernel] stride [stride, stride] padding [padding, padding]
  model.return %0
}

model.layer @avg_pool2d(%x) [kernel, stride, padding = 0] {
  %0 = weft.unfold %x dim(1) size [kernel, kernel] stride [stride, stride] padding [padding, padding]
  %1 = weft.reduce mean %0 over [3, 4]
  model.return %1
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
