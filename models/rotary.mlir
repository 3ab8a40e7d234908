// Layers of decoders after Llama: no biases, RMS norms, rotary positions, gated MLPs. Parameters have the names and the
// shapes of Hugging Face's LlamaForCausalLM, whose matrices are [out, in]. Where a file speaks of `batch` and `seq`, those
// of the model file that imports it are meant.

// x w^T over the last dimension of x[b, s, in]. Split over `tensor`: S(0) by columns of the result, S(1) by rows.
model.layer @projection(%x) [in, out, split = B, std = 0.02] {
  %w = weft.parameter "weight" [out, in] init(normal std) sbp(tensor = split)
  %y = weft.einsum "bsi,oi->bso" %x, %w
  model.return %y
}

// Queries, keys or values [b, s, heads, head_dim], split by heads. With `group` B each head of fewer than there are ranks of
// `tensor` is on several ranks.
model.layer @heads_of(%x) [hidden, heads, head_dim, std = 0.02, group = S(0)] {
  %w = weft.parameter "weight" [heads, head_dim, hidden] stored [heads * head_dim, hidden]
         init(normal std) sbp(tensor = S(0), group = group)
  %y = weft.einsum "bsi,ndi->bsnd" %x, %w
  model.return %y
}

// Joins the heads again, which sums over the ranks they are split over.
model.layer @output_of_heads(%x) [hidden, heads, head_dim, std = 0.02] {
  %w = weft.parameter "weight" [hidden, heads, head_dim] stored [hidden, heads * head_dim]
         init(normal std) sbp(tensor = S(1))
  %y = weft.einsum "bsnd,ond->bso" %x, %w
  model.return %y
}

// Causal attention with rotary positions and `kv_heads` heads of keys and values (grouped queries where they are fewer
// than `heads`). `factor`, `low`, `high` and `original` stretch the positions, as Llama 3.1 does; a factor of 1 does not.
model.layer @rotary_attention(%x) [hidden, heads, kv_heads, head_dim, theta, factor = 1.0, low = 1.0, high = 4.0,
                                   original = 8192] {
  %q = model.call @heads_of "q_proj" (%x) [hidden, heads, head_dim]
  %k = model.call @heads_of "k_proj" (%x) [hidden, kv_heads, head_dim, 0.02, B]
  %v = model.call @heads_of "v_proj" (%x) [hidden, kv_heads, head_dim, 0.02, B]
  %0 = weft.rope %q theta(theta) factor(factor) low(low) high(high) original(original)
  %1 = weft.rope %k theta(theta) factor(factor) low(low) high(high) original(original)
  %2 = weft.attention %0, %1, %v causal
  %3 = model.call @output_of_heads "o_proj" (%2) [hidden, heads, head_dim]
  model.return %3
}

// The same for sequences that hold several documents: `positions[b, s]` begin anew in each, and no position sees what
// %mask says.
model.layer @packed_rotary_attention(%x, %positions, %mask) [hidden, heads, kv_heads, head_dim, theta, factor = 1.0,
                                                             low = 1.0, high = 4.0, original = 8192] {
  %q = model.call @heads_of "q_proj" (%x) [hidden, heads, head_dim]
  %k = model.call @heads_of "k_proj" (%x) [hidden, kv_heads, head_dim]
  %v = model.call @heads_of "v_proj" (%x) [hidden, kv_heads, head_dim]
  %0 = weft.rope %q at(%positions) theta(theta) factor(factor) low(low) high(high) original(original)
  %1 = weft.rope %k at(%positions) theta(theta) factor(factor) low(low) high(high) original(original)
  %2 = weft.attention %0, %1, %v mask(%mask) causal
  %3 = model.call @output_of_heads "o_proj" (%2) [hidden, heads, head_dim]
  model.return %3
}

// down(silu(gate(x)) * up(x)) (Shazeer, "GLU variants improve transformer", 2020).
model.layer @gated_mlp(%x) [hidden, inner] {
  %0 = model.call @projection "gate_proj" (%x) [hidden, inner, S(0)]
  %1 = weft.silu %0
  %2 = model.call @projection "up_proj" (%x) [hidden, inner, S(0)]
  %3 = weft.mul %1, %2
  %4 = model.call @projection "down_proj" (%3) [inner, hidden, S(1)]
  model.return %4
}

// Logits over a vocabulary, split by it: a head with a table of its own.
model.layer @head(%x) [hidden, vocab, std = 0.02] {
  %w = weft.parameter "weight" [vocab, hidden] init(normal std) sbp(tensor = S(0))
  %y = weft.einsum "bsh,vh->bsv" %x, %w
  model.return %y
}
