// Swin (Liu et al., "Swin Transformer: Hierarchical vision transformer using shifted windows", 2021) for classes, with 2, 2, 6
// and 2 blocks in its stages. Parameters have the names and, in checkpoint files, the shapes of Hugging Face's
// SwinForImageClassification. The defaults are those of Swin-T.
model.import "../layers.mlir"
model.import "../encoder.mlir"
model.import "../images.mlir"

model.config @size = 224      model.config @patch = 4     model.config @channels = 3
model.config @hidden = 96     model.config @heads = 3     model.config @window = 7
model.config @classes = 1000
model.config @dropout = 0.0   model.config @norm_eps = 1.0e-5
// Patches along a side; each stage but the first has half as many, and twice the width and heads.
model.config @grid = size floordiv patch

// What a window's places add to each other's scores: [1, heads, places, places]. The table has a row for each difference of
// rows and columns (section 3.2).
model.layer @bias_of_window() [heads] {
  %table = weft.parameter "relative_position_bias_table" [(2 * window + -1) * (2 * window + -1), heads]
             init(normal 0.02) sbp(tensor = S(1))
  %qi = weft.iota [window, window, window, window] dim(0)
  %qj = weft.iota [window, window, window, window] dim(1)
  %ki = weft.iota [window, window, window, window] dim(2)
  %kj = weft.iota [window, window, window, window] dim(3)
  %0 = weft.sub %qi, %ki
  %1 = weft.sub %qj, %kj
  %last = weft.fill [1, 1, 1, 1] value(window + -1) to i32
  %2 = weft.add %0, %last
  %3 = weft.add %1, %last
  %width = weft.fill [1, 1, 1, 1] value(2 * window + -1) to i32
  %4 = weft.mul %2, %width
  %5 = weft.add %4, %3
  %6 = weft.reshape %5 [window * window, window * window]
  %7 = weft.embedding %6, %table
  %8 = weft.transpose %7 [2, 0, 1]
  %9 = weft.reshape %8 [1, heads, window * window, window * window]
  model.return %9
}

// The third in which each of `places` lies that a shift has moved around: all but the last window, what stays of it, and
// what comes from the other side. i32[places, places], by rows or columns.
model.layer @third_of(%place) [places] {
  %window = weft.fill [1, 1] value(places + -1 * window) to i32
  %shift = weft.fill [1, 1] value(places + -1 * (window floordiv 2)) to i32
  %0 = weft.greater_equal %place, %window
  %1 = weft.greater_equal %place, %shift
  %2 = weft.cast %0 to i32
  %3 = weft.cast %1 to i32
  %4 = weft.add %2, %3
  model.return %4
}

// Which places of shifted windows see each other: those that lie in one region of the image. Truth values
// [batch * windows, 1, window * window, window * window].
model.layer @mask_of_shift() [places] {
  %row = weft.iota [places, places] dim(0)
  %column = weft.iota [places, places] dim(1)
  %0 = model.call @third_of (%row) [places]
  %1 = model.call @third_of (%column) [places]
  %three = weft.fill [1, 1] value(3) to i32
  %2 = weft.mul %0, %three
  %3 = weft.add %2, %1
  %4 = weft.reshape %3 [places floordiv window, window, places floordiv window, window]
  %5 = weft.transpose %4 [0, 2, 1, 3]
  %6 = weft.reshape %5 [1, (places floordiv window) * (places floordiv window), window * window, 1]
  %7 = weft.reshape %5 [1, (places floordiv window) * (places floordiv window), 1, window * window]
  %8 = weft.equal %6, %7
  %9 = weft.broadcast_to %8 [batch, (places floordiv window) * (places floordiv window), window * window, window * window]
  %10 = weft.reshape %9 [batch * (places floordiv window) * (places floordiv window), 1, window * window, window * window]
  model.return %10
}

// Windows [batch * windows, window * window, width] of x[batch, places, places, width], and back.
model.layer @windows_of(%x) [places, width] {
  %0 = weft.reshape %x [batch, places floordiv window, window, places floordiv window, window, width]
  %1 = weft.transpose %0 [0, 1, 3, 2, 4, 5]
  %2 = weft.reshape %1 [batch * (places floordiv window) * (places floordiv window), window * window, width]
  model.return %2
}

model.layer @image_of(%x) [places, width] {
  %0 = weft.reshape %x [batch, places floordiv window, places floordiv window, window, window, width]
  %1 = weft.transpose %0 [0, 1, 3, 2, 4, 5]
  %2 = weft.reshape %1 [batch, places, places, width]
  model.return %2
}

// Moves x[batch, places, places, width] up and left by `by`; what leaves comes in at the other side.
model.layer @roll(%x) [places, by] {
  %0 = weft.slice %x dim(1) from(by) size(places + -1 * by)
  %1 = weft.slice %x dim(1) from(0) size(by)
  %2 = weft.concat %0, %1 dim(1)
  %3 = weft.slice %2 dim(2) from(by) size(places + -1 * by)
  %4 = weft.slice %2 dim(2) from(0) size(by)
  %5 = weft.concat %3, %4 dim(2)
  model.return %5
}

model.layer @window_attention(%x) [width, heads] {
  %q = model.call @dense_heads "query" (%x) [width, heads]
  %k = model.call @dense_heads "key" (%x) [width, heads]
  %v = model.call @dense_heads "value" (%x) [width, heads]
  %bias = model.call @bias_of_window () [heads]
  %0 = weft.attention %q, %k, %v bias(%bias)
  model.return %0
}

model.layer @shifted_attention(%x, %mask) [width, heads] {
  %q = model.call @dense_heads "query" (%x) [width, heads]
  %k = model.call @dense_heads "key" (%x) [width, heads]
  %v = model.call @dense_heads "value" (%x) [width, heads]
  %bias = model.call @bias_of_window () [heads]
  %0 = weft.attention %q, %k, %v bias(%bias) mask(%mask)
  model.return %0
}

model.layer @attention_output(%x) [width, heads] {
  %0 = model.call @dense_of_heads "dense" (%x) [width, heads]
  %1 = weft.dropout %0 rate(dropout)
  model.return %1
}

model.layer @attention(%x) [width, heads] {
  %0 = model.call @window_attention "self" (%x) [width, heads]
  %1 = model.call @attention_output "output" (%0) [width, heads]
  model.return %1
}

model.layer @attention_of_shift(%x, %mask) [width, heads] {
  %0 = model.call @shifted_attention "self" (%x, %mask) [width, heads]
  %1 = model.call @attention_output "output" (%0) [width, heads]
  model.return %1
}

model.layer @intermediate(%x) [width] {
  %0 = model.call @dense "dense" (%x) [width, 4 * width, S(0), S(0)]
  %1 = weft.gelu %0 approximate(none)
  model.return %1
}

model.layer @output(%x) [width] {
  %0 = model.call @dense "dense" (%x) [4 * width, width, S(1), B]
  %1 = weft.dropout %0 rate(dropout)
  model.return %1
}

// What attention has given is added to %x[batch, places * places, width], and what an MLP makes of it.
model.layer @add_both(%x, %attended) [width] {
  %0 = weft.add %x, %attended
  %1 = model.call @layer_norm "layernorm_after" (%0) [width, norm_eps]
  %2 = model.call @intermediate "intermediate" (%1) [width]
  %3 = model.call @output "output" (%2) [width]
  %4 = weft.add %0, %3
  model.return %4
}

model.layer @block(%x) [places, width, heads] {
  %0 = model.call @layer_norm "layernorm_before" (%x) [width, norm_eps]
  %1 = weft.reshape %0 [batch, places, places, width]
  %2 = model.call @windows_of (%1) [places, width]
  %3 = model.call @attention "attention" (%2) [width, heads]
  %4 = model.call @image_of (%3) [places, width]
  %5 = weft.reshape %4 [batch, places * places, width]
  %6 = model.call @add_both (%x, %5) [width]
  model.return %6
}

model.layer @shifted_block(%x, %mask) [places, width, heads] {
  %0 = model.call @layer_norm "layernorm_before" (%x) [width, norm_eps]
  %1 = weft.reshape %0 [batch, places, places, width]
  %2 = model.call @roll (%1) [places, window floordiv 2]
  %3 = model.call @windows_of (%2) [places, width]
  %4 = model.call @attention_of_shift "attention" (%3, %mask) [width, heads]
  %5 = model.call @image_of (%4) [places, width]
  %6 = model.call @roll (%5) [places, places + -1 * (window floordiv 2)]
  %7 = weft.reshape %6 [batch, places * places, width]
  %8 = model.call @add_both (%x, %7) [width]
  model.return %8
}

// Four neighbours become one place of twice the width.
model.layer @merge(%x) [places, width] {
  %w = weft.parameter "reduction.weight" [2 * width, 4 * width] init(normal 0.02)
  %0 = weft.reshape %x [batch, places floordiv 2, 2, places floordiv 2, 2, width]
  %1 = weft.transpose %0 [0, 1, 3, 4, 2, 5]
  %2 = weft.reshape %1 [batch, (places floordiv 2) * (places floordiv 2), 4 * width]
  %3 = model.call @layer_norm "norm" (%2) [4 * width]
  %4 = weft.einsum "bsi,oi->bso" %3, %w
  model.return %4
}

model.layer @two_blocks(%x) [places, width, heads] {
  %mask = model.call @mask_of_shift () [places]
  %0 = model.call @block "blocks.0" (%x) [places, width, heads]
  %1 = model.call @shifted_block "blocks.1" (%0, %mask) [places, width, heads]
  %2 = model.call @merge "downsample" (%1) [places, width]
  model.return %2
}

model.layer @six_blocks(%x) [places, width, heads] {
  %mask = model.call @mask_of_shift () [places]
  %0 = model.call @block "blocks.0" (%x) [places, width, heads]
  %1 = model.call @shifted_block "blocks.1" (%0, %mask) [places, width, heads]
  %2 = model.call @block "blocks.2" (%1) [places, width, heads]
  %3 = model.call @shifted_block "blocks.3" (%2, %mask) [places, width, heads]
  %4 = model.call @block "blocks.4" (%3) [places, width, heads]
  %5 = model.call @shifted_block "blocks.5" (%4, %mask) [places, width, heads]
  %6 = model.call @merge "downsample" (%5) [places, width]
  model.return %6
}

// One window is all there is: nothing to shift, and nothing to merge.
model.layer @last_blocks(%x) [places, width, heads] {
  %0 = model.call @block "blocks.0" (%x) [places, width, heads]
  %1 = model.call @block "blocks.1" (%0) [places, width, heads]
  model.return %1
}

model.layer @encoder(%x) {
  %0 = model.call @two_blocks "layers.0" (%x) [grid, hidden, heads]
  %1 = model.call @two_blocks "layers.1" (%0) [grid floordiv 2, 2 * hidden, 2 * heads]
  %2 = model.call @six_blocks "layers.2" (%1) [grid floordiv 4, 4 * hidden, 4 * heads]
  %3 = model.call @last_blocks "layers.3" (%2) [grid floordiv 8, 8 * hidden, 8 * heads]
  model.return %3
}

model.layer @projection_of_patches(%images) {
  %0 = model.call @patches "projection" (%images) [size, patch, channels, hidden]
  model.return %0
}

model.layer @embeddings(%images) {
  %0 = model.call @projection_of_patches "patch_embeddings" (%images)
  %1 = model.call @layer_norm "norm" (%0) [hidden]
  %2 = weft.dropout %1 rate(dropout)
  model.return %2
}

model.layer @body(%images) {
  %0 = model.call @embeddings "embeddings" (%images)
  %1 = model.call @encoder "encoder" (%0)
  %2 = model.call @layer_norm "layernorm" (%1) [8 * hidden, norm_eps]
  model.return %2
}

// Logits [batch, classes] of bytes [batch, channels, size, size]: 0 to 255 become -1 to 1.
model.layer @swin(%images) {
  %0 = weft.cast %images to f32
  %1 = weft.scale %0 by(0.00784313725490196)
  %2 = weft.add_scalar %1 by(-1.0)
  %3 = model.call @body "swin" (%2)
  %4 = weft.reduce mean %3 over [1] keep_dims
  %5 = model.call @dense "classifier" (%4) [8 * hidden, classes]
  %6 = weft.reshape %5 [batch, classes]
  model.return %6
}

model.graph @train(%images [batch, channels, size, size] u8, %labels [batch] i32) {
  %logits = model.call @swin (%images)
  %loss, %count, %accuracy = model.call @loss_of_classes (%logits, %labels)
  weft.output "accuracy" metric %accuracy
  weft.minimize %loss per %count
}

model.graph @logits(%images [batch, channels, size, size] u8) {
  %logits = model.call @swin (%images)
  weft.output "logits" %logits
}
