// The smallest model that learns from a text: guesses a byte from the one before it. A token becomes a vector,
// two linear layers with a GELU between them turn it into a score for every next token.
model.import "../layers.mlir"

model.config @vocab  = 256
model.config @seq    = 64
model.config @hidden = 64
model.config @inner  = 256

model.graph @train(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %x, %table = model.call @embedding "embedding" (%tokens) [vocab, hidden]
  // The first matrix is split by columns over `tensor`, the second by rows.
  %0 = model.call @linear "up" (%x) [hidden, inner, S(1), S(0)]
  %1 = weft.gelu %0 approximate(tanh)
  %2 = model.call @linear "down" (%1) [inner, vocab, S(0), B]
  %loss, %count = weft.cross_entropy %2, %labels
  weft.minimize %loss per %count
}
