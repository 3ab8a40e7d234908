// On the second stage `noise` is made by each micro-batch and kept for its backward, and nothing is made of the input.
model.graph @train(%x [batch, 8] f32) {
  %0 = weft.mul %x, %x
  model.stage 1
  %unread = weft.mul %x, %0
  %noise = weft.random_normal [8] mean(0.0) std(1.0)
  %w = weft.parameter "weight" [8] init(normal 0.02)
  %1 = weft.mul %noise, %w
  %2 = weft.mul %0, %1
  %loss = weft.reduce sum %2 over [0, 1]
  weft.minimize %loss
}
