// RoBERTa (Liu et al., "RoBERTa: A robustly optimized BERT pretraining approach", 2019), with masked words alone. Parameters
// have the names and, in checkpoint files, the shapes of Hugging Face's RobertaForMaskedLM. The defaults are those of
// RoBERTa-Base.
model.import "../layers.mlir"
model.import "../encoder.mlir"
model.import "../post_norm.mlir"

model.config @layers = 12     model.config @hidden = 768     model.config @inner = 3072
model.config @heads = 12      model.config @vocab = 50265
model.config @seq = 512       model.config @positions = 514
model.config @dropout = 0.0   model.config @norm_eps = 1.0e-5

// Positions begin at 2: rows 0 and 1 of the table are for padding. A row of what fills a sequence up is never read.
// There is one type of token, whose row is added everywhere.
model.layer @embeddings(%tokens) {
  %0, %table = model.call @embedding "word_embeddings" (%tokens) [vocab, hidden]
  %type = weft.parameter "token_type_embeddings.weight" [1, hidden] init(normal 0.02)
  %1 = weft.add %0, %type
  %2 = model.call @place_embeddings "position_embeddings" () [positions, 2, hidden]
  %3 = weft.add %1, %2
  %4 = model.call @layer_norm "LayerNorm" (%3) [hidden, norm_eps]
  %5 = weft.dropout %4 rate(dropout)
  model.return %5, %table
}

model.layer @roberta(%tokens, %seen) {
  %0, %table = model.call @embeddings "embeddings" (%tokens)
  %mask = model.call @mask_of_keys (%seen)
  %1 = model.call @post_norm_encoder "encoder" (%0, %mask) [layers, hidden, heads, inner, dropout, norm_eps]
  model.return %1, %table
}

// Logits of the vocabulary by the table of the embeddings.
model.layer @masked_head(%x, %table) {
  %bias = weft.parameter "bias" [vocab] init(zeros) sbp(tensor = S(0))
  %0 = model.call @dense "dense" (%x) [hidden, hidden]
  %1 = weft.gelu %0 approximate(none)
  %2 = model.call @layer_norm "layer_norm" (%1) [hidden, norm_eps]
  %3 = model.call @tied_head (%2, %table)
  %4 = weft.add %3, %bias
  model.return %4
}

model.layer @logits_of(%tokens, %seen) {
  %x, %table = model.call @roberta "roberta" (%tokens, %seen)
  %0 = model.call @masked_head "lm_head" (%x, %table)
  model.return %0
}

// Masked words: `labels` are -100 where none is.
model.graph @train(%tokens [batch, seq] i32, %mask [batch, seq] u8, %labels [batch, seq] i32) {
  %logits = model.call @logits_of (%tokens, %mask)
  %loss, %count = weft.cross_entropy %logits, %labels
  weft.minimize %loss per %count
}

model.graph @logits(%tokens [batch, seq] i32, %mask [batch, seq] u8) {
  %logits = model.call @logits_of (%tokens, %mask)
  weft.output "logits" %logits
}
