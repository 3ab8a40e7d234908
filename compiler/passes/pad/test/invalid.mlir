// RUN: weft-opt %s --weft-pad=samples=5 -split-input-file -verify-diagnostics

#mesh = #weft.placement<"cpu", [data = 1], [0]>
weft.graph @all("x" %x: tensor<3x5xf32>) placements [#mesh] micro_batches 2 {
  // expected-error @+1 {{expected micro-batches of one size, as the op needs all samples of each: batch.micro has to divide batch.global}}
  %0 = weft.cumsum %x dim(0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  weft.output "y" %0 : (tensor<3x5xf32>)
}

// -----

#mesh = #weft.placement<"cpu", [data = 1], [0]>
weft.graph @mean("x" %x: tensor<3x5xf32>) placements [#mesh] micro_batches 2 {
  %0 = weft.reduce mean %x over [1] : (tensor<3x5xf32>) -> tensor<3xf32>
  // expected-error @+1 {{expected micro-batches of one size, as a mean over samples weighs those of each alike: batch.micro has to divide batch.global}}
  %1 = weft.reduce mean %0 over [0] : (tensor<3xf32>) -> tensor<f32>
  weft.output "y" %1 : (tensor<f32>)
}
