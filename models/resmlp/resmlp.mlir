// ResMLP (Touvron et al., "ResMLP: feedforward networks for image classification with data-efficient training", 2021).
// Parameters have the names and, in checkpoint files, the shapes of timm's resmlp_*. The defaults are those of ResMLP-S12.
model.import "../layers.mlir"
model.import "../encoder.mlir"
model.import "../images.mlir"

model.config @size = 224      model.config @patch = 16    model.config @channels = 3
model.config @layers = 12     model.config @hidden = 384  model.config @inner = 4 * hidden
model.config @classes = 1000
model.config @places = (size floordiv patch) * (size floordiv patch)
// What a branch is scaled by at first: 0.1 up to 18 layers, 1e-5 for 24, 1e-6 for 36 (Touvron et al., "Going deeper with
// image transformers", 2021, section 2).
model.config @branch_scale = 0.1

// alpha x + beta of every channel, in place of a normalisation (equation 1).
model.layer @affine(%x) {
  %alpha = weft.parameter "alpha" [1, 1, hidden] init(ones)
  %beta = weft.parameter "beta" [1, 1, hidden] init(zeros)
  %0 = weft.mul %x, %alpha
  %1 = weft.add %0, %beta
  model.return %1
}

// Mixes the places of x[batch, places, hidden], every channel alike.
model.layer @linear_tokens(%x) {
  %w = weft.parameter "weight" [places, places] init(normal 0.02)
  %b = weft.parameter "bias" [places] init(zeros)
  %0 = weft.einsum "bsh,ts->bth" %x, %w
  %1 = weft.reshape %b [places, 1]
  %2 = weft.add %0, %1
  model.return %2
}

// Mixes the channels of every place.
model.layer @mlp_channels(%x) {
  %0 = model.call @dense "fc1" (%x) [hidden, inner, S(0), S(0)]
  %1 = weft.gelu %0 approximate(none)
  %2 = model.call @dense "fc2" (%1) [inner, hidden, S(1), B]
  model.return %2
}

model.layer @block(%x) {
  %ls1 = weft.parameter "ls1" [hidden] init(constant branch_scale)
  %ls2 = weft.parameter "ls2" [hidden] init(constant branch_scale)
  %0 = model.call @affine "norm1" (%x)
  %1 = model.call @linear_tokens "linear_tokens" (%0)
  %2 = weft.mul %1, %ls1
  %3 = weft.add %x, %2
  %4 = model.call @affine "norm2" (%3)
  %5 = model.call @mlp_channels "mlp_channels" (%4)
  %6 = weft.mul %5, %ls2
  %7 = weft.add %3, %6
  model.return %7
}

model.layer @stem(%images) {
  %0 = model.call @patches "proj" (%images) [size, patch, channels, hidden]
  model.return %0
}

// Logits [batch, classes] of bytes [batch, channels, size, size]: 0 to 255 become -1 to 1.
model.layer @resmlp(%images) {
  %0 = weft.cast %images to f32
  %1 = weft.scale %0 by(0.00784313725490196)
  %2 = weft.add_scalar %1 by(-1.0)
  %3 = model.call @stem "stem" (%2)
  %4 = model.repeat layers "blocks" @block(%3)
  %5 = model.call @affine "norm" (%4)
  %6 = weft.reduce mean %5 over [1] keep_dims
  %7 = model.call @dense "head" (%6) [hidden, classes]
  %8 = weft.reshape %7 [batch, classes]
  model.return %8
}

model.graph @train(%images [batch, channels, size, size] u8, %labels [batch] i32) {
  %logits = model.call @resmlp (%images)
  %loss, %count, %accuracy = model.call @loss_of_classes (%logits, %labels)
  weft.output "accuracy" metric %accuracy
  weft.minimize %loss per %count
}

// Of each image its loss and whether it gets its own class.
model.graph @evaluate(%images [batch, channels, size, size] u8, %labels [batch] i32) {
  %logits = model.call @resmlp (%images)
  %losses = model.call @cross_entropies (%logits, %labels) [1]
  %hits = model.call @hits (%logits, %labels)
  weft.output "loss" %losses
  weft.output "accuracy" %hits
}

model.graph @logits(%images [batch, channels, size, size] u8) {
  %logits = model.call @resmlp (%images)
  weft.output "logits" %logits
}
