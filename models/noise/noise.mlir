// A tensor laid over a mesh of raw ranks, two by two: its rows are split over the first axis, its columns over the
// second, so that each of the four ranks holds 8x4 of the 16x8. Noise is added where the parts lie; what a
// rank draws depends on where its part is in the whole tensor, not on how the tensor is cut.
model.graph @noise(%x [16, 8] f32) {
  %0 = weft.to_global %x sbp(S(0), S(1)) placement("cpu", [[0, 1], [2, 3]])
  %1 = weft.random_normal [16, 8] mean(0.0) std(1.0)
  %2 = weft.add %0, %1
  weft.output "y" %2
}
