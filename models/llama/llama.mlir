// Llama 2 and 3 (Touvron et al., 2023; Llama Team, "The Llama 3 herd of models", 2024). Parameters have the names and, in
// checkpoint files, the shapes of Hugging Face's LlamaForCausalLM. The defaults are those of Llama 3.1 8B.
model.import "../layers.mlir"
model.import "../rotary.mlir"

model.config @layers = 32       model.config @hidden = 4096     model.config @inner = 14336
model.config @heads = 32        model.config @kv_heads = 8      model.config @head_dim = hidden floordiv heads
model.config @vocab = 128256    model.config @seq = 8192
model.config @norm_eps = 1.0e-5
// Rotary positions: their base, and how Llama 3.1 stretches them. Llama 2 has a base of 10000 and a factor of 1.
model.config @theta = 500000.0  model.config @rope_factor = 8.0
model.config @rope_low = 1.0    model.config @rope_high = 4.0   model.config @rope_original = 8192

// A block from what its attention gives.
model.layer @behind_attention(%x, %attention) {
  %0 = weft.add %x, %attention
  %1 = model.call @rms_norm "post_attention_layernorm" (%0) [hidden, norm_eps]
  %2 = model.call @gated_mlp "mlp" (%1) [hidden, inner]
  %3 = weft.add %0, %2
  model.return %3
}

model.layer @block(%x) {
  %0 = model.call @rms_norm "input_layernorm" (%x) [hidden, norm_eps]
  %1 = model.call @rotary_attention "self_attn" (%0) [hidden, heads, kv_heads, head_dim, theta, rope_factor, rope_low,
                                                      rope_high, rope_original]
  %2 = model.call @behind_attention (%x, %1)
  model.return %2
}

// From tokens[batch, seq] to what the head reads.
model.layer @body(%tokens) {
  %0, %table = model.call @embedding "embed_tokens" (%tokens) [vocab, hidden]
  %1 = model.repeat layers "layers" @block(%0)
  %2 = model.call @rms_norm "norm" (%1) [hidden, norm_eps]
  model.return %2
}

model.layer @llama(%tokens) {
  %0 = model.call @body "model" (%tokens)
  %1 = model.call @head "lm_head" (%0) [hidden, vocab]
  model.return %1
}

// Next-token prediction. Labels of -100 do not count.
model.graph @train(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %logits = model.call @llama (%tokens)
  %loss, %count = weft.cross_entropy %logits, %labels
  weft.minimize %loss per %count
}

model.graph @logits(%tokens [batch, seq] i32) {
  %logits = model.call @llama (%tokens)
  weft.output "logits" %logits
}

model.layer @packed_block(%x, %positions, %mask) {
  %0 = model.call @rms_norm "input_layernorm" (%x) [hidden, norm_eps]
  %1 = model.call @packed_rotary_attention "self_attn" (%0, %positions, %mask)
         [hidden, heads, kv_heads, head_dim, theta, rope_factor, rope_low, rope_high, rope_original]
  %2 = model.call @behind_attention (%x, %1)
  model.return %2
}

// As @body, of sequences that hold several documents: each token sees its own, and has its position in it.
model.layer @packed_body(%tokens, %documents, %positions) {
  %0, %table = model.call @embedding "embed_tokens" (%tokens) [vocab, hidden]
  %mask = model.call @same_document (%documents)
  %1 = model.repeat layers "layers" @packed_block(%0, %positions, %mask)
  %2 = model.call @rms_norm "norm" (%1) [hidden, norm_eps]
  model.return %2
}

// As @train, where documents are kept apart: the losses are those of each document alone.
model.graph @train_packed(%tokens [batch, seq] i32, %labels [batch, seq] i32, %documents [batch, seq] i32,
                          %positions [batch, seq] i32, %loss_mask [batch, seq] f32) {
  %0 = model.call @packed_body "model" (%tokens, %documents, %positions)
  %logits = model.call @head "lm_head" (%0) [hidden, vocab]
  %loss, %count = weft.cross_entropy %logits, %labels weights(%loss_mask)
  weft.minimize %loss per %count
}
