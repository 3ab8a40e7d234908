// Many, imported from tests/torch_modules/models.py:many_operators.

model.layer @conv2d(%x) {
  %weight = weft.parameter "weight" [8, 2, 3, 3] init(normal 0.13)
  %bias = weft.parameter "bias" [8] init(normal 0.13)
  %0 = weft.unfold %x dim(2) size [3, 3] padding [1, 1]
  %1 = weft.reshape %0 [batch, 2, 2, 9, 9, 3, 3]
  %2 = weft.reshape %weight [2, 4, 2, 3, 3]
  %3 = weft.einsum "bsitujk,soijk->bsotu" %1, %2
  %4 = weft.reshape %3 [batch, 8, 9, 9]
  %5 = weft.reshape %bias [8, 1, 1]
  %6 = weft.add %4, %5
  model.return %6
}

model.layer @group_norm(%x) {
  %weight = weft.parameter "weight" [8] init(ones)
  %bias = weft.parameter "bias" [8] init(zeros)
  %0 = weft.reshape %x [batch, 4, 162]
  %1 = weft.fill [162] value(0.0)
  %2 = weft.fill [162] value(1.0)
  %3 = weft.layer_norm %0, %2, %1 eps(1.0e-05)
  %4 = weft.reshape %3 [batch, 8, 9, 9]
  %5 = weft.reshape %weight [8, 1, 1]
  %6 = weft.mul %4, %5
  %7 = weft.reshape %bias [8, 1, 1]
  %8 = weft.add %6, %7
  model.return %8
}

model.layer @conv2d_2(%x) {
  %weight = weft.parameter "weight" [8, 1, 3, 3] init(normal 0.2)
  %bias = weft.parameter "bias" [8] init(normal 0.22)
  %0 = weft.transpose %x [0, 2, 3, 1]
  %1 = weft.reshape %weight [8, 3, 3]
  %2 = weft.transpose %1 [1, 2, 0]
  %3 = weft.depthwise_conv %0, %2 stride [2, 2]
  %4 = weft.add %3, %bias
  %5 = weft.transpose %4 [0, 3, 1, 2]
  model.return %5
}

model.layer @conv1d(%x) {
  %weight = weft.parameter "weight" [6, 8, 3] init(normal 0.11)
  %bias = weft.parameter "bias" [6] init(normal 0.12)
  %0 = weft.unfold %x dim(2) size [3] padding [2] dilation [2]
  %1 = weft.einsum "bisj,oij->bos" %0, %weight
  %2 = weft.reshape %bias [6, 1]
  %3 = weft.add %1, %2
  model.return %3
}

model.layer @linear(%x) {
  %weight = weft.parameter "weight" [3, 3] init(normal 0.26) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [3] init(normal 0.31) sbp(tensor = S(0))
  %0 = weft.einsum "bi,oi->bo" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.graph @train(%images [batch, 4, 9, 9] f32, %targets [batch, 3] f32, %classes [batch] i32) {
  %a = weft.parameter "a" [6, 6] init(normal 1.1)
  %b = weft.parameter "b" [6, 6] init(normal 1.2)
  %0 = model.call @conv2d "grouped" (%images)
  %1 = weft.clamp %0 max(0.0)
  %2 = weft.exp %1
  %3 = weft.add_scalar %2 by(-1.0)
  %4 = weft.fill [1, 1, 1, 1] value(0.0)
  %5 = weft.greater %0, %4
  %6 = weft.select %5, %0, %3
  %7 = model.call @group_norm "norm" (%6)
  %8 = weft.fill [batch, 8, 9, 1] value(0.5)
  %9 = weft.concat %8, %7 dim(3)
  %10 = weft.fill [batch, 8, 1, 10] value(0.5)
  %11 = weft.concat %9, %10 dim(2)
  %12 = weft.unfold %11 dim(2) size [3, 3] stride [1, 1] padding [1, 1] dilation [1, 1]
  %13 = weft.reduce mean %12 over [4, 5]
  %14 = weft.constant [1, 1, 1, 10] values [2.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 2.0]
  %15 = weft.constant [1, 1, 10, 1] values
      [0.2222222089767456, 0.3333333134651184, 0.3333333134651184, 0.3333333134651184, 0.3333333134651184,
      0.3333333134651184, 0.3333333134651184, 0.3333333134651184, 0.3333333134651184, 0.2222222089767456]
  %16 = weft.mul %15, %14
  %17 = weft.div %13, %16
  %18 = weft.slice %17 dim(2) from(8) size(2)
  %19 = weft.slice %17 dim(2) from(0) size(8)
  %20 = weft.concat %18, %19 dim(2)
  %21 = weft.slice %20 dim(3) from(1) size(9)
  %22 = weft.slice %20 dim(3) from(0) size(1)
  %23 = weft.concat %21, %22 dim(3)
  %24 = weft.fill [1] value(-1) to i32
  %25 = weft.iota [10] dim(0)
  %26 = weft.mul %25, %24
  %27 = weft.fill [1] value(9) to i32
  %28 = weft.add %26, %27
  %29 = weft.take %23, %28 dim(3)
  %30 = model.call @conv2d_2 "depthwise" (%29)
  %31 = weft.clamp %30 max(20.0)
  %32 = weft.exp %31
  %33 = weft.add_scalar %32 by(1.0)
  %34 = weft.log %33
  %35 = weft.fill [1, 1, 1, 1] value(20.0)
  %36 = weft.greater %30, %35
  %37 = weft.select %36, %30, %34
  %38 = weft.max_pool %37 dim(2) size [2, 2] stride [2, 2] padding [0, 0] dilation [1, 1]
  %39 = weft.reshape %38 [batch, 8, 4]
  %40 = model.call @conv1d "line" (%39)
  %41 = weft.einsum "bis,io->bso" %40, %a
  %42 = weft.add_scalar %41 by(3.0)
  %43 = weft.clamp %42 min(0.0) max(6.0)
  %44 = weft.scale %43 by(0.16666666666666666)
  %45 = weft.mul %41, %44
  %46 = weft.fill [1, 1] value(0.0)
  %47 = weft.iota [6, 6] dim(1)
  %48 = weft.iota [6, 6] dim(0)
  %49 = weft.less_equal %47, %48
  %50 = weft.select %49, %b, %46
  %51 = weft.einsum "bsi,io->bso" %45, %50
  %52 = weft.fill [1, 1, 1] value(0.0)
  %53 = weft.greater %51, %52
  %54 = weft.scale %51 by(0.1)
  %55 = weft.select %53, %51, %54
  %56 = weft.reduce max %45 over [1] keep_dims
  %57 = weft.stop_gradient %56
  %58 = weft.sub %45, %57
  %59 = weft.exp %58
  %60 = weft.reduce sum %59 over [1] keep_dims
  %61 = weft.log %60
  %62 = weft.add %61, %57
  %63 = weft.add %55, %62
  %64 = weft.cumsum %63 dim(1)
  %65 = weft.reduce mean %63 over [1] keep_dims
  %66 = weft.sub %63, %65
  %67 = weft.square %66
  %68 = weft.reduce mean %67 over [1] keep_dims
  %69 = weft.scale %68 by(1.3333333333333333)
  %70 = weft.sub %64, %69
  %71 = weft.square %63
  %72 = weft.reduce sum %71 over [2] keep_dims
  %73 = weft.sqrt %72
  %74 = weft.add %70, %73
  %75 = weft.scale %74 by(0.1)
  %76 = weft.sin %75
  %77, %78 = weft.top_k %76 k(3) dim(2)
  %79 = weft.fill [1, 1, 1] value(0.5)
  %80 = weft.greater %74, %79
  %81 = weft.abs %74
  %82 = weft.power %81 by(1.5)
  %83 = weft.clamp %74 min(-2.0) max(1.0)
  %84 = weft.select %80, %82, %83
  %85 = weft.reduce max %74 over [2] keep_dims
  %86 = weft.exp %85
  %87 = weft.rsqrt %86
  %88 = weft.add_scalar %87 by(1.0)
  %89 = weft.div %84, %88
  %90 = weft.take %89, %78 dim(2) batch(2)
  %91 = weft.reduce max %77 over [2] keep_dims
  %92 = weft.stop_gradient %91
  %93 = weft.sub %77, %92
  %94 = weft.exp %93
  %95 = weft.reduce sum %94 over [2] keep_dims
  %96 = weft.log %95
  %97 = weft.sub %93, %96
  %98 = weft.add %90, %97
  %99 = weft.constant [3] values [0, 2, 5] to i32
  %100 = weft.take %89, %99 dim(2)
  %101 = weft.iota [3] dim(0)
  %102 = weft.fill [1] value(2) to i32
  %103 = weft.mul %101, %102
  %104 = weft.take %89, %103 dim(2)
  %105 = weft.minimum %77, %104
  %106 = weft.mul %100, %105
  %107 = weft.add %98, %106
  %108 = weft.reduce mean %107 over [1]
  %109 = weft.tanh %108
  %110 = model.call @linear "head" (%109)
  %111 = weft.reduce max %110 over [1] keep_dims
  %112 = weft.stop_gradient %111
  %113 = weft.sub %110, %112
  %114 = weft.exp %113
  %115 = weft.reduce sum %114 over [1] keep_dims
  %116 = weft.log %115
  %117 = weft.sub %113, %116
  %118 = weft.fill [1] value(-100) to i32
  %119 = weft.equal %classes, %118
  %120 = weft.fill [1] value(0) to i32
  %121 = weft.select %119, %120, %classes
  %122 = weft.reshape %121 [batch, 1]
  %123 = weft.take %117, %122 dim(1) batch(1)
  %124 = weft.reshape %123 [batch]
  %125 = weft.neg %124
  %126 = weft.fill [1] value(0.0)
  %127 = weft.select %119, %126, %125
  %128, %129 = weft.cross_entropy %117, %classes
  %130 = weft.div %128, %129
  %131 = weft.add %127, %130
  %132 = weft.abs %110
  %133 = weft.neg %132
  %134 = weft.exp %133
  %135 = weft.add_scalar %134 by(1.0)
  %136 = weft.log %135
  %137 = weft.relu %110
  %138 = weft.mul %110, %targets
  %139 = weft.sub %137, %138
  %140 = weft.add %139, %136
  %141 = weft.reduce mean %140 over [0, 1]
  %142 = weft.tanh %110
  %143 = weft.sub %142, %targets
  %144 = weft.square %143
  %145 = weft.reduce mean %144 over [0, 1]
  %146 = weft.add %141, %145
  %147 = weft.reduce mean %131 over [0]
  %148 = weft.add %146, %147
  %149 = weft.cast %110 to i32
  %150 = weft.cast %149 to f32
  %151 = weft.greater %150, %110
  %152 = weft.cast %151 to f32
  %153 = weft.sub %150, %152
  %154 = weft.sub %153, %110
  %155 = weft.abs %154
  %156 = weft.reduce mean %155 over [0, 1]
  %157 = weft.scale %156 by(0.1)
  %158 = weft.add %148, %157
  %159, %160 = weft.cross_entropy %110, %classes label_smoothing(0.1)
  %161 = weft.div %159, %160
  %162 = weft.add %158, %161
  weft.minimize %162
}
