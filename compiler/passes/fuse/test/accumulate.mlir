// RUN: weft-opt %s --weft-fuse-epilogues -split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-fuse-epilogues=overlap=2 -split-input-file | FileCheck %s --check-prefix=TURNS

// A product adds to the sum over the micro-batches: it is no buffer any more, and what it cost to write and to read goes (2
// x 64 bytes of 320). Bfloat16 is summed in float32.
// CHECK-LABEL: task.program @sums
// CHECK-NOT: "dw"
// CHECK: task.kernel "accumulate_einsum" ins(%[[X:.*]], %[[DY:.*]], %[[SUM:.*]] : {{.*}}) outs(%[[SUM]] : {{.*}}) {equation = "si,so->io"} micro {phase = "backward"} cost [6.400000e+01, 1.600000e+01, 1.920000e+02]
// CHECK-NEXT: }
!x = !task.buffer<tensor<4x4xbf16, #weft.sbp<>>>
!w = !task.buffer<tensor<4x4xf32, #weft.sbp<>>>
task.program @sums on #weft.placement<"cuda", [], [0]> micro_batches(2) {
  %x = task.buffer "x" input : !x
  %dy = task.buffer "dy" input : !x
  %dw = task.buffer "dw" activation : !w
  %sum = task.buffer "sum" gradient : !w
  task.kernel "einsum" ins(%x, %dy : !x, !x) outs(%dw : !w) {equation = "si,so->io"} micro {phase = "backward"} cost [64.0, 0.0, 128.0]
  task.kernel "accumulate" ins(%dw, %sum : !w, !w) outs(%sum : !w) {} micro {phase = "backward"} cost [0.0, 16.0, 192.0]
}

// -----
// On the host all stay.
// CHECK-LABEL: task.program @host
// CHECK: task.kernel "einsum"
// CHECK-NEXT: task.kernel "accumulate"
// CHECK-NEXT: task.kernel "einsum"
// CHECK-NEXT: task.kernel "add"
!x = !task.buffer<tensor<4x4xbf16, #weft.sbp<>>>
!w = !task.buffer<tensor<4x4xf32, #weft.sbp<>>>
task.program @host on #weft.placement<"cpu", [], [0]> micro_batches(2) {
  %x = task.buffer "x" input : !x
  %dy = task.buffer "dy" input : !x
  %dw = task.buffer "dw" activation : !w
  %sum = task.buffer "sum" gradient : !w
  %y = task.buffer "y" activation : !x
  %z = task.buffer "z" activation : !x
  task.kernel "einsum" ins(%x, %dy : !x, !x) outs(%dw : !w) {equation = "si,so->io"} micro
  task.kernel "accumulate" ins(%dw, %sum : !w, !w) outs(%sum : !w) {} micro
  task.kernel "einsum" ins(%x, %dy : !x, !x) outs(%y : !x) {equation = "si,so->io"} micro {phase = "backward"}
  task.kernel "add" ins(%y, %dy : !x, !x) outs(%z : !x) {} micro {phase = "backward"}
}

// -----
// Nor does a product join whose result another reads, that has an epilogue, or that is of another phase; nor a sum of what
// is no product.
// CHECK-LABEL: task.program @apart
// CHECK-COUNT-3: task.kernel "einsum"
// CHECK-NOT: accumulate_einsum
!x = !task.buffer<tensor<4x4xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @apart on #weft.placement<"cuda", [], [0]> micro_batches(2) {
  %x = task.buffer "x" input : !x
  %1 = task.buffer "1" activation : !x
  %2 = task.buffer "2" activation : !x
  %3 = task.buffer "3" activation : !x
  %4 = task.buffer "4" activation : !x
  %y = task.buffer "y" activation : !x
  %b = task.buffer "b" activation : !b
  %s1 = task.buffer "s1" gradient : !x
  %s2 = task.buffer "s2" gradient : !x
  %s3 = task.buffer "s3" gradient : !x
  %s4 = task.buffer "s4" gradient : !x
  task.kernel "einsum" ins(%x, %x : !x, !x) outs(%1 : !x) {equation = "si,so->io"} micro
  task.kernel "neg" ins(%1 : !x) outs(%y : !x) {} micro
  task.kernel "accumulate" ins(%1, %s1 : !x, !x) outs(%s1 : !x) {} micro
  task.kernel "einsum" ins(%x, %y : !x, !x) outs(%2, %b : !x, !b) {epilogue = "sum_rhs", equation = "si,so->io"} micro
  task.kernel "accumulate" ins(%2, %s2 : !x, !x) outs(%s2 : !x) {} micro
  task.kernel "einsum" ins(%x, %x : !x, !x) outs(%3 : !x) {equation = "si,so->io"} micro {phase = "weight"}
  task.kernel "accumulate" ins(%3, %s3 : !x, !x) outs(%s3 : !x) {} micro {phase = "backward"}
  task.kernel "neg" ins(%x : !x) outs(%4 : !x) {} micro
  task.kernel "accumulate" ins(%4, %s4 : !x, !x) outs(%s4 : !x) {} micro
}

// -----
// The product stays where it is, before the rest of the backward: behind that its operands would be in memory until then.
// CHECK-LABEL: task.program @in_its_layer
// CHECK: task.kernel "accumulate_einsum"
// CHECK: task.kernel "gelu"
// CHECK-NOT: task.kernel
// CHECK: }
!x = !task.buffer<tensor<4x4xbf16, #weft.sbp<>>>
!w = !task.buffer<tensor<4x4xf32, #weft.sbp<>>>
task.program @in_its_layer on #weft.placement<"cuda", [], [0]> micro_batches(2) {
  %x = task.buffer "x" input : !x
  %dy = task.buffer "dy" input : !x
  %dw = task.buffer "dw" activation : !w
  task.kernel "einsum" ins(%x, %dy : !x, !x) outs(%dw : !w) {equation = "si,so->io"} micro {phase = "backward"}
  %dx = task.buffer "dx" output : !x
  task.kernel "gelu" ins(%dy : !x) outs(%dx : !x) {} micro {phase = "backward"}
  %sum = task.buffer "sum" gradient : !w
  task.kernel "accumulate" ins(%dw, %sum : !w, !w) outs(%sum : !w) {} micro {phase = "backward"}
}

// -----
// Products that are added up, as those of the parts of a loss's rows: the first adds to the sum over the micro-batches, the
// others to what it makes, each by a view of the sum, and the last of these is what others read.
// CHECK-LABEL: task.program @chain
// CHECK: %[[S:.*]] = task.buffer "sum" gradient
// CHECK-NOT: task.buffer
// CHECK: task.kernel "accumulate_einsum" ins(%{{.*}}, %{{.*}}, %[[S]] : {{.*}}) outs(%[[S]] :
// CHECK: %[[V1:.*]] = task.alias %[[S]]
// CHECK-NEXT: task.kernel "einsum" ins(%{{.*}}, %{{.*}}, %[[S]] : {{.*}}) outs(%[[V1]] : {{.*}}) {epilogue = "add"
// CHECK: %[[V2:.*]] = task.alias %[[S]]
// CHECK-NEXT: task.kernel "einsum" ins(%{{.*}}, %{{.*}}, %[[V1]] : {{.*}}) outs(%[[V2]] : {{.*}}) {epilogue = "add"
// CHECK: task.kernel "neg" ins(%[[V2]] :
!x = !task.buffer<tensor<4x4xbf16, #weft.sbp<>>>
!w = !task.buffer<tensor<4x4xf32, #weft.sbp<>>>
task.program @chain on #weft.placement<"cuda", [], [0]> micro_batches(2) {
  %x = task.buffer "x" input : !x
  %dy = task.buffer "dy" input : !x
  %sum = task.buffer "sum" gradient : !w
  %a = task.buffer "a" activation : !w
  task.kernel "einsum" ins(%x, %dy : !x, !x) outs(%a : !w) {equation = "si,so->io"} micro {phase = "backward"} cost [64.0, 0.0, 128.0]
  %b = task.buffer "b" activation : !w
  task.kernel "einsum" ins(%x, %dy : !x, !x) outs(%b : !w) {equation = "si,so->io"} micro {phase = "backward"} cost [64.0, 0.0, 128.0]
  %ab = task.buffer "ab" activation : !w
  task.kernel "add" ins(%a, %b : !w, !w) outs(%ab : !w) {} micro in_place [0] {phase = "backward"} cost [0.0, 16.0, 192.0]
  %c = task.buffer "c" activation : !w
  task.kernel "einsum" ins(%x, %dy : !x, !x) outs(%c : !w) {equation = "si,so->io"} micro {phase = "backward"} cost [64.0, 0.0, 128.0]
  %abc = task.buffer "abc" activation : !w
  task.kernel "add" ins(%ab, %c : !w, !w) outs(%abc : !w) {} micro in_place [0] {phase = "backward"} cost [0.0, 16.0, 192.0]
  task.kernel "accumulate" ins(%abc, %sum : !w, !w) outs(%sum : !w) {} micro {phase = "backward"} cost [0.0, 16.0, 192.0]
  %n = task.buffer "n" gradient : !w
  task.kernel "neg" ins(%sum : !w) outs(%n : !w) {} step
}

// -----
// The rows of a table add to what the head's product has made of its gradient, and so to the sum over the micro-batches; they
// are read and written, the table is not. With two micro-batches under way they add to the product's result alone.
// TURNS-LABEL: task.program @tied
// TURNS: task.kernel "einsum"
// TURNS: task.kernel "embedding_grad" {{.*}} {epilogue = "add"
// TURNS: task.kernel "accumulate"
// CHECK-LABEL: task.program @tied
// CHECK: %[[S:.*]] = task.buffer "sum" gradient
// CHECK: task.kernel "accumulate_einsum" ins(%{{.*}}, %{{.*}}, %[[S]] : {{.*}}) outs(%[[S]] :
// CHECK: %[[V:.*]] = task.alias %[[S]]
// CHECK-NEXT: task.kernel "embedding_grad" ins(%{{.*}}, %{{.*}}, %[[S]] : {{.*}}) outs(%[[V]] : {{.*}}) {epilogue = "add", vocab = 64 : i64} micro in_place [2] {phase = "backward"} cost [0.000000e+00, 8.000000e+00, 1.040000e+02]
// CHECK-NOT: task.kernel
// CHECK: }
!i = !task.buffer<tensor<2xi32, #weft.sbp<>>>
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!t = !task.buffer<tensor<64x4xf32, #weft.sbp<>>>
!l = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
task.program @tied on #weft.placement<"cuda", [], [0]> micro_batches(2) {
  %ids = task.buffer "ids" input : !i
  %x = task.buffer "x" input : !x
  %dl = task.buffer "dl" input : !l
  %dx = task.buffer "dx" input : !x
  %head = task.buffer "head" activation : !t
  task.kernel "einsum" ins(%dl, %x : !l, !x) outs(%head : !t) {equation = "sv,sh->vh"} micro {phase = "backward"} cost [4096.0, 0.0, 1568.0]
  %rows = task.buffer "rows" activation : !t
  task.kernel "embedding_grad" ins(%ids, %dx : !i, !x) outs(%rows : !t) {vocab = 64 : i64} micro {phase = "backward"} cost [0.0, 8.0, 1064.0]
  %both = task.buffer "both" activation : !t
  task.kernel "add" ins(%head, %rows : !t, !t) outs(%both : !t) {} micro in_place [0] {phase = "backward"} cost [0.0, 0.0, 3072.0]
  %sum = task.buffer "sum" gradient : !t
  task.kernel "accumulate" ins(%both, %sum : !t, !t) outs(%sum : !t) {} micro {phase = "backward"} cost [0.0, 256.0, 3072.0]
}

// -----
// On the host they add to the product's result alone, which then is added to the sum: in the order of two kernels.
// CHECK-LABEL: task.program @tied_on_the_host
// CHECK: task.kernel "einsum"
// CHECK: task.kernel "embedding_grad" {{.*}} {epilogue = "add"
// CHECK: task.kernel "accumulate"
!i = !task.buffer<tensor<2xi32, #weft.sbp<>>>
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!t = !task.buffer<tensor<64x4xf32, #weft.sbp<>>>
!l = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
task.program @tied_on_the_host on #weft.placement<"cpu", [], [0]> micro_batches(2) {
  %ids = task.buffer "ids" input : !i
  %x = task.buffer "x" input : !x
  %dl = task.buffer "dl" input : !l
  %dx = task.buffer "dx" input : !x
  %head = task.buffer "head" activation : !t
  task.kernel "einsum" ins(%dl, %x : !l, !x) outs(%head : !t) {equation = "sv,sh->vh"} micro {phase = "backward"}
  %rows = task.buffer "rows" activation : !t
  task.kernel "embedding_grad" ins(%ids, %dx : !i, !x) outs(%rows : !t) {vocab = 64 : i64} micro {phase = "backward"}
  %both = task.buffer "both" activation : !t
  task.kernel "add" ins(%head, %rows : !t, !t) outs(%both : !t) {} micro in_place [0] {phase = "backward"}
  %sum = task.buffer "sum" gradient : !t
  task.kernel "accumulate" ins(%both, %sum : !t, !t) outs(%sum : !t) {} micro {phase = "backward"}
}

// -----
// A table of its own has its rows added to their sum, which the first of two micro-batches fills.
// CHECK-LABEL: task.program @untied
// CHECK: task.kernel "accumulate_embedding_grad" ins(%{{.*}}, %{{.*}}, %[[S:.*]] : {{.*}}) outs(%[[S]] : {{.*}}) {vocab = 64 : i64} micro {phase = "backward"} cost [0.000000e+00, 2.640000e+02, 6.160000e+02]
// CHECK-NOT: task.kernel
// CHECK: }
!i = !task.buffer<tensor<2xi32, #weft.sbp<>>>
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!t = !task.buffer<tensor<64x4xf32, #weft.sbp<>>>
task.program @untied on #weft.placement<"cuda", [], [0]> micro_batches(2) {
  %ids = task.buffer "ids" input : !i
  %dx = task.buffer "dx" input : !x
  %rows = task.buffer "rows" activation : !t
  task.kernel "embedding_grad" ins(%ids, %dx : !i, !x) outs(%rows : !t) {vocab = 64 : i64} micro {phase = "backward"} cost [0.0, 8.0, 1064.0]
  %sum = task.buffer "sum" gradient : !t
  task.kernel "accumulate" ins(%rows, %sum : !t, !t) outs(%sum : !t) {} micro {phase = "backward"} cost [0.0, 256.0, 3072.0]
}
