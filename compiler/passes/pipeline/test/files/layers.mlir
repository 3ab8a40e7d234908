// The layers of a small GPT-2, for errors that name them.
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @layers("x" %x: tensor<4xf32>) placements [#mesh] {
  %0 = weft.neg %x {scope = "wte"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.neg %0 {scope = "h.0.attn"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.neg %1 {scope = "h.1.attn"} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = weft.neg %2 {scope = "ln_f"} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %3 {scope = "head"} : (tensor<4xf32>)
}
