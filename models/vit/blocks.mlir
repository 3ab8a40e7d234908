// The blocks of ViT, MAE and MoCo: norms first, every place sees every other. Parameters have the names of Hugging Face's
// ViTLayer. Matrices begin with the deviation `std`, those of the MLP with `inner_std`.

model.layer @attention_output(%x) [hidden, heads, rate, std] {
  %0 = model.call @dense_of_heads "dense" (%x) [hidden, heads, std]
  %1 = weft.dropout %0 rate(rate)
  model.return %1
}

model.layer @attention(%x) [hidden, heads, rate, std] {
  %0 = model.call @self_attention "attention" (%x) [hidden, heads, std]
  %1 = model.call @attention_output "output" (%0) [hidden, heads, rate, std]
  model.return %1
}

model.layer @intermediate(%x) [hidden, inner, std] {
  %0 = model.call @dense "dense" (%x) [hidden, inner, S(0), S(0), std]
  %1 = weft.gelu %0 approximate(none)
  model.return %1
}

model.layer @output(%x) [hidden, inner, rate, std] {
  %0 = model.call @dense "dense" (%x) [inner, hidden, S(1), B, std]
  %1 = weft.dropout %0 rate(rate)
  model.return %1
}

model.layer @block(%x) [hidden, heads, inner, eps, rate, std = 0.02, inner_std = 0.02] {
  %0 = model.call @layer_norm "layernorm_before" (%x) [hidden, eps]
  %1 = model.call @attention "attention" (%0) [hidden, heads, rate, std]
  %2 = weft.add %x, %1
  %3 = model.call @layer_norm "layernorm_after" (%2) [hidden, eps]
  %4 = model.call @intermediate "intermediate" (%3) [hidden, inner, inner_std]
  %5 = model.call @output "output" (%4) [hidden, inner, rate, inner_std]
  %6 = weft.add %2, %5
  model.return %6
}
