// Layers that models share. Parameters have the names, and in checkpoint files the shapes, of Hugging Face's GPT-2
// where it has them. Where a file speaks of `batch` and `seq`, those of the model file that imports it are meant.

// x w + b over the last dimension of x[b, s, in]. Split over `tensor`: S(1), S(0) by columns, S(0), B by rows.
model.layer @linear(%x) [in, out, split = B, bias_split = B, std = 0.02] {
  %w = weft.parameter "weight" [in, out] init(normal std) sbp(tensor = split)
  %b = weft.parameter "bias"   [out]     init(zeros)      sbp(tensor = bias_split)
  %y = weft.einsum "bsi,io->bso" %x, %w
  %z = weft.add %y, %b
  model.return %z
}

model.layer @layer_norm(%x) [hidden, eps = 1.0e-5] {
  %w = weft.parameter "weight" [hidden] init(ones)
  %b = weft.parameter "bias"   [hidden] init(zeros)
  %y = weft.layer_norm %x, %w, %b eps(eps)
  model.return %y
}

model.layer @rms_norm(%x) [hidden, eps = 1.0e-6] {
  %w = weft.parameter "weight" [hidden] init(ones)
  %y = weft.rms_norm %x, %w eps(eps)
  model.return %y
}

// Rows of a table that is split by rows, the vocabulary. Yields the table too, for a head that is tied to it.
model.layer @embedding(%ids) [vocab, hidden, std = 0.02] {
  %w = weft.parameter "weight" [vocab, hidden] init(normal std) sbp(tensor = S(0))
  %y = weft.embedding %ids, %w
  model.return %y, %w
}

// Logits over a vocabulary from a table[vocab, hidden]; they stay split by vocabulary.
model.layer @tied_head(%x, %table) {
  %y = weft.einsum "bsh,vh->bsv" %x, %table
  model.return %y
}

// Two linear layers, the first split by columns and the second by rows: no communication between them. `std` is
// that of the second: what is added to the residual stream starts smaller the more layers add to it.
model.layer @mlp(%x) [hidden, inner, std = 0.02] {
  %0 = model.call @linear "c_fc" (%x) [hidden, inner, S(1), S(0)]
  %1 = weft.gelu %0 approximate(tanh)
  %2 = model.call @linear "c_proj" (%1) [inner, hidden, S(0), B, std]
  model.return %2
}

// Query, key and value of every head, [b, s, heads, head_dim] each, split by heads. One matrix, as stored:
// [hidden, 3 * hidden], the columns of the queries first.
model.layer @query_key_value(%x) [hidden, heads] {
  %w = weft.parameter "weight" [hidden, 3, heads, hidden floordiv heads] stored [hidden, 3 * hidden]
         init(normal 0.02) sbp(tensor = S(2))
  %b = weft.parameter "bias" [3, heads, hidden floordiv heads] stored [3 * hidden]
         init(zeros) sbp(tensor = S(1))
  %0 = weft.einsum "bsi,icnd->bscnd" %x, %w
  %1 = weft.add %0, %b
  %q = model.call @part_of_three (%1) [0, heads, hidden floordiv heads]
  %k = model.call @part_of_three (%1) [1, heads, hidden floordiv heads]
  %v = model.call @part_of_three (%1) [2, heads, hidden floordiv heads]
  model.return %q, %k, %v
}

model.layer @part_of_three(%x) [index, heads, head_dim] {
  %0 = weft.slice %x dim(2) from(index) size(1)
  %1 = weft.reshape %0 [batch, seq, heads, head_dim]
  model.return %1
}

// Joins the heads again, which sums over the ranks they are split over. Stored as [hidden, hidden].
model.layer @join_heads(%x) [hidden, heads, std] {
  %w = weft.parameter "weight" [heads, hidden floordiv heads, hidden] stored [hidden, hidden]
         init(normal std) sbp(tensor = S(0))
  %b = weft.parameter "bias" [hidden] init(zeros)
  %0 = weft.einsum "bsnd,ndo->bso" %x, %w
  %1 = weft.add %0, %b
  model.return %1
}

// Every position sees itself and those before it. `std` is that of the last matrix, as in @mlp.
model.layer @causal_attention(%x) [hidden, heads, std = 0.02] {
  %q, %k, %v = model.call @query_key_value "c_attn" (%x) [hidden, heads]
  %0 = weft.attention %q, %k, %v causal
  %1 = model.call @join_heads "c_proj" (%0) [hidden, heads, std]
  model.return %1
}
