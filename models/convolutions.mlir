// Convolutions and pooling. Channels are the last dimension; weights have the shapes of torch's layers, and windows lie as
// there: what is outside is zeros, but never the largest.

// A convolution of x[batch, length, in] and its bias, as Conv1d stores them. Split over `tensor`: S(0), S(0) by the channels
// of the result, S(1), B by those of x.
model.layer @conv1d(%x) [in, out, kernel, stride = 1, padding = 0, split = B, bias_split = B, std = 0.02] {
  %w = weft.parameter "weight" [out, in, kernel] init(normal std) sbp(tensor = split)
  %b = weft.parameter "bias" [out] init(zeros) sbp(tensor = bias_split)
  %0 = weft.unfold %x dim(1) size [kernel] stride [stride] padding [padding]
  %1 = weft.transpose %w [0, 2, 1]
  %2 = weft.einsum "bsic,oic->bso" %0, %1
  %3 = weft.add %2, %b
  model.return %3
}

// The same of x[batch, height, width, in] and Conv2d.
model.layer @conv2d(%x) [in, out, kernel, stride = 1, padding = 0, split = B, bias_split = B, std = 0.02] {
  %w = weft.parameter "weight" [out, in, kernel, kernel] init(normal std) sbp(tensor = split)
  %b = weft.parameter "bias" [out] init(zeros) sbp(tensor = bias_split)
  %0 = weft.unfold %x dim(1) size [kernel, kernel] stride [stride, stride] padding [padding, padding]
  %1 = weft.transpose %w [0, 2, 3, 1]
  %2 = weft.einsum "bhwijc,oijc->bhwo" %0, %1
  %3 = weft.add %2, %b
  model.return %3
}

// Every channel with weights of its own: Conv2d with as many groups as channels.
model.layer @depthwise_conv2d(%x) [channels, kernel, stride = 1, padding = 0, std = 0.02] {
  %w = weft.parameter "weight" [channels, kernel, kernel] stored [channels, 1, kernel, kernel] init(normal std)
  %b = weft.parameter "bias" [channels] init(zeros)
  %0 = weft.transpose %w [1, 2, 0]
  %1 = weft.depthwise_conv %x, %0 stride [stride, stride] padding [padding, padding]
  %2 = weft.add %1, %b
  model.return %2
}

// The largest of each window of x[batch, height, width, channels], and the mean, in which what is outside counts: MaxPool2d
// and AvgPool2d.
model.layer @max_pool2d(%x) [kernel, stride, padding = 0] {
  %0 = weft.max_pool %x dim(1) size [kernel, kernel] stride [stride, stride] padding [padding, padding]
  model.return %0
}

model.layer @avg_pool2d(%x) [kernel, stride, padding = 0] {
  %0 = weft.unfold %x dim(1) size [kernel, kernel] stride [stride, stride] padding [padding, padding]
  %1 = weft.reduce mean %0 over [3, 4]
  model.return %1
}

// The same of x[batch, length, channels]: MaxPool1d and AvgPool1d.
model.layer @max_pool1d(%x) [kernel, stride, padding = 0] {
  %0 = weft.max_pool %x dim(1) size [kernel] stride [stride] padding [padding]
  model.return %0
}

model.layer @avg_pool1d(%x) [kernel, stride, padding = 0] {
  %0 = weft.unfold %x dim(1) size [kernel] stride [stride] padding [padding]
  %1 = weft.reduce mean %0 over [2]
  model.return %1
}
