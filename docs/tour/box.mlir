// Three changes of layout, for chapter 6 of the tour.
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @changes("x" %x: tensor<32x64x64xf32, #weft.sbp<S(0), S(0)>>, "g" %g: tensor<64xf32, #weft.sbp<P, P>>)
    placements [#mesh] {
  // What our product does to its operand.
  %0 = weft.box %x : (tensor<32x64x64xf32, #weft.sbp<S(0), S(0)>>) -> tensor<32x64x64xf32, #weft.sbp<S(0), B>>
  weft.output "gathered" %0 : (tensor<32x64x64xf32, #weft.sbp<S(0), B>>)
  // Two axes cut one dimension, and the outer one lets go of it.
  %1 = weft.box %x : (tensor<32x64x64xf32, #weft.sbp<S(0), S(0)>>) -> tensor<32x64x64xf32, #weft.sbp<B, S(0)>>
  weft.output "turned" %1 : (tensor<32x64x64xf32, #weft.sbp<B, S(0)>>)
  // The gradient of a layer norm's weight, a pending sum over both axes.
  %2 = weft.box %g : (tensor<64xf32, #weft.sbp<P, P>>) -> tensor<64xf32, #weft.sbp<B, B>>
  weft.output "summed" %2 : (tensor<64xf32, #weft.sbp<B, B>>)
}
