// Layers of mixtures of experts: a router chooses experts for every token, and the token sees their feed-forward layers
// alone (Shazeer et al., "Outrageously large neural networks", 2017). Where a file speaks of `batch` and `seq`, those of the
// model file that imports it are meant.
//
// There are two forms, with the same parameters. In both tokens are grouped by sequence, so that shapes are static and
// results do not depend on how a batch is cut.
//
// @dropless_mixture sorts the choices of a sequence by expert and multiplies each group of rows by its expert's matrices
// (Gale et al., "MegaBlocks", 2022): nothing is dropped, and seq * chosen rows are computed, however they fall. `expert`
// splits the experts' inner size, so that all its ranks compute alike, whatever the router chooses; they see the tokens of
// all of them, by a gather, and add up what comes of it, by a reduce-scatter.
//
// @gated_mixture gives an expert `capacity` tokens of a sequence at most, as GShard (Lepikhin et al., 2021); a token that
// comes too late is left out there: the residual connection is what remains of it. A capacity of `seq` drops nothing, as
// the experts of a token differ: each expert then computes seq rows for the seq * chosen / experts that it has on average.
// `expert` splits the experts, and the batch before and behind them: tokens go to their experts and come back by an
// all-to-all, which sends less than a gather where `expert` has many ranks.

// Which experts each token goes to. From x[b, s, hidden]: gates[b, s, chosen], the probabilities of the chosen experts,
// divided by their sum; ids[b, s, chosen], largest first; probabilities and logits[b, s, experts].
model.layer @router(%x) [hidden, experts, chosen, std = 0.02] {
  %w = weft.parameter "weight" [experts, hidden] init(normal std)
  %logits = weft.einsum "bsh,eh->bse" %x, %w
  %probabilities = weft.softmax %logits
  %top, %ids = weft.top_k %probabilities k(chosen) dim(2)
  %sum = weft.reduce sum %top over [2] keep_dims
  %gates = weft.div %top, %sum
  model.return %gates, %ids, %probabilities, %logits
}

// Which of the experts * capacity slots of its sequence each choice has, i32[b, s, chosen]: all first choices come before
// second ones, and early tokens before late ones (GShard, algorithm 1). `fits`, i32, is 0 where the expert has no slot left;
// the slot is then 0. And the token of each slot, i32[b, experts, capacity]; 0 where a slot is empty, which nothing reads.
model.layer @slots(%ids) [experts, chosen, capacity] {
  %0 = weft.transpose %ids [0, 2, 1]
  %choices = weft.reshape %0 [batch, chosen * seq]
  %1 = weft.reshape %0 [batch, chosen * seq, 1]
  %2 = weft.iota [experts] dim(0)
  %3 = weft.equal %1, %2 as_number
  %4 = weft.cumsum %3 dim(1) exclusive
  %place = weft.take %4, %choices dim(2) batch(2)
  %most = weft.fill [1] value(capacity) to i32
  %fits = weft.less %place, %most as_number
  %5 = weft.mul %choices, %most
  %6 = weft.add %5, %place
  %slots = weft.mul %6, %fits

  %7 = weft.iota [chosen, seq] dim(1)
  %8 = weft.reshape %7 [chosen * seq]
  %9 = weft.mul %8, %fits
  %10 = weft.scatter_add %9, %slots dim(1) size(experts * capacity) batch(1)
  %tokens = weft.reshape %10 [batch, experts, capacity]

  %11 = model.call @by_token (%slots) [chosen]
  %12 = model.call @by_token (%fits) [chosen]
  model.return %11, %12, %tokens
}

// [b, chosen * s], all first choices first, as [b, s, chosen].
model.layer @by_token(%x) [chosen] {
  %0 = weft.reshape %x [batch, chosen, seq]
  %1 = weft.transpose %0 [0, 2, 1]
  model.return %1
}

// A gated MLP an expert, on x[b, experts, capacity, hidden]: w2(silu(w1(x)) * w3(x)), matrices as [out, in]. In checkpoint
// files each expert has its own, 0.w1.weight and so on, as in Hugging Face's MixtralForCausalLM.
model.layer @gated_experts(%x) [experts, hidden, inner, std = 0.02] {
  %w1 = weft.parameter "*.w1.weight" [experts, inner, hidden] init(normal std) sbp(expert = S(0), tensor = S(1))
  %w2 = weft.parameter "*.w2.weight" [experts, hidden, inner] init(normal std) sbp(expert = S(0), tensor = S(2))
  %w3 = weft.parameter "*.w3.weight" [experts, inner, hidden] init(normal std) sbp(expert = S(0), tensor = S(1))
  %0 = weft.einsum "bech,efh->becf" %x, %w1
  %1 = weft.silu %0
  %2 = weft.einsum "bech,efh->becf" %x, %w3
  %3 = weft.mul %1, %2
  %4 = weft.einsum "becf,ehf->bech" %3, %w2
  model.return %4
}

// The sum of the chosen experts' results, each times its gate. Yields too what the router said: ids[b, s, chosen],
// probabilities and logits[b, s, experts], for the losses below.
model.layer @gated_mixture(%x) [hidden, inner, experts, chosen, capacity] {
  %gates, %ids, %probabilities, %logits = model.call @router "gate" (%x) [hidden, experts, chosen]
  %slots, %fits, %tokens = model.call @slots (%ids) [experts, chosen, capacity]
  %0 = weft.take %x, %tokens dim(1) batch(1)
  %1 = model.call @gated_experts "experts" (%0) [experts, hidden, inner]
  %2 = weft.reshape %1 [batch, experts * capacity, hidden]
  %3 = weft.take %2, %slots dim(1) batch(1)

  %4 = weft.cast %fits to f32
  %5 = weft.mul %gates, %4
  %6 = weft.einsum "bskh,bsk->bsh" %3, %5
  model.return %6, %ids, %probabilities, %logits
}

// The choices ids[b, s, chosen] of each sequence sorted by expert, those of an expert in the order of the tokens. Yields the
// token of each, i32[b, s * chosen], where each choice has gone, i32[b, s, chosen], and how many each expert has, i32[b,
// experts].
model.layer @sorted_choices(%ids) [experts, chosen] {
  %choices = weft.reshape %ids [batch, seq * chosen]
  %0, %order = weft.sort %choices dim(1)
  %1 = weft.iota [seq, chosen] dim(0)
  %2 = weft.reshape %1 [seq * chosen]
  %tokens = weft.take %2, %order dim(0)

  %3 = weft.iota [batch, seq * chosen] dim(1)
  %4 = weft.scatter_add %3, %order dim(1) size(seq * chosen) batch(1)
  %places = weft.reshape %4 [batch, seq, chosen]

  %one = weft.fill [batch, seq * chosen] value(1) to i32
  %counts = weft.scatter_add %one, %choices dim(1) size(experts) batch(1)
  model.return %tokens, %places, %counts
}

// @gated_experts on the rows x[b, n, hidden] of each expert in turn, of which it has counts[b, experts].
model.layer @grouped_experts(%x, %counts) [experts, hidden, inner, std = 0.02] {
  %w1 = weft.parameter "*.w1.weight" [experts, inner, hidden] init(normal std) sbp(expert = S(1), tensor = S(1))
  %w2 = weft.parameter "*.w2.weight" [experts, hidden, inner] init(normal std) sbp(expert = S(2), tensor = S(2))
  %w3 = weft.parameter "*.w3.weight" [experts, inner, hidden] init(normal std) sbp(expert = S(1), tensor = S(1))
  %0 = weft.grouped_matmul %x, %w1, %counts transposed
  %1 = weft.silu %0
  %2 = weft.grouped_matmul %x, %w3, %counts transposed
  %3 = weft.mul %1, %2
  %4 = weft.grouped_matmul %3, %w2, %counts transposed
  model.return %4
}

// What @gated_mixture yields where nothing is dropped.
model.layer @dropless_mixture(%x) [hidden, inner, experts, chosen] {
  %gates, %ids, %probabilities, %logits = model.call @router "gate" (%x) [hidden, experts, chosen]
  %tokens, %places, %counts = model.call @sorted_choices (%ids) [experts, chosen]
  %0 = weft.take %x, %tokens dim(1) batch(1)
  %1 = model.call @grouped_experts "experts" (%0, %counts) [experts, hidden, inner]
  %2 = weft.take %1, %places dim(1) batch(1)
  %3 = weft.einsum "bskh,bsk->bsh" %2, %gates
  model.return %3, %ids, %probabilities, %logits
}

// What the router's losses are made of, summed over the tokens: how many choices each expert has, [experts]; its
// probabilities, [experts]; and what @router_z_of makes of the logits.
model.layer @router_sums(%ids, %probabilities, %logits) [experts, chosen] {
  %0 = weft.reshape %ids [batch, seq, chosen, 1]
  %1 = weft.iota [experts] dim(0)
  %2 = weft.equal %0, %1 as_number
  %3 = weft.cast %2 to f32
  %4 = weft.reduce sum %3 over [0, 1, 2]
  %5 = weft.reduce sum %probabilities over [0, 1] to f32
  %6 = model.call @router_z_of (%logits)
  %7 = weft.reduce sum %6 over [0, 1, 2] to f32
  model.return %4, %5, %7
}

// Means over the tokens, of such sums of one layer or of several: the load of each expert, how many of its choices a token
// gives it; its probability; the router's z-loss. Tokens are counted by their choices, so that a last micro-batch of fewer
// samples has its own number of them.
model.layer @router_means(%load, %probability, %z) [chosen] {
  %0 = weft.reduce sum %load over [0]
  %tokens = weft.scale %0 by("1.0 / chosen")
  %1 = weft.div %load, %tokens
  %2 = weft.div %probability, %tokens
  %3 = weft.div %z, %tokens
  model.return %1, %2, %3
}

// Load balancing loss (Fedus et al., "Switch transformers", 2022, equation 4): experts times the sum over the experts of
// load and mean probability. It is `chosen` where all experts have the same of both. A product of means over all tokens: of
// a batch in micro-batches it is the mean of theirs, another number than that of the whole.
model.layer @balance(%load, %probability) [experts] {
  %0 = weft.mul %load, %probability
  %1 = weft.reduce sum %0 over [0]
  %2 = weft.scale %1 by(experts)
  model.return %2
}

// Router z-loss (Zoph et al., "ST-MoE", 2022, equation 5) of each token, [b, s, 1]: the squared logarithm of the sum of
// e^logit, which keeps logits small.
model.layer @router_z_of(%logits) {
  %0 = weft.reduce max %logits over [2] keep_dims
  %1 = weft.stop_gradient %0
  %2 = weft.sub %logits, %1
  %3 = weft.exp %2
  %4 = weft.reduce sum %3 over [2] keep_dims
  %5 = weft.log %4
  %6 = weft.add %5, %1
  %7 = weft.square %6
  model.return %7
}
