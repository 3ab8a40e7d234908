// The product split by columns, for chapter 4 of the tour.
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @product("x" %x: tensor<32x64x64xf32, #weft.sbp<B>>, "w" %w: tensor<64x256xf32, #weft.sbp<S(1)>>)
    placements [#mesh] {
  %y = weft.einsum "bsi,io->bso" %x, %w : (tensor<32x64x64xf32, #weft.sbp<B>>, tensor<64x256xf32, #weft.sbp<S(1)>>) -> tensor<32x64x256xf32, #weft.sbp<S(2)>>
}
