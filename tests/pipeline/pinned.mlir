// Four blocks on four stages that the file names. What leaves the first block is also read two stages on, and the table of the
// embedding on the last.
model.import "../../models/gpt2/gpt2.mlir"

model.graph @pinned(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %0, %table = model.call @embedding "wte" (%tokens) [vocab, hidden]
  %wpe = weft.parameter "wpe.weight" [positions, hidden] init(normal 0.02)
  %1 = weft.slice %wpe dim(0) from(0) size(seq)
  %2 = weft.add %0, %1
  %3 = weft.dropout %2 rate(dropout)
  %4 = model.call @block "h.0" (%3) [dropout]
  model.stage 1
  %5 = model.call @block "h.1" (%4) [dropout]
  %6 = model.call @block "h.2" (%5) [dropout]
  model.stage 2
  %7 = model.call @block "h.3" (%6) [dropout]
  %8 = weft.add %7, %4
  model.stage 3
  %9 = model.call @layer_norm "ln_f" (%8) [hidden]
  %10 = model.call @tied_head (%9, %table)
  %loss, %count = weft.cross_entropy %10, %labels
  weft.minimize %loss per %count
}
