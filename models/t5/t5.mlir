// T5 (Raffel et al., "Exploring the limits of transfer learning with a unified text-to-text transformer", 2020). Parameters
// have the names and, in checkpoint files, the shapes of Hugging Face's T5ForConditionalGeneration. The defaults are those
// of T5-Base; its head is the table of the embeddings.
model.import "../layers.mlir"
model.import "../rotary.mlir"

model.config @layers = 12      model.config @decoder_layers = 12
model.config @hidden = 768     model.config @inner = 3072
model.config @heads = 12       model.config @head_dim = 64
model.config @vocab = 32128
// The lengths of what is read and of what is written.
model.config @seq = 512        model.config @target = 128
// Distances of keys fall into so many buckets, all from `distance` on into the last one.
model.config @buckets = 32     model.config @distance = 128
model.config @dropout = 0.0    model.config @norm_eps = 1.0e-6

// The bucket of far[queries, keys], i32 of 0 and more: of `count` buckets the first half has a distance each, those of the
// other half grow with the logarithm (section 2.1; `_relative_position_bucket` of Hugging Face).
model.layer @bucket_of(%far) [count] {
  %exact = weft.fill [1, 1] value(count floordiv 2)
  %end = weft.fill [1, 1] value(distance)
  %0 = weft.cast %far to f32
  %1 = weft.clamp %0 min(1.0)
  %2 = weft.div %1, %exact
  %3 = weft.log %2
  %4 = weft.div %end, %exact
  %5 = weft.log %4
  %6 = weft.div %3, %5
  %7 = weft.mul %6, %exact
  %8 = weft.cast %7 to i32
  %half = weft.fill [1, 1] value(count floordiv 2) to i32
  %last = weft.fill [1, 1] value(count + -1) to i32
  %9 = weft.add %8, %half
  %10 = weft.minimum %9, %last
  %near = weft.less %far, %half
  %11 = weft.select %near, %far, %10
  model.return %11
}

// Buckets of the distances in both directions, each with half of them.
model.layer @buckets_both_ways() [queries, keys] {
  %q = weft.iota [queries, keys] dim(0)
  %k = weft.iota [queries, keys] dim(1)
  %0 = weft.sub %q, %k
  %1 = weft.sub %k, %q
  %far = weft.maximum %0, %1
  %2 = model.call @bucket_of (%far) [buckets floordiv 2]
  %3 = weft.greater %k, %q
  %4 = weft.cast %3 to i32
  %half = weft.fill [1, 1] value(buckets floordiv 2) to i32
  %5 = weft.mul %4, %half
  %6 = weft.add %2, %5
  model.return %6
}

// Buckets of the distances of keys that lie before the query.
model.layer @buckets_back() [queries, keys] {
  %q = weft.iota [queries, keys] dim(0)
  %k = weft.iota [queries, keys] dim(1)
  %0 = weft.sub %q, %k
  %zero = weft.fill [1, 1] value(0) to i32
  %far = weft.maximum %0, %zero
  %1 = model.call @bucket_of (%far) [buckets]
  model.return %1
}

// What each head adds to the scores of a bucket: [1, heads, queries, keys]. Hugging Face keeps the table in the first block.
model.layer @relative_bias(%bucket) [queries, keys] {
  %w = weft.parameter "block.0.layer.0.SelfAttention.relative_attention_bias.weight" [buckets, heads]
         init(normal rsqrt(hidden)) sbp(tensor = S(1))
  %0 = weft.embedding %bucket, %w
  %1 = weft.transpose %0 [2, 0, 1]
  %2 = weft.reshape %1 [1, heads, queries, keys]
  model.return %2
}

model.layer @query_of(%x) {
  %0 = model.call @heads_of "q" (%x) [hidden, heads, head_dim, rsqrt(hidden * head_dim)]
  model.return %0
}

model.layer @key_and_value_of(%x) {
  %k = model.call @heads_of "k" (%x) [hidden, heads, head_dim, rsqrt(hidden)]
  %v = model.call @heads_of "v" (%x) [hidden, heads, head_dim, rsqrt(hidden)]
  model.return %k, %v
}

model.layer @out_of(%x) {
  %0 = model.call @output_of_heads "o" (%x) [hidden, heads, head_dim, rsqrt(heads * head_dim)]
  model.return %0
}

model.layer @reading(%x, %bias, %mask) {
  %q = model.call @query_of (%x)
  %k, %v = model.call @key_and_value_of (%x)
  %0 = weft.attention %q, %k, %v bias(%bias) mask(%mask) scale(1.0)
  %1 = model.call @out_of (%0)
  model.return %1
}

model.layer @writing(%x, %bias) {
  %q = model.call @query_of (%x)
  %k, %v = model.call @key_and_value_of (%x)
  %0 = weft.attention %q, %k, %v bias(%bias) causal scale(1.0)
  %1 = model.call @out_of (%0)
  model.return %1
}

model.layer @looking_back(%x, %read, %mask) {
  %q = model.call @query_of (%x)
  %k, %v = model.call @key_and_value_of (%read)
  %0 = weft.attention %q, %k, %v mask(%mask) scale(1.0)
  %1 = model.call @out_of (%0)
  model.return %1
}

model.layer @dense_relu_dense(%x) {
  %0 = model.call @projection "wi" (%x) [hidden, inner, S(0), rsqrt(hidden)]
  %1 = weft.relu %0
  %2 = weft.dropout %1 rate(dropout)
  %3 = model.call @projection "wo" (%2) [inner, hidden, S(1), rsqrt(inner)]
  model.return %3
}

// Each of these layers adds to what it reads.
model.layer @reading_layer(%x, %bias, %mask) {
  %0 = model.call @rms_norm "layer_norm" (%x) [hidden, norm_eps]
  %1 = model.call @reading "SelfAttention" (%0, %bias, %mask)
  %2 = weft.dropout %1 rate(dropout)
  %3 = weft.add %x, %2
  model.return %3
}

model.layer @writing_layer(%x, %bias) {
  %0 = model.call @rms_norm "layer_norm" (%x) [hidden, norm_eps]
  %1 = model.call @writing "SelfAttention" (%0, %bias)
  %2 = weft.dropout %1 rate(dropout)
  %3 = weft.add %x, %2
  model.return %3
}

model.layer @cross_layer(%x, %read, %mask) {
  %0 = model.call @rms_norm "layer_norm" (%x) [hidden, norm_eps]
  %1 = model.call @looking_back "EncDecAttention" (%0, %read, %mask)
  %2 = weft.dropout %1 rate(dropout)
  %3 = weft.add %x, %2
  model.return %3
}

model.layer @feed_forward_layer(%x) {
  %0 = model.call @rms_norm "layer_norm" (%x) [hidden, norm_eps]
  %1 = model.call @dense_relu_dense "DenseReluDense" (%0)
  %2 = weft.dropout %1 rate(dropout)
  %3 = weft.add %x, %2
  model.return %3
}

model.layer @encoder_block(%x, %bias, %mask) {
  %0 = model.call @reading_layer "layer.0" (%x, %bias, %mask)
  %1 = model.call @feed_forward_layer "layer.1" (%0)
  model.return %1
}

model.layer @decoder_block(%x, %read, %bias, %mask) {
  %0 = model.call @writing_layer "layer.0" (%x, %bias)
  %1 = model.call @cross_layer "layer.1" (%0, %read, %mask)
  %2 = model.call @feed_forward_layer "layer.2" (%1)
  model.return %2
}

model.layer @encoder(%x, %mask) {
  %bucket = model.call @buckets_both_ways () [seq, seq]
  %bias = model.call @relative_bias (%bucket) [seq, seq]
  %0 = model.repeat layers "block" @encoder_block(%x, %bias, %mask)
  %1 = model.call @rms_norm "final_layer_norm" (%0) [hidden, norm_eps]
  %2 = weft.dropout %1 rate(dropout)
  model.return %2
}

model.layer @decoder(%x, %read, %mask) {
  %bucket = model.call @buckets_back () [target, target]
  %bias = model.call @relative_bias (%bucket) [target, target]
  %0 = model.repeat decoder_layers "block" @decoder_block(%x, %read, %bias, %mask)
  %1 = model.call @rms_norm "final_layer_norm" (%0) [hidden, norm_eps]
  %2 = weft.dropout %1 rate(dropout)
  model.return %2
}

// Labels one place later, behind a 0, as the decoder reads them: labels of -100 as 0.
model.layer @shifted(%labels) {
  %zero = weft.fill [1, 1] value(0) to i32
  %0 = weft.slice %labels dim(1) from(0) size(target + -1)
  %1 = weft.maximum %0, %zero
  %2 = weft.pad %1 dim(1) before(1) after(0)
  model.return %2
}

model.layer @t5(%tokens, %seen, %inputs) {
  %0, %table = model.call @embedding "shared" (%tokens) [vocab, hidden, 1.0]
  %mask = weft.reshape %seen [batch, 1, 1, seq]
  %1 = weft.dropout %0 rate(dropout)
  %read = model.call @encoder "encoder" (%1, %mask)
  %2 = weft.embedding %inputs, %table
  %3 = weft.dropout %2 rate(dropout)
  %4 = model.call @decoder "decoder" (%3, %read, %mask)
  %5 = weft.scale %4 by(rsqrt(hidden))
  %6 = model.call @tied_head (%5, %table)
  model.return %6
}

// Writes `labels` from what it reads; labels of -100 do not count. `mask` is 0 for what fills up `tokens`.
model.graph @train(%tokens [batch, seq] i32, %mask [batch, seq] u8, %labels [batch, target] i32) {
  %inputs = model.call @shifted (%labels)
  %logits = model.call @t5 (%tokens, %mask, %inputs)
  %loss, %count = weft.cross_entropy %logits, %labels
  weft.minimize %loss per %count
}

model.graph @logits(%tokens [batch, seq] i32, %mask [batch, seq] u8, %inputs [batch, target] i32) {
  %logits = model.call @t5 (%tokens, %mask, %inputs)
  weft.output "logits" %logits
}
