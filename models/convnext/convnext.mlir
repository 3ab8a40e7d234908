// ConvNeXt (Liu et al., "A ConvNet for the 2020s", 2022) for classes. Parameters have the names and, in checkpoint files, the
// shapes of Hugging Face's ConvNextForImageClassification. The defaults are those of ConvNeXt-T; a stage has twice the width
// of the one before it and half as many places along a side.
model.import "../layers.mlir"
model.import "../encoder.mlir"
model.import "../images.mlir"
model.import "../convolutions.mlir"

model.config @size = 224      model.config @patch = 4     model.config @channels = 3
model.config @hidden = 96     model.config @kernel = 7    model.config @classes = 1000
// Blocks of each stage.
model.config @depth_0 = 3     model.config @depth_1 = 3   model.config @depth_2 = 9   model.config @depth_3 = 3
// What a branch is scaled by at first.
model.config @branch_scale = 1.0e-6
model.config @norm_eps = 1.0e-12
model.config @grid = size floordiv patch

// Neighbours are mixed channel by channel, then channels place by place (figure 4). x is [batch, places * places, width].
model.layer @block(%x) [places, width] {
  %scale = weft.parameter "layer_scale_parameter" [width] init(constant branch_scale)
  %0 = weft.reshape %x [batch, places, places, width]
  %1 = model.call @depthwise_conv2d "dwconv" (%0) [width, kernel, 1, kernel floordiv 2]
  %2 = weft.reshape %1 [batch, places * places, width]
  %3 = model.call @layer_norm "layernorm" (%2) [width, 1.0e-6]
  %4 = model.call @dense "pwconv1" (%3) [width, 4 * width, S(0), S(0)]
  %5 = weft.gelu %4 approximate(none)
  %6 = model.call @dense "pwconv2" (%5) [4 * width, width, S(1), B]
  %7 = weft.mul %6, %scale
  %8 = weft.add %x, %7
  model.return %8
}

// Two by two places become one, of the next width.
model.layer @halve(%x) [places, width] {
  %0 = model.call @layer_norm "0" (%x) [width, 1.0e-6]
  %1 = weft.reshape %0 [batch, places, places, width]
  %2 = model.call @conv2d "1" (%1) [width, 2 * width, 2, 2]
  %3 = weft.reshape %2 [batch, (places floordiv 2) * (places floordiv 2), 2 * width]
  model.return %3
}

model.layer @first_stage(%x) [depth, places, width] {
  %0 = model.repeat depth "layers" @block(%x) [places, width]
  model.return %0
}

// Behind one of `places` along a side and `width`.
model.layer @next_stage(%x) [depth, places, width] {
  %0 = model.call @halve "downsampling_layer" (%x) [places, width]
  %1 = model.repeat depth "layers" @block(%0) [places floordiv 2, 2 * width]
  model.return %1
}

model.layer @encoder(%x) {
  %0 = model.call @first_stage "stages.0" (%x) [depth_0, grid, hidden]
  %1 = model.call @next_stage "stages.1" (%0) [depth_1, grid, hidden]
  %2 = model.call @next_stage "stages.2" (%1) [depth_2, grid floordiv 2, 2 * hidden]
  %3 = model.call @next_stage "stages.3" (%2) [depth_3, grid floordiv 4, 4 * hidden]
  model.return %3
}

model.layer @embeddings(%images) {
  %0 = model.call @patches "patch_embeddings" (%images) [size, patch, channels, hidden]
  %1 = model.call @layer_norm "layernorm" (%0) [hidden, 1.0e-6]
  model.return %1
}

model.layer @body(%images) {
  %0 = model.call @embeddings "embeddings" (%images)
  %1 = model.call @encoder "encoder" (%0)
  %2 = weft.reduce mean %1 over [1] keep_dims
  %3 = model.call @layer_norm "layernorm" (%2) [8 * hidden, norm_eps]
  model.return %3
}

// Logits [batch, classes] of bytes [batch, channels, size, size]: 0 to 255 become -1 to 1.
model.layer @convnext(%images) {
  %0 = weft.cast %images to f32
  %1 = weft.scale %0 by(0.00784313725490196)
  %2 = weft.add_scalar %1 by(-1.0)
  %3 = model.call @body "convnext" (%2)
  %4 = model.call @dense "classifier" (%3) [8 * hidden, classes]
  %5 = weft.reshape %4 [batch, classes]
  model.return %5
}

model.graph @train(%images [batch, channels, size, size] u8, %labels [batch] i32) {
  %logits = model.call @convnext (%images)
  %loss, %count, %accuracy = model.call @loss_of_classes (%logits, %labels)
  weft.output "accuracy" metric %accuracy
  weft.minimize %loss per %count
}

// Of each image its loss and whether it gets its own class.
model.graph @evaluate(%images [batch, channels, size, size] u8, %labels [batch] i32) {
  %logits = model.call @convnext (%images)
  %losses = model.call @cross_entropies (%logits, %labels) [1]
  %hits = model.call @hits (%logits, %labels)
  weft.output "loss" %losses
  weft.output "accuracy" %hits
}

model.graph @logits(%images [batch, channels, size, size] u8) {
  %logits = model.call @convnext (%images)
  weft.output "logits" %logits
}
