// VGG-11 (Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition", 2015, table 1,
// column A) for classes. Parameters have the names and, in checkpoint files, the shapes of torchvision's vgg11.
model.import "../layers.mlir"
model.import "../encoder.mlir"
model.import "../images.mlir"
model.import "../convolutions.mlir"

model.config @size = 224      model.config @channels = 3  model.config @width = 64
model.config @inner = 4096    model.config @classes = 1000
model.config @dropout = 0.5
// Places along a side that five poolings leave.
model.config @grid = size floordiv 32

// 3 x 3 and what is negative cut off.
model.layer @conv(%x) [in, out] {
  %0 = model.call @conv2d (%x) [in, out, 3, 1, 1, S(0), S(0), rsqrt(4.5 * out)]
  %1 = weft.relu %0
  model.return %1
}

// The number of a layer is that of its torch.nn.Sequential, in which rectifiers and poolings count.
model.layer @features(%images) {
  %0 = model.call @conv "0" (%images) [channels, width]
  %1 = model.call @max_pool2d (%0) [2, 2]
  %2 = model.call @conv "3" (%1) [width, 2 * width]
  %3 = model.call @max_pool2d (%2) [2, 2]
  %4 = model.call @conv "6" (%3) [2 * width, 4 * width]
  %5 = model.call @conv "8" (%4) [4 * width, 4 * width]
  %6 = model.call @max_pool2d (%5) [2, 2]
  %7 = model.call @conv "11" (%6) [4 * width, 8 * width]
  %8 = model.call @conv "13" (%7) [8 * width, 8 * width]
  %9 = model.call @max_pool2d (%8) [2, 2]
  %10 = model.call @conv "16" (%9) [8 * width, 8 * width]
  %11 = model.call @conv "18" (%10) [8 * width, 8 * width]
  %12 = model.call @max_pool2d (%11) [2, 2]
  model.return %12
}

// Of x[batch, grid, grid, 8 * width], in whose first matrix the channels come before the places.
model.layer @classifier(%x) [rate] {
  %0 = weft.transpose %x [0, 3, 1, 2]
  %1 = weft.reshape %0 [batch, 1, 8 * width * grid * grid]
  %2 = model.call @dense "0" (%1) [8 * width * grid * grid, inner, S(0), S(0), 0.01]
  %3 = weft.relu %2
  %4 = weft.dropout %3 rate(rate)
  %5 = model.call @dense "3" (%4) [inner, inner, S(1), B, 0.01]
  %6 = weft.relu %5
  %7 = weft.dropout %6 rate(rate)
  %8 = model.call @dense "6" (%7) [inner, classes, B, B, 0.01]
  model.return %8
}

// Logits [batch, classes] of bytes [batch, channels, size, size]: 0 to 255 become -1 to 1. `rate` is that of every
// dropout.
model.layer @vgg(%images) [rate] {
  %0 = weft.cast %images to f32
  %1 = weft.scale %0 by(0.00784313725490196)
  %2 = weft.add_scalar %1 by(-1.0)
  %3 = weft.transpose %2 [0, 2, 3, 1]
  %4 = model.call @features "features" (%3)
  %5 = model.call @classifier "classifier" (%4) [rate]
  %6 = weft.reshape %5 [batch, classes]
  model.return %6
}

model.graph @train(%images [batch, channels, size, size] u8, %labels [batch] i32) {
  %logits = model.call @vgg (%images) [dropout]
  %loss, %count, %accuracy = model.call @loss_of_classes (%logits, %labels)
  weft.output "accuracy" metric %accuracy
  weft.minimize %loss per %count
}

model.graph @logits(%images [batch, channels, size, size] u8) {
  %logits = model.call @vgg (%images) [0.0]
  weft.output "logits" %logits
}
