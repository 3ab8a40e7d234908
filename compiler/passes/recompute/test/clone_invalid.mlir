// RUN: weft-opt %s --weft-recompute-clone=layers=h.2=full -split-input-file -verify-diagnostics

#mesh = #weft.placement<"cpu", [], [0]>
// expected-error @+1 {{recompute.layers: expected a layer (h.0, h.1), got h.2}}
weft.graph @layers("x" %x: tensor<4xf32>) placements [#mesh] {
  %0 = weft.gelu %x {scope = "h.0.mlp"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.gelu %0 {scope = "h.1.mlp.2"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.gelu %1 {scope = "ln_f"} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %2 : (tensor<4xf32>)
}

// -----

#mesh = #weft.placement<"cpu", [], [0]>
// expected-error @+1 {{recompute.layers: expected none, since no scope of the graph has a number, got h.2}}
weft.graph @no_layers("x" %x: tensor<4xf32>) placements [#mesh] {
  %0 = weft.gelu %x {scope = "mlp"} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %0 : (tensor<4xf32>)
}
