// Llama with the table of the embeddings for a head, as the small ones of Llama 3.2 have it. Names and shapes are those of
// Hugging Face's LlamaForCausalLM with tie_word_embeddings, and everything else is Llama's.
model.import "llama.mlir"

model.layer @tied_body(%tokens) {
  %0, %table = model.call @embedding "embed_tokens" (%tokens) [vocab, hidden]
  %1 = model.repeat layers "layers" @block(%0)
  %2 = model.call @rms_norm "norm" (%1) [hidden, norm_eps]
  model.return %2, %table
}

model.layer @llama_tied(%tokens) {
  %0, %table = model.call @tied_body "model" (%tokens)
  %1 = model.call @tied_head (%0, %table)
  model.return %1
}

model.graph @train_tied(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %logits = model.call @llama_tied (%tokens)
  %loss, %count = weft.cross_entropy %logits, %labels
  weft.minimize %loss per %count
}

model.graph @logits_tied(%tokens [batch, seq] i32) {
  %logits = model.call @llama_tied (%tokens)
  weft.output "logits" %logits
}
