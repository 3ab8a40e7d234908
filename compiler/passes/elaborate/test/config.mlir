// Values may use each other in any order; the job's values take the place of the file's.
// RUN: weft-opt %s --weft-elaborate-config | FileCheck %s
// RUN: weft-opt %s --weft-elaborate-config="set=hidden=2*heads,rate=0.25 batch=4" | FileCheck %s --check-prefix=SET

// CHECK-NOT: @batch
// SET:       model.config @batch = 4

// CHECK:     model.config @inner = 256
// SET:       model.config @inner = 32
model.config @inner = 4 * hidden
// CHECK:     model.config @hidden = 64
// SET:       model.config @hidden = 8
model.config @hidden = 64
// CHECK:     model.config @heads = 4
// SET:       model.config @heads = 4
model.config @heads = 4
// CHECK:     model.config @rate = 1.000000e-01
// SET:       model.config @rate = 2.500000e-01
model.config @rate = 0.1
// CHECK:     model.config @split = S(1)
model.config @split = S(0 + 1)
// CHECK:     model.config @other = S(1)
model.config @other = split
// CHECK:     model.config @maximum = P(max)
model.config @maximum = P(max)
// CHECK:     model.config @rest = 23
model.config @rest = (inner + 3) mod 100 floordiv 3 + 4
// CHECK:     model.config @down = -2
model.config @down = -3 floordiv 2
// CHECK:     model.config @half = 5.000000e-01
model.config @half = rsqrt(heads)
// CHECK:     model.config @real = 3.000000e+00
model.config @real = 2.5 + 2 * 0.25
