// GPT-2: pre-norm blocks, learned positions, GELU by tanh, a head tied to the token table. Parameters have the names
// and, in checkpoint files, the shapes of Hugging Face's GPT-2 without its prefix `transformer.`.
model.import "../layers.mlir"

model.config @layers = 12      model.config @hidden    = 768
model.config @heads  = 12      model.config @vocab     = 50304
model.config @seq    = 1024    model.config @positions = 1024
model.config @dropout = 0.1
// What 2 * layers branches add to the residual stream has the variance of one embedding.
model.config @residual_std = 0.02 * rsqrt(2 * layers)

// A block from what its attention gives.
model.layer @behind_attention(%x, %attention) [rate] {
  %0 = weft.dropout %attention rate(rate)
  %1 = weft.add %x, %0
  %2 = model.call @layer_norm "ln_2" (%1) [hidden]
  %3 = model.call @mlp "mlp" (%2) [hidden, 4 * hidden, residual_std]
  %4 = weft.dropout %3 rate(rate)
  %5 = weft.add %1, %4
  model.return %5
}

model.layer @block(%x) [rate] {
  %0 = model.call @layer_norm "ln_1" (%x) [hidden]
  %1 = model.call @causal_attention "attn" (%0) [hidden, heads, residual_std]
  %2 = model.call @behind_attention (%x, %1) [rate]
  model.return %2
}

// From tokens[batch, seq] to logits[batch, seq, vocab]; `rate` is that of every dropout.
model.layer @gpt2(%tokens) [rate] {
  %0, %table = model.call @embedding "wte" (%tokens) [vocab, hidden]
  %wpe = weft.parameter "wpe.weight" [positions, hidden] init(normal 0.02)
  %1 = weft.slice %wpe dim(0) from(0) size(seq)
  %2 = weft.add %0, %1
  %3 = weft.dropout %2 rate(rate)
  %4 = model.repeat layers "h" @block(%3) [rate]
  %5 = model.call @layer_norm "ln_f" (%4) [hidden]
  %6 = model.call @tied_head (%5, %table)
  model.return %6
}

// Next-token prediction. Labels of -100 do not count.
model.graph @train(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %logits = model.call @gpt2 (%tokens) [dropout]
  %loss, %count = weft.cross_entropy %logits, %labels
  weft.minimize %loss per %count
}

// Of each sequence the mean loss of its tokens.
model.graph @evaluate(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %logits = model.call @gpt2 (%tokens) [0.0]
  %losses = model.call @cross_entropies (%logits, %labels) [2]
  %0 = weft.reduce mean %losses over [1]
  weft.output "loss" %0
}

model.graph @logits(%tokens [batch, seq] i32) {
  %logits = model.call @gpt2 (%tokens) [0.0]
  weft.output "logits" %logits
}

model.layer @packed_block(%x, %mask) [rate] {
  %0 = model.call @layer_norm "ln_1" (%x) [hidden]
  %1 = model.call @masked_causal_attention "attn" (%0, %mask) [hidden, heads, residual_std]
  %2 = model.call @behind_attention (%x, %1) [rate]
  model.return %2
}

// As @gpt2, of sequences that hold several documents: each token sees its own, and has its position in it.
model.layer @packed_gpt2(%tokens, %documents, %positions_of) [rate] {
  %0, %table = model.call @embedding "wte" (%tokens) [vocab, hidden]
  %wpe = weft.parameter "wpe.weight" [positions, hidden] init(normal 0.02)
  %1 = weft.embedding %positions_of, %wpe
  %2 = weft.add %0, %1
  %3 = weft.dropout %2 rate(rate)
  %mask = model.call @same_document (%documents)
  %4 = model.repeat layers "h" @packed_block(%3, %mask) [rate]
  %5 = model.call @layer_norm "ln_f" (%4) [hidden]
  %6 = model.call @tied_head (%5, %table)
  model.return %6
}

// As @train, where documents are kept apart: the losses are those of each document alone.
model.graph @train_packed(%tokens [batch, seq] i32, %labels [batch, seq] i32, %documents [batch, seq] i32,
                          %positions [batch, seq] i32, %loss_mask [batch, seq] f32) {
  %logits = model.call @packed_gpt2 (%tokens, %documents, %positions) [dropout]
  %loss, %count = weft.cross_entropy %logits, %labels weights(%loss_mask)
  weft.minimize %loss per %count
}
