// What moves slowly from step to step: momenta for calls that average others' parameters (model.call ... averages), and
// running statistics. All of it is `state`, which checkpoints keep.

// How many steps there have been, 0 in the first one.
model.layer @steps() {
  %0 = weft.parameter "steps" [] init(zeros) state
  %1 = weft.add_scalar %0 by(1.0)
  weft.assign %0, %1
  model.return %0
}

// Of an average that gives the past the weight m. 0 in the first step, in which it becomes what it averages.
model.layer @constant_momentum() [m] {
  %t = model.call @steps ()
  %0 = weft.clamp %t max(1.0)
  %1 = weft.scale %0 by(m)
  model.return %1
}

// From `first` along half a cosine to 1 in step `total` (Grill et al., "Bootstrap your own latent", 2020, section 3.2): 1 - (1 - first)
// (cos(pi t / total) + 1) / 2 in step t. 0 in the first step, likewise.
model.layer @cosine_momentum() [first, total] {
  %t = model.call @steps ()
  %0 = weft.clamp %t max(total)
  %1 = weft.scale %0 by("3.141592653589793 / total")
  %2 = weft.cos %1
  %3 = weft.add_scalar %2 by(1.0)
  %4 = weft.scale %3 by("(first - 1.0) / 2.0")
  %5 = weft.add_scalar %4 by(1.0)
  %6 = weft.clamp %t max(1.0)
  %7 = weft.mul %5, %6
  model.return %7
}

// The mean over the micro-batches of a step.
model.layer @mean_of_step(%x) {
  %one = weft.fill [] value(1.0)
  %0 = weft.accumulate %x
  %1 = weft.accumulate %one
  %2 = weft.div %0, %1
  model.return %2
}

// (1 - rate) past + rate now.
model.layer @moved(%past, %now) [rate] {
  %0 = weft.scale %past by("1.0 - rate")
  %1 = weft.scale %now by(rate)
  %2 = weft.add %0, %1
  model.return %2
}

// Moves running_mean and running_var, as nn.BatchNorm2d has them, once a step: towards the means over its micro-batches
// of mean[channels] and of variance[channels], made one without bias by samples / (samples - 1).
model.layer @running_statistics(%mean, %variance) [channels, samples, rate, split = B] {
  %m = weft.parameter "running_mean" [channels] init(zeros) sbp(tensor = split) state
  %v = weft.parameter "running_var" [channels] init(ones) sbp(tensor = split) state
  %0 = model.call @mean_of_step (%mean)
  %1 = model.call @moved (%m, %0) [rate]
  weft.assign %m, %1
  %2 = model.call @mean_of_step (%variance)
  %3 = weft.scale %2 by("samples / (samples - 1.0)")
  %4 = model.call @moved (%v, %3) [rate]
  weft.assign %v, %4
  model.return
}

// nn.BatchNorm1d of x[samples, channels] in training, with the statistics of the micro-batch. In files it has weight, bias,
// running_mean and running_var; what torch calls num_batches_tracked nobody needs here. Split over `tensor` by channels: S(0).
model.layer @batch_norm(%x) [channels, samples = batch, eps = 1.0e-5, rate = 0.1, split = B] {
  %w = weft.parameter "weight" [channels] init(ones) sbp(tensor = split)
  %b = weft.parameter "bias" [channels] init(zeros) sbp(tensor = split)
  %y, %mean, %variance = weft.batch_norm %x, %w, %b over [0] eps(eps)
  model.call @running_statistics (%mean, %variance) [channels, samples, rate, split]
  model.return %y
}

// nn.BatchNorm2d of images[samples, channels, height, width], likewise.
model.layer @batch_norm_2d(%x) [channels, height, width, samples = batch, eps = 1.0e-5, rate = 0.1, split = B] {
  %w = weft.parameter "weight" [channels] init(ones) sbp(tensor = split)
  %b = weft.parameter "bias" [channels] init(zeros) sbp(tensor = split)
  %y, %mean, %variance = weft.batch_norm %x, %w, %b over [0, 2, 3] eps(eps)
  model.call @running_statistics (%mean, %variance) [channels, samples * height * width, rate, split]
  model.return %y
}

// Both in an evaluation, with the running statistics.
model.layer @evaluated_batch_norm(%x) [channels, eps = 1.0e-5, split = B] {
  %w = weft.parameter "weight" [channels] init(ones) sbp(tensor = split)
  %b = weft.parameter "bias" [channels] init(zeros) sbp(tensor = split)
  %m = weft.parameter "running_mean" [channels] init(zeros) sbp(tensor = split) state
  %v = weft.parameter "running_var" [channels] init(ones) sbp(tensor = split) state
  %y = weft.batch_norm_apply %x, %m, %v, %w, %b over [0] eps(eps)
  model.return %y
}
model.layer @evaluated_batch_norm_2d(%x) [channels, eps = 1.0e-5, split = B] {
  %w = weft.parameter "weight" [channels] init(ones) sbp(tensor = split)
  %b = weft.parameter "bias" [channels] init(zeros) sbp(tensor = split)
  %m = weft.parameter "running_mean" [channels] init(zeros) sbp(tensor = split) state
  %v = weft.parameter "running_var" [channels] init(ones) sbp(tensor = split) state
  %y = weft.batch_norm_apply %x, %m, %v, %w, %b over [0, 2, 3] eps(eps)
  model.return %y
}
