// An import under names of its own, and a layer of it that is another one here.
// RUN: weft-opt %s --weft-elaborate-imports | FileCheck %s
// RUN: weft-opt %s --weft-elaborate-imports --weft-elaborate-config="set=a.leaf_size=5 batch=4" --weft-elaborate-instantiate | FileCheck %s --check-prefix=PLACED

// What the file imports is under its name too; a parameter hides the config, and `batch` is everybody's.
// CHECK: model.layer @a.side(%x) [by] {
// CHECK: model.config @a.leaf_size = 3
// CHECK: model.layer @a.leaf(%x)
// CHECK: model.config @a.width = 2 * a.leaf_size
// CHECK-NOT: model.layer @a.side
// CHECK: model.layer @a.tower(%x) {
// CHECK:   model.call @a.leaf (%x)
// CHECK:   model.call @a.side (%{{.*}}) [a.width + batch]
// CHECK: model.config @b.leaf_size = 3
// CHECK: model.layer @b.side(%x) [width] {
// CHECK:   weft.scale %x by(width)
// CHECK: model.call @b.side (%{{.*}}) [b.width + batch]
model.layer override @a.side(%x) [by] {
  %0 = weft.add_scalar %x by(by)
  model.return %0
}
model.import "files/tower.mlir" as "a"
model.import "files/tower.mlir" as "b"

// PLACED: weft.add_scalar %{{.*}} by(14)
// PLACED: weft.scale %{{.*}} by(10)
model.graph @g(%x [2] f32) {
  %0 = model.call @a.tower (%x)
  %1 = model.call @b.tower (%0)
  weft.output "y" %1
}
