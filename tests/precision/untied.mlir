// Two blocks of GPT-2 with a head of its own: a row of the token table is read only by who sees that token.
model.import "../../models/gpt2/gpt2.mlir"

model.graph @untied(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %0, %table = model.call @embedding "wte" (%tokens) [vocab, hidden]
  %1 = model.call @block "h.0" (%0) [dropout]
  %2 = model.call @block "h.1" (%1) [dropout]
  %3 = model.call @layer_norm "ln_f" (%2) [hidden]
  %head = weft.parameter "head.weight" [vocab, hidden] init(normal 0.02) sbp(tensor = S(0))
  %4 = model.call @tied_head (%3, %head)
  %loss, %count = weft.cross_entropy %4, %labels
  weft.minimize %loss per %count
}
