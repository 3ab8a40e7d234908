// Mixtral whose experts take `capacity` tokens of a sequence at most: those that come too late are dropped.
model.import "mixtral.mlir"

// 1.25 times the tokens that an expert has in the mean, as GShard; `seq` drops none.
model.config @capacity = 5 * seq * chosen floordiv 4 floordiv experts

model.layer override @mixture(%x) {
  %0, %ids, %probabilities, %logits = model.call @gated_mixture (%x) [hidden, inner, experts, chosen, capacity]
  model.return %0, %ids, %probabilities, %logits
}
