// MoCo v3 (Chen, Xie and He, "An empirical study of training self-supervised vision transformers", 2021): of two views of an
// image, an encoder learns to predict what a slower one, its moving average, makes of the other. The encoder has the names
// and, in checkpoint files, the shapes of Hugging Face's ViTModel behind `base_encoder.`; heads and predictor those of the
// authors' code. The defaults are those of ViT-Base (section 5).
//
// All micro-batches of a step are of one size, each with statistics and keys of its own.
model.import "../layers.mlir"
model.import "../encoder.mlir"
model.import "../images.mlir"
model.import "../averages.mlir"
model.import "../vit/blocks.mlir"

model.config @size = 224      model.config @patch = 16    model.config @channels = 3
model.config @layers = 12     model.config @hidden = 768  model.config @inner = 3072
model.config @heads = 12      model.config @norm_eps = 1.0e-6
model.config @head_hidden = 4096  model.config @dim = 256
model.config @temperature = 0.2
model.config @momentum = 0.99     // in the first step; it grows to 1 in step `total`
model.config @total = 93750       // 300 epochs of ImageNet's 1.28M images in batches of 4096
model.config @grid = size floordiv patch

// Deviations of initial weights: Glorot's rule for the encoder, with query, key and value as matrices of their own; those of
// nn.Linear for the heads. Here they are drawn from normal distributions.
model.config @glorot = rsqrt(hidden)
model.config @glorot_inner = sqrt(2.0) * rsqrt(hidden + inner)
model.config @glorot_patch = sqrt(2.0) * rsqrt(channels * patch * patch + hidden)

// ---- the encoder, of `count` images --------------------------------------------------

// The projection of patches stays as it begins (section 4.2).
model.layer @projection_of_patches(%images) [count] {
  %0 = model.call @patches "projection" (%images) [size, patch, channels, hidden, count, @frozen, glorot_patch]
  model.return %0
}

// The class, whose position is 0, then the patches.
model.layer @embeddings(%images) [count] {
  %class = weft.parameter "cls_token" [1, 1, hidden] init(normal 1.0e-6)
  %0 = model.call @projection_of_patches "patch_embeddings" (%images) [count]
  %1 = model.call @positions () [grid, hidden]
  %2 = weft.add %0, %1
  %3 = weft.broadcast_to %class [count, 1, hidden]
  %4 = weft.concat %3, %2 dim(1)
  model.return %4
}

model.layer @blocks(%x) {
  %0 = model.repeat layers "layer" @block(%x) [hidden, heads, inner, norm_eps, 0.0, glorot, glorot_inner]
  model.return %0
}

// What the class sees, [count, hidden], of bytes [count, channels, size, size]: 0 to 255 become -1 to 1.
model.layer @vit(%images) [count] {
  %0 = weft.cast %images to f32
  %1 = weft.scale %0 by(0.00784313725490196)
  %2 = weft.add_scalar %1 by(-1.0)
  %3 = model.call @embeddings "embeddings" (%2) [count]
  %4 = model.call @blocks "encoder" (%3)
  %5 = model.call @layer_norm "layernorm" (%4) [hidden, norm_eps]
  %6 = weft.slice %5 dim(1) from(0) size(1)
  %7 = weft.reshape %6 [count, hidden]
  model.return %7
}

// ---- heads, of both views of each image: [2 * batch, width] ---------------------------

model.layer @product(%x) [in, out, split] {
  %w = weft.parameter "weight" [out, in] init(normal rsqrt(3.0 * in)) sbp(tensor = split)
  %0 = weft.einsum "bi,oi->bo" %x, %w
  model.return %0
}

// A batch norm of each view by itself. In a step the running statistics see the mean of both.
model.layer @norm_of_views(%x, %weight, %bias) [width, split] {
  %0 = weft.reshape %x [batch, 2, width]
  %1, %means, %variances = weft.batch_norm %0, %weight, %bias over [0] eps(1.0e-5)
  %mean = weft.reduce mean %means over [0]
  %variance = weft.reduce mean %variances over [0]
  model.call @running_statistics (%mean, %variance) [width, batch, 0.1, split]
  %2 = weft.reshape %1 [2 * batch, width]
  model.return %2
}

model.layer @view_norm(%x) [width, split] {
  %w = weft.parameter "weight" [width] init(ones) sbp(tensor = split)
  %b = weft.parameter "bias" [width] init(zeros) sbp(tensor = split)
  %0 = model.call @norm_of_views (%x, %w, %b) [width, split]
  model.return %0
}

// Neither scaled nor shifted.
model.layer @plain_view_norm(%x) [width] {
  %w = weft.fill [width] value(1.0)
  %b = weft.fill [width] value(0.0)
  %0 = model.call @norm_of_views (%x, %w, %b) [width, B]
  model.return %0
}

// Three layers; of two to be split, the first is by columns, the second by rows.
model.layer @projector(%x) {
  %0 = model.call @product "0" (%x) [hidden, head_hidden, S(0)]
  %1 = model.call @view_norm "1" (%0) [head_hidden, S(0)]
  %2 = weft.relu %1
  %3 = model.call @product "3" (%2) [head_hidden, head_hidden, S(1)]
  %4 = model.call @view_norm "4" (%3) [head_hidden, B]
  %5 = weft.relu %4
  %6 = model.call @product "6" (%5) [head_hidden, dim, S(1)]
  %7 = model.call @plain_view_norm "7" (%6) [dim]
  model.return %7
}

model.layer @predictor(%x) {
  %0 = model.call @product "0" (%x) [dim, head_hidden, S(0)]
  %1 = model.call @view_norm "1" (%0) [head_hidden, S(0)]
  %2 = weft.relu %1
  %3 = model.call @product "3" (%2) [head_hidden, dim, S(1)]
  %4 = model.call @plain_view_norm "4" (%3) [dim]
  model.return %4
}

model.layer @encoder(%images) {
  %0 = model.call @vit (%images) [2 * batch]
  %1 = model.call @projector "head" (%0)
  model.return %1
}

// ---- the loss -----------------------------------------------------------------------

// Vectors [batch, 2, dim] of length 1.
model.layer @directions(%x) {
  %0 = weft.reshape %x [batch, 2, dim]
  %1 = weft.square %0
  %2 = weft.reduce sum %1 over [2] keep_dims
  %3 = weft.clamp %2 min(1.0e-24)
  %4 = weft.rsqrt %3
  %5 = weft.mul %0, %4
  model.return %5
}

// Algorithm 1: each query is to find, among those of all images of the micro-batch, the key of its image's other view.
// The loss is 2 temperature (the mean over the first queries + that over the second).
model.layer @contrast(%queries, %keys) {
  %q = model.call @directions (%queries)
  %k = model.call @directions (%keys)
  %first = weft.slice %k dim(1) from(0) size(1)
  %second = weft.slice %k dim(1) from(1) size(1)
  %others = weft.concat %second, %first dim(1)
  %0 = weft.einsum "ivd,jvd->ivj" %q, %others
  %logits = weft.scale %0 by("1.0 / temperature")
  %own = weft.iota [batch, 2] dim(0)
  %sum, %count = weft.cross_entropy %logits, %own
  %loss = weft.scale %sum by(4.0 * temperature)
  model.return %loss, %count
}

model.graph @train(%view_1 [batch, channels, size, size] u8, %view_2 [batch, channels, size, size] u8) {
  %0 = weft.reshape %view_1 [batch, 1, channels, size, size]
  %1 = weft.reshape %view_2 [batch, 1, channels, size, size]
  %2 = weft.concat %0, %1 dim(1)
  %views = weft.reshape %2 [2 * batch, channels, size, size]
  %m = model.call @cosine_momentum "momentum" () [momentum, total]
  %3 = model.call @encoder "base_encoder" (%views)
  %queries = model.call @predictor "predictor" (%3)
  %4 = model.call @encoder "momentum_encoder" (%views) averages "base_encoder" momentum(%m)
  %keys = weft.stop_gradient %4
  %loss, %count = model.call @contrast (%queries, %keys)
  weft.minimize %loss per %count
}

// What the encoder has learnt of images, for a classifier: [batch, hidden].
model.graph @features(%images [batch, channels, size, size] u8) {
  %0 = model.call @vit "base_encoder" (%images) [batch]
  weft.output "features" %0
}
