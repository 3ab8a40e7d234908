// What expressions may say: functions anywhere, and in quotes every operator.
// RUN: weft-opt %s --weft-elaborate-config | FileCheck %s
// RUN: weft-opt %s --weft-elaborate-config="set=hidden=128-64,ratio=3/4" | FileCheck %s --check-prefix=SET

// CHECK: model.config @hidden = 48
// SET:   model.config @hidden = 64
model.config @hidden = "50 - 2"
// CHECK: model.config @ratio = 2.500000e-01
// SET:   model.config @ratio = 7.500000e-01
model.config @ratio = "1 / 4"
// From left to right, products first, and a minus of one thing before either.
// CHECK: model.config @left = 5
model.config @left = "10 - 3 - 2"
// CHECK: model.config @first = -7
model.config @first = "-1 - 2 * 3"
// CHECK: model.config @nested = 30
model.config @nested = 3 * "12 - 2"
// CHECK: model.config @minus = -48
model.config @minus = "-hidden"
// CHECK: model.config @twice = 3
model.config @twice = "2 - -1"
// CHECK: model.config @least = 2
model.config @least = min(4, 2)
// CHECK: model.config @most = 4.500000e+00
model.config @most = max(4, 4.5)
// CHECK: model.config @log = 0.000000e+00
model.config @log = log(1)
// CHECK: model.config @exp = 1.000000e+00
model.config @exp = exp(0)
// CHECK: model.config @less = 1
model.config @less = "hidden < 64.5"
// CHECK: model.config @atMost = 0
model.config @atMost = "49 <= hidden"
// CHECK: model.config @equal = 1
model.config @equal = "hidden == 48"
// CHECK: model.config @other = 0
model.config @other = "hidden != 48"
// CHECK: model.config @chosen = 7
model.config @chosen = if("hidden > 100", 5, 7)
// CHECK: model.config @layout = S(1)
model.config @layout = if("hidden >= 48", S(1), B)
