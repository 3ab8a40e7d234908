// Mixtral (Jiang et al., "Mixtral of experts", 2024): Llama's decoder with a mixture of experts in each block. Parameters have
// the names and, in checkpoint files, the shapes of Hugging Face's MixtralForCausalLM. The defaults are those of Mixtral
// 8x7B.
model.import "../layers.mlir"
model.import "../rotary.mlir"
model.import "../experts.mlir"

model.config @layers = 32       model.config @hidden = 4096     model.config @inner = 14336
model.config @heads = 32        model.config @kv_heads = 8      model.config @head_dim = hidden floordiv heads
model.config @vocab = 32000     model.config @seq = 4096
model.config @norm_eps = 1.0e-5  model.config @theta = 1000000.0
model.config @experts = 8       model.config @chosen = 2
// What the auxiliary losses weigh.
model.config @balance_weight = 0.02
model.config @router_z_weight = 0.0

// No token is dropped; capacity.mlir has the other form.
model.layer @mixture(%x) {
  %0, %ids, %probabilities, %logits = model.call @dropless_mixture (%x) [hidden, inner, experts, chosen]
  model.return %0, %ids, %probabilities, %logits
}

model.layer @block(%x, %load, %probability, %z) {
  %0 = model.call @rms_norm "input_layernorm" (%x) [hidden, norm_eps]
  %1 = model.call @rotary_attention "self_attn" (%0) [hidden, heads, kv_heads, head_dim, theta]
  %2 = weft.add %x, %1
  %3 = model.call @rms_norm "post_attention_layernorm" (%2) [hidden, norm_eps]
  %4, %ids, %probabilities, %logits = model.call @mixture "block_sparse_moe" (%3)
  %5 = weft.add %2, %4
  %6, %7, %8 = model.call @router_sums (%ids, %probabilities, %logits) [experts, chosen]
  %9 = weft.add %load, %6
  %10 = weft.add %probability, %7
  %11 = weft.add %z, %8
  model.return %5, %9, %10, %11
}

// From tokens[batch, seq] to what the head reads; load and probability of each expert, and the router's z-loss, in the
// mean over the layers.
model.layer @body(%tokens) {
  %0, %table = model.call @embedding "embed_tokens" (%tokens) [vocab, hidden]
  %none = weft.fill [experts] value(0)
  %no_z = weft.fill [] value(0)
  %1, %load, %probability, %z = model.repeat layers "layers" @block(%0, %none, %none, %no_z)
  %2 = model.call @rms_norm "norm" (%1) [hidden, norm_eps]
  %3, %4, %5 = model.call @router_means (%load, %probability, %z) [chosen]
  model.return %2, %3, %4, %5
}

model.layer @mixtral(%tokens) {
  %0, %load, %probability, %z = model.call @body "model" (%tokens)
  %1 = model.call @head "lm_head" (%0) [hidden, vocab]
  model.return %1, %load, %probability, %z
}

// Next-token prediction with the router's auxiliary losses. Labels of -100 do not count.
model.graph @train(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %logits, %load, %probability, %z = model.call @mixtral (%tokens)
  %cross_entropy, %count = weft.cross_entropy %logits, %labels
  %balance = model.call @balance (%load, %probability) [experts]
  weft.output "balance" metric %balance
  weft.output "router_z" metric %z
  %0 = weft.scale %balance by(balance_weight)
  %1 = weft.scale %z by(router_z_weight)
  %2 = weft.add %0, %1
  %3 = weft.mul %2, %count
  %loss = weft.add %cross_entropy, %3
  weft.minimize %loss per %count
}

model.graph @logits(%tokens [batch, seq] i32) {
  %logits, %load, %probability, %z = model.call @mixtral (%tokens)
  weft.output "logits" %logits
}
