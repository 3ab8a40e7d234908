// Layers of encoders after BERT: matrices are [out, in] with biases, as nn.Linear's in Hugging Face's checkpoints.

// x w^T + b over the last dimension of x[b, s, in]. Split over `tensor`: S(0), S(0) by columns of the result, S(1), B by
// rows.
model.layer @dense(%x) [in, out, split = B, bias_split = B, std = 0.02] {
  %w = weft.parameter "weight" [out, in] init(normal std) sbp(tensor = split)
  %b = weft.parameter "bias"   [out]     init(zeros)      sbp(tensor = bias_split)
  %0 = weft.einsum "bsi,oi->bso" %x, %w
  %1 = weft.add %0, %b
  model.return %1
}

// Queries, keys or values [b, s, heads, hidden / heads], split by heads.
model.layer @dense_heads(%x) [hidden, heads, std = 0.02] {
  %w = weft.parameter "weight" [heads, hidden floordiv heads, hidden] stored [hidden, hidden]
         init(normal std) sbp(tensor = S(0))
  %b = weft.parameter "bias" [heads, hidden floordiv heads] stored [hidden] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,ndi->bsnd" %x, %w
  %1 = weft.add %0, %b
  model.return %1
}

// Every position sees every other: what the heads give, [b, s, heads, hidden / heads].
model.layer @self_attention(%x) [hidden, heads, std = 0.02] {
  %q = model.call @dense_heads "query" (%x) [hidden, heads, std]
  %k = model.call @dense_heads "key" (%x) [hidden, heads, std]
  %v = model.call @dense_heads "value" (%x) [hidden, heads, std]
  %0 = weft.attention %q, %k, %v
  model.return %0
}

// Joins the heads again, which sums over the ranks they are split over.
model.layer @dense_of_heads(%x) [hidden, heads, std = 0.02] {
  %w = weft.parameter "weight" [hidden, heads, hidden floordiv heads] stored [hidden, hidden]
         init(normal std) sbp(tensor = S(1))
  %b = weft.parameter "bias" [hidden] init(zeros)
  %0 = weft.einsum "bsnd,ond->bso" %x, %w
  %1 = weft.add %0, %b
  model.return %1
}
