// T5 1.1 (https://github.com/google-research/text-to-text-transfer-transformer, "t511"; Shazeer, "GLU variants improve
// transformer", 2020): gated layers in place of ReLUs, and a head of its own. Names and shapes are those of Hugging Face's
// T5ForConditionalGeneration, and everything else is T5's.
model.import "t5.mlir"

// wo(gelu(wi_0(x)) * wi_1(x)).
model.layer @dense_gated_dense(%x) {
  %0 = model.call @projection "wi_0" (%x) [hidden, inner, S(0), rsqrt(hidden)]
  %1 = weft.gelu %0 approximate(tanh)
  %2 = model.call @projection "wi_1" (%x) [hidden, inner, S(0), rsqrt(hidden)]
  %3 = weft.mul %1, %2
  %4 = weft.dropout %3 rate(dropout)
  %5 = model.call @projection "wo" (%4) [inner, hidden, S(1), rsqrt(inner)]
  model.return %5
}

model.layer @gated_layer(%x) {
  %0 = model.call @rms_norm "layer_norm" (%x) [hidden, norm_eps]
  %1 = model.call @dense_gated_dense "DenseReluDense" (%0)
  %2 = weft.dropout %1 rate(dropout)
  %3 = weft.add %x, %2
  model.return %3
}

model.layer @gated_encoder_block(%x, %bias, %mask) {
  %0 = model.call @reading_layer "layer.0" (%x, %bias, %mask)
  %1 = model.call @gated_layer "layer.1" (%0)
  model.return %1
}

model.layer @gated_decoder_block(%x, %read, %bias, %mask) {
  %0 = model.call @writing_layer "layer.0" (%x, %bias)
  %1 = model.call @cross_layer "layer.1" (%0, %read, %mask)
  %2 = model.call @gated_layer "layer.2" (%1)
  model.return %2
}

model.layer @gated_encoder(%x, %mask) {
  %bucket = model.call @buckets_both_ways () [seq, seq]
  %bias = model.call @relative_bias (%bucket) [seq, seq]
  %0 = model.repeat layers "block" @gated_encoder_block(%x, %bias, %mask)
  %1 = model.call @rms_norm "final_layer_norm" (%0) [hidden, norm_eps]
  %2 = weft.dropout %1 rate(dropout)
  model.return %2
}

model.layer @gated_decoder(%x, %read, %mask) {
  %bucket = model.call @buckets_back () [target, target]
  %bias = model.call @relative_bias (%bucket) [target, target]
  %0 = model.repeat decoder_layers "block" @gated_decoder_block(%x, %read, %bias, %mask)
  %1 = model.call @rms_norm "final_layer_norm" (%0) [hidden, norm_eps]
  %2 = weft.dropout %1 rate(dropout)
  model.return %2
}

model.layer @t5_1_1(%tokens, %seen, %inputs) {
  %0, %table = model.call @embedding "shared" (%tokens) [vocab, hidden, 1.0]
  %mask = weft.reshape %seen [batch, 1, 1, seq]
  %1 = weft.dropout %0 rate(dropout)
  %read = model.call @gated_encoder "encoder" (%1, %mask)
  %2 = weft.embedding %inputs, %table
  %3 = weft.dropout %2 rate(dropout)
  %4 = model.call @gated_decoder "decoder" (%3, %read, %mask)
  %5 = model.call @head "lm_head" (%4) [hidden, vocab, rsqrt(hidden)]
  model.return %5
}

model.graph @train_1_1(%tokens [batch, seq] i32, %mask [batch, seq] u8, %labels [batch, target] i32) {
  %inputs = model.call @shifted (%labels)
  %logits = model.call @t5_1_1 (%tokens, %mask, %inputs)
  %loss, %count = weft.cross_entropy %logits, %labels
  weft.minimize %loss per %count
}

model.graph @logits_1_1(%tokens [batch, seq] i32, %mask [batch, seq] u8, %inputs [batch, target] i32) {
  %logits = model.call @t5_1_1 (%tokens, %mask, %inputs)
  weft.output "logits" %logits
}
