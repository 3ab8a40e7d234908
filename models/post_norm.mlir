// Layers of encoders that normalise behind each addition, as BERT and RoBERTa do. Parameters have the names of Hugging
// Face's. To be imported with layers.mlir and encoder.mlir.

// A table of places: the first `seq` rows behind `from`.
model.layer @place_embeddings() [rows, from, hidden] {
  %w = weft.parameter "weight" [rows, hidden] init(normal 0.02)
  %0 = weft.slice %w dim(0) from(from) size(seq)
  model.return %0
}

// A table of few rows, which every rank has whole.
model.layer @small_embedding(%ids) [rows, hidden] {
  %w = weft.parameter "weight" [rows, hidden] init(normal 0.02)
  %0 = weft.embedding %ids, %w
  model.return %0
}

// Truth values [batch, 1, 1, seq] of seen[batch, seq]: no row sees what fills a sequence up.
model.layer @mask_of_keys(%seen) {
  %0 = weft.reshape %seen [batch, 1, 1, seq]
  model.return %0
}

model.layer @masked_attention(%x, %mask) [hidden, heads] {
  %q = model.call @dense_heads "query" (%x) [hidden, heads]
  %k = model.call @dense_heads "key" (%x) [hidden, heads]
  %v = model.call @dense_heads "value" (%x) [hidden, heads]
  %0 = weft.attention %q, %k, %v mask(%mask)
  model.return %0
}

// Joins the heads, and normalises what comes of adding %x.
model.layer @add_heads_and_norm(%heads_out, %x) [hidden, heads, dropout, eps] {
  %0 = model.call @dense_of_heads "dense" (%heads_out) [hidden, heads]
  %1 = weft.dropout %0 rate(dropout)
  %2 = weft.add %1, %x
  %3 = model.call @layer_norm "LayerNorm" (%2) [hidden, eps]
  model.return %3
}

model.layer @post_norm_attention(%x, %mask) [hidden, heads, dropout, eps] {
  %0 = model.call @masked_attention "self" (%x, %mask) [hidden, heads]
  %1 = model.call @add_heads_and_norm "output" (%0, %x) [hidden, heads, dropout, eps]
  model.return %1
}

model.layer @widen(%x) [hidden, inner] {
  %0 = model.call @dense "dense" (%x) [hidden, inner, S(0), S(0)]
  %1 = weft.gelu %0 approximate(none)
  model.return %1
}

// The way back from `inner`, and the norm of what comes of adding %x.
model.layer @add_and_norm(%wide, %x) [inner, hidden, dropout, eps] {
  %0 = model.call @dense "dense" (%wide) [inner, hidden, S(1), B]
  %1 = weft.dropout %0 rate(dropout)
  %2 = weft.add %1, %x
  %3 = model.call @layer_norm "LayerNorm" (%2) [hidden, eps]
  model.return %3
}

model.layer @post_norm_block(%x, %mask) [hidden, heads, inner, dropout, eps] {
  %0 = model.call @post_norm_attention "attention" (%x, %mask) [hidden, heads, dropout, eps]
  %1 = model.call @widen "intermediate" (%0) [hidden, inner]
  %2 = model.call @add_and_norm "output" (%1, %0) [inner, hidden, dropout, eps]
  model.return %2
}

model.layer @post_norm_encoder(%x, %mask) [layers, hidden, heads, inner, dropout, eps] {
  %0 = model.repeat layers "layer" @post_norm_block(%x, %mask) [hidden, heads, inner, dropout, eps]
  model.return %0
}
