// BERT (Devlin et al., "BERT: Pre-training of deep bidirectional transformers", 2019) with both its tasks. Parameters have
// the names and, in checkpoint files, the shapes of Hugging Face's BertForPreTraining. The defaults are those of BERT-Base.
model.import "../layers.mlir"
model.import "../encoder.mlir"
model.import "../post_norm.mlir"

model.config @layers = 12     model.config @hidden = 768     model.config @inner = 3072
model.config @heads = 12      model.config @vocab = 30522    model.config @types = 2
model.config @seq = 512       model.config @positions = 512
model.config @dropout = 0.0   model.config @norm_eps = 1.0e-12
// The masked places of a record, of which each has as many.
model.config @predictions = 77

model.layer @embeddings(%tokens, %types_of) {
  %0, %table = model.call @embedding "word_embeddings" (%tokens) [vocab, hidden]
  %1 = model.call @small_embedding "token_type_embeddings" (%types_of) [types, hidden]
  %2 = weft.add %0, %1
  %3 = model.call @place_embeddings "position_embeddings" () [positions, 0, hidden]
  %4 = weft.add %2, %3
  %5 = model.call @layer_norm "LayerNorm" (%4) [hidden, norm_eps]
  %6 = weft.dropout %5 rate(dropout)
  model.return %6, %table
}

// The first place, for what is asked of the whole record: [batch, 1, hidden].
model.layer @pooler(%x) {
  %0 = weft.slice %x dim(1) from(0) size(1)
  %1 = model.call @dense "dense" (%0) [hidden, hidden]
  %2 = weft.tanh %1
  model.return %2
}

// From tokens and types [batch, seq], and which places are not there to fill up.
model.layer @bert(%tokens, %types_of, %seen) {
  %0, %table = model.call @embeddings "embeddings" (%tokens, %types_of)
  %mask = model.call @mask_of_keys (%seen)
  %1 = model.call @post_norm_encoder "encoder" (%0, %mask) [layers, hidden, heads, inner, dropout, norm_eps]
  %2 = model.call @pooler "pooler" (%1)
  model.return %1, %2, %table
}

model.layer @transform(%x) {
  %0 = model.call @dense "dense" (%x) [hidden, hidden]
  %1 = weft.gelu %0 approximate(none)
  %2 = model.call @layer_norm "LayerNorm" (%1) [hidden, norm_eps]
  model.return %2
}

// Logits of the vocabulary by the table of the embeddings.
model.layer @predictions_of(%x, %table) {
  %bias = weft.parameter "bias" [vocab] init(zeros) sbp(tensor = S(0))
  %0 = model.call @transform "transform" (%x)
  %1 = model.call @tied_head (%0, %table)
  %2 = weft.add %1, %bias
  model.return %2
}

model.layer @heads_of_tasks(%x, %pooled, %table) {
  %0 = model.call @predictions_of "predictions" (%x, %table)
  %1 = model.call @dense "seq_relationship" (%pooled) [hidden, 2]
  %2 = weft.reshape %1 [batch, 2]
  model.return %0, %2
}

model.layer @logits_of(%tokens, %types_of, %seen) {
  %x, %pooled, %table = model.call @bert "bert" (%tokens, %types_of, %seen)
  %words, %order = model.call @heads_of_tasks "cls" (%x, %pooled, %table)
  model.return %words, %order
}

// Masked words and the order of two segments. `labels` are -100 where no word is masked; `next` is 0 where the second
// segment follows the first one.
model.graph @train(%tokens [batch, seq] i32, %types [batch, seq] i32, %mask [batch, seq] u8, %labels [batch, seq] i32,
                   %next [batch] i32) {
  %words, %order = model.call @logits_of (%tokens, %types, %mask)
  %word_loss, %count = weft.cross_entropy %words, %labels
  %order_loss, %records = weft.cross_entropy %order, %next
  weft.minimize "masked_loss" %word_loss per %count rows(batch * predictions)
  weft.minimize "order_loss" %order_loss per %records rows(batch)
}

model.graph @logits(%tokens [batch, seq] i32, %types [batch, seq] i32, %mask [batch, seq] u8) {
  %words, %order = model.call @logits_of (%tokens, %types, %mask)
  weft.output "logits" %words
  weft.output "order" %order
}
