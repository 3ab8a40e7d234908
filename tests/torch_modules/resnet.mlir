// ResNet, imported from tests/torch_modules/models.py:resnet.
model.config @layers = 2

model.layer @conv2d(%x) {
  %weight = weft.parameter "weight" [8, 3, 3, 3] init(normal 0.11)
  %bias = weft.parameter "bias" [8] init(normal 0.14)
  %0 = weft.unfold %x dim(2) size [3, 3] padding [1, 1]
  %1 = weft.einsum "bistjk,oijk->bost" %0, %weight
  %2 = weft.reshape %bias [8, 1, 1]
  %3 = weft.add %1, %2
  model.return %3
}

model.layer @batch_norm2d(%x, %y) [size, by] {
  %running_mean = weft.parameter "running_mean" [size] init(zeros) state
  %running_var = weft.parameter "running_var" [size] init(ones) state
  %0 = weft.accumulate %x
  %1 = weft.fill [] value(1.0)
  %2 = weft.accumulate %1
  %3 = weft.div %0, %2
  %4 = weft.scale %3 by(0.1)
  %5 = weft.scale %running_mean by(0.9)
  %6 = weft.add %5, %4
  weft.assign %running_mean, %6
  %7 = weft.accumulate %y
  %8 = weft.accumulate %1
  %9 = weft.div %7, %8
  %10 = weft.scale %9 by(0.1)
  %11 = weft.scale %10 by(by)
  %12 = weft.scale %running_var by(0.9)
  %13 = weft.add %12, %11
  weft.assign %running_var, %13
  model.return
}

model.layer @sequential(%x) {
  %weight = weft.parameter "1.weight" [8] init(ones)
  %bias = weft.parameter "1.bias" [8] init(zeros)
  %0 = model.call @conv2d "0" (%x)
  %1, %2, %3 = weft.batch_norm %0, %weight, %bias over [0, 2, 3] eps(1.0e-05)
  model.call @batch_norm2d "1" (%2, %3) [8, "(batch * 256) / (batch * 256 - 1.0)"]
  %4 = weft.relu %1
  %5 = weft.max_pool %4 dim(2) size [2, 2] stride [2, 2] padding [0, 0] dilation [1, 1]
  model.return %5
}

model.layer @conv2d_2(%x) [size, std] {
  %weight = weft.parameter "weight" [size, size, 3, 3] init(normal std)
  %0 = weft.unfold %x dim(2) size [3, 3] padding [1, 1]
  %1 = weft.einsum "bistjk,oijk->bost" %0, %weight
  model.return %1
}

model.layer @block(%x) {
  %weight = weft.parameter "bn1.weight" [8] init(ones)
  %bias = weft.parameter "bn1.bias" [8] init(zeros)
  %weight_2 = weft.parameter "bn2.weight" [8] init(ones)
  %bias_2 = weft.parameter "bn2.bias" [8] init(zeros)
  %0 = model.call @conv2d_2 "conv1" (%x) [8, 0.068]
  %1, %2, %3 = weft.batch_norm %0, %weight, %bias over [0, 2, 3] eps(1.0e-05)
  model.call @batch_norm2d "bn1" (%2, %3) [8, "(batch * 64) / (batch * 64 - 1.0)"]
  %4 = weft.relu %1
  %5 = model.call @conv2d_2 "conv2" (%4) [8, 0.068]
  %6, %7, %8 = weft.batch_norm %5, %weight_2, %bias_2 over [0, 2, 3] eps(1.0e-05)
  model.call @batch_norm2d "bn2" (%7, %8) [8, "(batch * 64) / (batch * 64 - 1.0)"]
  %9 = weft.add %6, %x
  %10 = weft.relu %9
  model.return %10
}

model.layer @conv2d_3(%x) {
  %weight = weft.parameter "weight" [16, 8, 3, 3] init(normal 0.069)
  %0 = weft.unfold %x dim(2) size [3, 3] stride [2, 2] padding [1, 1]
  %1 = weft.einsum "bistjk,oijk->bost" %0, %weight
  model.return %1
}

model.layer @conv2d_4(%x) {
  %weight = weft.parameter "weight" [16, 8, 1, 1] init(normal 0.19)
  %0 = weft.unfold %x dim(2) size [1, 1] stride [2, 2]
  %1 = weft.einsum "bistjk,oijk->bost" %0, %weight
  model.return %1
}

model.layer @batch_norm2d_2(%x) {
  %weight = weft.parameter "weight" [16] init(ones)
  %bias = weft.parameter "bias" [16] init(zeros)
  %running_mean = weft.parameter "running_mean" [16] init(zeros) state
  %running_var = weft.parameter "running_var" [16] init(ones) state
  %0, %1, %2 = weft.batch_norm %x, %weight, %bias over [0, 2, 3] eps(1.0e-05)
  %3 = weft.accumulate %1
  %4 = weft.fill [] value(1.0)
  %5 = weft.accumulate %4
  %6 = weft.div %3, %5
  %7 = weft.scale %6 by(0.1)
  %8 = weft.scale %running_mean by(0.9)
  %9 = weft.add %8, %7
  weft.assign %running_mean, %9
  %10 = weft.accumulate %2
  %11 = weft.accumulate %4
  %12 = weft.div %10, %11
  %13 = weft.scale %12 by(0.1)
  %14 = weft.scale %13 by("(batch * 16) / (batch * 16 - 1.0)")
  %15 = weft.scale %running_var by(0.9)
  %16 = weft.add %15, %14
  weft.assign %running_var, %16
  model.return %0
}

model.layer @block_2(%x) {
  %weight = weft.parameter "bn1.weight" [16] init(ones)
  %bias = weft.parameter "bn1.bias" [16] init(zeros)
  %weight_2 = weft.parameter "bn2.weight" [16] init(ones)
  %bias_2 = weft.parameter "bn2.bias" [16] init(zeros)
  %0 = model.call @conv2d_3 "conv1" (%x)
  %1, %2, %3 = weft.batch_norm %0, %weight, %bias over [0, 2, 3] eps(1.0e-05)
  model.call @batch_norm2d "bn1" (%2, %3) [16, "(batch * 16) / (batch * 16 - 1.0)"]
  %4 = weft.relu %1
  %5 = model.call @conv2d_2 "conv2" (%4) [16, 0.048]
  %6, %7, %8 = weft.batch_norm %5, %weight_2, %bias_2 over [0, 2, 3] eps(1.0e-05)
  model.call @batch_norm2d "bn2" (%7, %8) [16, "(batch * 16) / (batch * 16 - 1.0)"]
  %9 = model.call @conv2d_4 "shortcut.0" (%x)
  %10 = model.call @batch_norm2d_2 "shortcut.1" (%9)
  %11 = weft.add %6, %10
  %12 = weft.relu %11
  model.return %12
}

model.layer @linear(%x) {
  %weight = weft.parameter "weight" [10, 16] init(normal 0.16) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [10] init(normal 0.11) sbp(tensor = S(0))
  %0 = weft.einsum "bi,oi->bo" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.graph @train(%images [batch, 3, 16, 16] f32, %labels [batch] i32) {
  %0 = model.call @sequential "stem" (%images)
  %1 = model.repeat layers "stages" @block(%0)
  %2 = model.call @block_2 "stages.2" (%1)
  %3 = weft.reshape %2 [batch, 16, 1, 4, 1, 4]
  %4 = weft.reduce mean %3 over [3, 5]
  %5 = weft.reshape %4 [batch, 16]
  %6 = model.call @linear "head" (%5)
  %7, %8 = weft.cross_entropy %6, %labels
  weft.minimize %7 per %8
}
