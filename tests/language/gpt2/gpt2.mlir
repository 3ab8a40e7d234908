// GPT-2: pre-norm blocks, learned positions, GELU by tanh, a head tied to the token table. Parameters have the names
// and, in checkpoint files, the shapes of Hugging Face's GPT-2 without its prefix `transformer.`.
model.import "../layers.mlir"

model.config @layers = 12      model.config @hidden    = 768
model.config @heads  = 12      model.config @vocab     = 50304
model.config @seq    = 1024    model.config @positions = 1024
model.config @dropout = 0.1
// What 2 * layers branches add to the residual stream has the variance of one embedding.
model.config @residual_std = 0.02 * rsqrt(2 * layers)

model.layer @block(%x) [rate] {
  %0 = model.call @layer_norm "ln_1" (%x) [hidden]
  %1 = model.call @causal_attention "attn" (%0) [hidden, heads, residual_std]
  %2 = weft.dropout %1 rate(rate)
  %3 = weft.add %x, %2
  %4 = model.call @layer_norm "ln_2" (%3) [hidden]
  %5 = model.call @mlp "mlp" (%4) [hidden, 4 * hidden, residual_std]
  %6 = weft.dropout %5 rate(rate)
  %7 = weft.add %3, %6
  model.return %7
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

model.graph @logits(%tokens [batch, seq] i32) {
  %logits = model.call @gpt2 (%tokens) [0.0]
  weft.output "logits" %logits
}
