// Low-rank adapters (Hu et al., "LoRA: low-rank adaptation of large language models", 2021) of matrices that a job
// freezes. Parameters have the names and, in checkpoint files, the shapes of Hugging Face's peft, and begin as there: what is
// added to the frozen product is 0 at first. `scale` is alpha / rank.

// x A^T, of which the adapter's second matrix makes as many columns as there are.
model.layer @lora_in(%x) [in, rank] {
  %w = weft.parameter "weight" [rank, in] init(uniform "-rsqrt(in)" rsqrt(in))
  %y = weft.einsum "bsi,ri->bsr" %x, %w
  model.return %y
}

// scale x A^T B^T over the last dimension of x[b, s, in]. `split` is how B lies over `tensor`: S(0) by columns of the
// result, as the frozen matrix that it is added to.
model.layer @lora(%x) [in, out, rank, scale, split = B] {
  %0 = model.call @lora_in "lora_A" (%x) [in, rank]
  %1 = model.call @lora_out "lora_B" (%0) [rank, out, split]
  %2 = weft.scale %1 by(scale)
  model.return %2
}

model.layer @lora_out(%x) [rank, out, split] {
  %w = weft.parameter "weight" [out, rank] init(zeros) sbp(tensor = split)
  %y = weft.einsum "bsr,or->bso" %x, %w
  model.return %y
}
