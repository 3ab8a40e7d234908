// A module may say how many layers of a repeat are placed at most; it is told how many there are. What repeats within such
// a layer is whole, and so is what repeats no more often.
// RUN: weft-opt %s --weft-elaborate-config --weft-elaborate-instantiate | FileCheck %s

// CHECK: module attributes {weft.most_repeats = 2 : i64, weft.repeats = {h = 5 : i64, top.h = 4 : i64}}
module attributes {weft.most_repeats = 2 : i64} {
  model.config @layers = 5
  model.layer @inner(%x) {
    %0 = weft.exp %x
    model.return %0
  }
  model.layer @block(%x) {
    %0 = model.repeat 3 "e" @inner(%x)
    model.return %0
  }
  model.layer @tower(%x) {
    %0 = model.repeat 4 "h" @inner(%x)
    model.return %0
  }
  // CHECK:      weft.exp {{.*}} {scope = "h.0.e.0"}
  // CHECK-NEXT: weft.exp {{.*}} {scope = "h.0.e.1"}
  // CHECK-NEXT: weft.exp {{.*}} {scope = "h.0.e.2"}
  // CHECK-NEXT: weft.exp {{.*}} {scope = "h.1.e.0"}
  // CHECK-NEXT: weft.exp {{.*}} {scope = "h.1.e.1"}
  // CHECK-NEXT: weft.exp {{.*}} {scope = "h.1.e.2"}
  // CHECK-NEXT: weft.exp {{.*}} {scope = "few.0"}
  // CHECK-NEXT: weft.exp {{.*}} {scope = "few.1"}
  // CHECK-NEXT: weft.exp {{.*}} {scope = "top.h.0"}
  // CHECK-NEXT: weft.exp {{.*}} {scope = "top.h.1"}
  // CHECK-NEXT: weft.output
  model.graph @train(%x [2] f32) {
    %0 = model.repeat layers "h" @block(%x)
    %1 = model.repeat 2 "few" @inner(%0)
    %2 = model.call @tower "top" (%1)
    weft.output "y" %2
  }
}
