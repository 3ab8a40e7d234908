// Llama with low-rank adapters beside its queries and values, as peft's default for it. A job freezes the others
// (models/llama/tiny_lora.job).
model.import "llama.mlir"
model.import "../lora.mlir"

model.config @lora_rank = 8     model.config @lora_scale = 2.0

model.layer @adapted_heads_of(%x) [hidden, heads, head_dim, group = S(0)] {
  %0 = model.call @heads_of (%x) [hidden, heads, head_dim, 0.02, group]
  %1 = model.call @lora (%x) [hidden, heads * head_dim, lora_rank, lora_scale, S(0)]
  %2 = weft.reshape %1 [batch, seq, heads, head_dim]
  %3 = weft.add %0, %2
  model.return %3
}

model.layer override @rotary_attention(%x) [hidden, heads, kv_heads, head_dim, theta, factor = 1.0, low = 1.0, high = 4.0,
                                            original = 8192] {
  %q = model.call @adapted_heads_of "q_proj" (%x) [hidden, heads, head_dim]
  %k = model.call @heads_of "k_proj" (%x) [hidden, kv_heads, head_dim, 0.02, B]
  %v = model.call @adapted_heads_of "v_proj" (%x) [hidden, kv_heads, head_dim, B]
  %0 = weft.rope %q theta(theta) factor(factor) low(low) high(high) original(original)
  %1 = weft.rope %k theta(theta) factor(factor) low(low) high(high) original(original)
  %2 = weft.attention %0, %1, %v causal
  %3 = model.call @output_of_heads "o_proj" (%2) [hidden, heads, head_dim]
  model.return %3
}
