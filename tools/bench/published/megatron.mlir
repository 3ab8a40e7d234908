// GPT as Megatron-LM trained it in 2021 (Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters
// Using Megatron-LM"): that of models/gpt2, with attention that stores its weights.
model.import "../../../models/layers.mlir"

model.config @layers = 24      model.config @hidden    = 2304
model.config @heads  = 24      model.config @vocab     = 51200
model.config @seq    = 2048    model.config @positions = 2048
model.config @dropout = 0.1
model.config @residual_std = 0.02 * rsqrt(2 * layers)

model.layer @stored_attention(%x) [hidden, heads, std] {
  %q, %k, %v = model.call @query_key_value "c_attn" (%x) [hidden, heads]
  %0 = weft.attention %q, %k, %v causal unfused
  %1 = model.call @join_heads "c_proj" (%0) [hidden, heads, std]
  model.return %1
}

model.layer @block(%x) [rate] {
  %0 = model.call @layer_norm "ln_1" (%x) [hidden]
  %1 = model.call @stored_attention "attn" (%0) [hidden, heads, residual_std]
  %2 = weft.dropout %1 rate(rate)
  %3 = weft.add %x, %2
  %4 = model.call @layer_norm "ln_2" (%3) [hidden]
  %5 = model.call @mlp "mlp" (%4) [hidden, 4 * hidden, residual_std]
  %6 = weft.dropout %5 rate(rate)
  %7 = weft.add %3, %6
  model.return %7
}

model.graph @train(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %0, %table = model.call @embedding "wte" (%tokens) [vocab, hidden]
  %wpe = weft.parameter "wpe.weight" [positions, hidden] init(normal 0.02)
  %1 = weft.slice %wpe dim(0) from(0) size(seq)
  %2 = weft.add %0, %1
  %3 = weft.dropout %2 rate(dropout)
  %4 = model.repeat layers "h" @block(%3) [dropout]
  %5 = model.call @layer_norm "ln_f" (%4) [hidden]
  %logits = model.call @tied_head (%5, %table)
  %loss, %count = weft.cross_entropy %logits, %labels
  weft.minimize %loss per %count
}
