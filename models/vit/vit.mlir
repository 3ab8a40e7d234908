// ViT (Dosovitskiy et al., "An image is worth 16x16 words", 2021) for classes. Parameters have the names and, in checkpoint
// files, the shapes of Hugging Face's ViTForImageClassification. The defaults are those of ViT-Base.
model.import "../layers.mlir"
model.import "../encoder.mlir"
model.import "../images.mlir"
model.import "blocks.mlir"

model.config @size = 224      model.config @patch = 16    model.config @channels = 3
model.config @layers = 12     model.config @hidden = 768  model.config @inner = 3072
model.config @heads = 12      model.config @classes = 1000
model.config @dropout = 0.0   model.config @norm_eps = 1.0e-12
model.config @grid = size floordiv patch

model.layer @projection_of_patches(%images) {
  %0 = model.call @patches "projection" (%images) [size, patch, channels, hidden]
  model.return %0
}

// The class comes first, then the patches; every place has an embedding of its own.
model.layer @embeddings(%images) [rate] {
  %class = weft.parameter "cls_token" [1, 1, hidden] init(normal 0.02)
  %places = weft.parameter "position_embeddings" [1, grid * grid + 1, hidden] init(normal 0.02)
  %0 = model.call @projection_of_patches "patch_embeddings" (%images)
  %1 = weft.broadcast_to %class [batch, 1, hidden]
  %2 = weft.concat %1, %0 dim(1)
  %3 = weft.add %2, %places
  %4 = weft.dropout %3 rate(rate)
  model.return %4
}

model.layer @encoder(%x) [rate] {
  %0 = model.repeat layers "layer" @block(%x) [hidden, heads, inner, norm_eps, rate]
  model.return %0
}

model.layer @body(%images) [rate] {
  %0 = model.call @embeddings "embeddings" (%images) [rate]
  %1 = model.call @encoder "encoder" (%0) [rate]
  %2 = model.call @layer_norm "layernorm" (%1) [hidden, norm_eps]
  model.return %2
}

// Logits [batch, classes] of bytes [batch, channels, size, size]: 0 to 255 become -1 to 1. `rate` is that of every
// dropout.
model.layer @vit(%images) [rate] {
  %0 = weft.cast %images to f32
  %1 = weft.scale %0 by(0.00784313725490196)
  %2 = weft.add_scalar %1 by(-1.0)
  %3 = model.call @body "vit" (%2) [rate]
  %4 = weft.slice %3 dim(1) from(0) size(1)
  %5 = model.call @dense "classifier" (%4) [hidden, classes]
  %6 = weft.reshape %5 [batch, classes]
  model.return %6
}

model.graph @train(%images [batch, channels, size, size] u8, %labels [batch] i32) {
  %logits = model.call @vit (%images) [dropout]
  %loss, %count, %accuracy = model.call @loss_of_classes (%logits, %labels)
  weft.output "accuracy" metric %accuracy
  weft.minimize %loss per %count
}

// Of each image its loss and whether it gets its own class.
model.graph @evaluate(%images [batch, channels, size, size] u8, %labels [batch] i32) {
  %logits = model.call @vit (%images) [0.0]
  %losses = model.call @cross_entropies (%logits, %labels) [1]
  %hits = model.call @hits (%logits, %labels)
  weft.output "loss" %losses
  weft.output "accuracy" %hits
}

model.graph @logits(%images [batch, channels, size, size] u8) {
  %logits = model.call @vit (%images) [0.0]
  weft.output "logits" %logits
}
