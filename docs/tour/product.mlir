// One product on its own, for chapters 4 and 5 of the tour.
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @product("x" %x: tensor<32x64x64xf32>) placements [#mesh] {
  %w = weft.parameter "weight" [64, 256] init(normal 0.02) sbp(tensor = S(1)) : () -> tensor<64x256xf32>
  %y = weft.einsum "bsi,io->bso" %x, %w : (tensor<32x64x64xf32>, tensor<64x256xf32>) -> tensor<32x64x256xf32>
  weft.output "y" %y : (tensor<32x64x256xf32>)
}
