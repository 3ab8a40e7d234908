// MAE (He et al., "Masked autoencoders are scalable vision learners", 2021): a ViT sees a quarter of the patches, and a
// smaller one paints the others. Parameters have the names and, in checkpoint files, the shapes of Hugging Face's
// ViTMAEForPreTraining; its tables of positions, which are not trained, are computed. The defaults are those of MAE-Base.
model.import "../layers.mlir"
model.import "../encoder.mlir"
model.import "../images.mlir"
model.import "../vit/blocks.mlir"

model.config @size = 224          model.config @patch = 16           model.config @channels = 3
model.config @layers = 12         model.config @hidden = 768         model.config @inner = 3072
model.config @heads = 12          model.config @norm_eps = 1.0e-12
model.config @decoder_layers = 8  model.config @decoder_hidden = 512  model.config @decoder_inner = 2048
model.config @decoder_heads = 16
model.config @grid = size floordiv patch
model.config @places = grid * grid
model.config @seen = places floordiv 4  // section 4.1: three of four are masked
model.config @masked = 3 * seen
model.config @numbers = patch * patch * channels  // of a patch

model.layer @projection_of_patches(%images) {
  %0 = model.call @patches "projection" (%images) [size, patch, channels, hidden]
  model.return %0
}

// The class, whose position is 0, and the patches that are seen.
model.layer @embeddings(%images, %seen_ids) {
  %class = weft.parameter "cls_token" [1, 1, hidden] init(normal 0.02)
  %0 = model.call @projection_of_patches "patch_embeddings" (%images)
  %1 = model.call @positions () [grid, hidden]
  %2 = weft.add %0, %1
  %3 = weft.take %2, %seen_ids dim(1) batch(1)
  %4 = weft.broadcast_to %class [batch, 1, hidden]
  %5 = weft.concat %4, %3 dim(1)
  model.return %5
}

model.layer @encoder(%x) {
  %0 = model.repeat layers "layer" @block(%x) [hidden, heads, inner, norm_eps, 0.0]
  model.return %0
}

model.layer @seeing(%images, %seen_ids) {
  %0 = model.call @embeddings "embeddings" (%images, %seen_ids)
  %1 = model.call @encoder "encoder" (%0)
  %2 = model.call @layer_norm "layernorm" (%1) [hidden, norm_eps]
  model.return %2
}

// Pixels [batch, places, numbers] of what the encoder gives, [batch, 1 + seen, hidden]. `restored` says which of the seen
// patches and then the masks belongs to a place.
model.layer @painting(%x, %restored) {
  %mask = weft.parameter "mask_token" [1, 1, decoder_hidden] init(normal 0.02)
  %0 = model.call @dense "decoder_embed" (%x) [hidden, decoder_hidden]
  %class = weft.slice %0 dim(1) from(0) size(1)
  %1 = weft.slice %0 dim(1) from(1) size(seen)
  %2 = weft.broadcast_to %mask [batch, masked, decoder_hidden]
  %3 = weft.concat %1, %2 dim(1)
  %4 = weft.take %3, %restored dim(1) batch(1)
  %5 = model.call @positions () [grid, decoder_hidden]
  %6 = weft.add %4, %5
  %7 = weft.concat %class, %6 dim(1)
  %8 = model.repeat decoder_layers "decoder_layers" @block(%7) [decoder_hidden, decoder_heads, decoder_inner, norm_eps, 0.0]
  %9 = model.call @layer_norm "decoder_norm" (%8) [decoder_hidden, norm_eps]
  %10 = model.call @dense "decoder_pred" (%9) [decoder_hidden, numbers]
  %11 = weft.slice %10 dim(1) from(1) size(places)
  model.return %11
}

// The numbers of each patch, [batch, places, numbers], with mean 0 and deviation 1 (section 3, "Reconstruction target").
model.layer @targets(%images) {
  %0 = weft.reshape %images [batch, channels, grid, patch, grid, patch]
  %1 = weft.transpose %0 [0, 2, 4, 3, 5, 1]
  %2 = weft.reshape %1 [batch, places, numbers]
  %3 = weft.reduce mean %2 over [2] keep_dims
  %4 = weft.sub %2, %3
  %5 = weft.square %4
  %6 = weft.reduce sum %5 over [2] keep_dims
  %7 = weft.fill [1] value(numbers)
  %8 = weft.add_scalar %7 by(-1.0)
  %9 = weft.div %6, %8
  %10 = weft.add_scalar %9 by(1.0e-6)
  %11 = weft.sqrt %10
  %12 = weft.div %4, %11
  model.return %12
}

// Images of bytes, with -1 for black and 1 for white.
model.layer @pixels_of(%images) {
  %0 = weft.cast %images to f32
  %1 = weft.scale %0 by(0.00784313725490196)
  %2 = weft.add_scalar %1 by(-1.0)
  model.return %2
}

// What is painted of all patches, [batch, places, numbers], and the places of the shuffled ones. Those with the least
// noise are seen.
model.layer @painted(%pixels, %noise) {
  %sorted, %shuffled = weft.sort %noise dim(1)
  %ordered, %restored = weft.sort %shuffled dim(1)
  %seen_ids = weft.slice %shuffled dim(1) from(0) size(seen)
  %0 = model.call @seeing "vit" (%pixels, %seen_ids)
  %1 = model.call @painting "decoder" (%0, %restored)
  model.return %1, %restored
}

// The mean squared error of each masked patch, 0 of the others, and 1 and 0 likewise, both [batch, places].
model.layer @errors(%images, %noise) {
  %pixels = model.call @pixels_of (%images)
  %3, %restored = model.call @painted (%pixels, %noise)
  %4 = model.call @targets (%pixels)
  %5 = weft.sub %3, %4
  %6 = weft.square %5
  %7 = weft.reduce mean %6 over [2]
  %8 = weft.fill [1] value(seen) to i32
  %behind = weft.greater_equal %restored, %8
  %mask = weft.cast %behind to f32
  %9 = weft.mul %7, %mask
  model.return %9, %mask
}

model.layer @loss_of(%images, %noise) {
  %errors, %mask = model.call @errors (%images, %noise)
  %loss = weft.reduce sum %errors over [0, 1]
  %count = weft.reduce sum %mask over [0, 1]
  model.return %loss, %count
}

model.graph @train(%images [batch, channels, size, size] u8) {
  %noise = weft.random_uniform [batch, places] low(0.0) high(1.0)
  %loss, %count = model.call @loss_of (%images, %noise)
  weft.minimize %loss per %count
}

// Of each image the mean error of what is masked of it.
model.graph @evaluate(%images [batch, channels, size, size] u8) {
  %noise = weft.random_uniform [batch, places] low(0.0) high(1.0)
  %errors, %mask = model.call @errors (%images, %noise)
  %0 = weft.reduce sum %errors over [1]
  %1 = weft.reduce sum %mask over [1]
  %2 = weft.div %0, %1
  weft.output "loss" %2
}

// With noise from the data, which says what is masked.
model.graph @train_with_noise(%images [batch, channels, size, size] u8, %noise [batch, places] f32) {
  %loss, %count = model.call @loss_of (%images, %noise)
  weft.minimize %loss per %count
}

model.graph @logits(%images [batch, channels, size, size] u8, %noise [batch, places] f32) {
  %pixels = model.call @pixels_of (%images)
  %logits, %restored = model.call @painted (%pixels, %noise)
  weft.output "logits" %logits
}
