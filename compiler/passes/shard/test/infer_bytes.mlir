// RUN: weft-opt %s --weft-shard-infer | FileCheck %s

// To place both tiles among zeros, and to add up what ranks have of the two joined, would be one collective instead of
// two. But none adds up bytes.
// CHECK-LABEL: weft.graph @bytes
// CHECK-NOT: xi8, #weft.sbp<P>
// CHECK: weft.concat {{.*}} -> tensor<1x2x63xi8, #weft.sbp<B>>
// CHECK-NOT: xi8, #weft.sbp<P>
#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
weft.graph @bytes("x" %x: tensor<1x2x63xi8>, "y" %y: tensor<1x2x63xi8>) placements [#mesh] {
  %0 = weft.slice %x dim(1) from(0) size(1) : (tensor<1x2x63xi8>) -> tensor<1x1x63xi8>
  %1 = weft.slice %y dim(1) from(0) size(1) : (tensor<1x2x63xi8>) -> tensor<1x1x63xi8>
  %2 = weft.concat %0, %1 dim(1) : (tensor<1x1x63xi8>, tensor<1x1x63xi8>) -> tensor<1x2x63xi8>
  %3 = weft.cast %2 to f32 : (tensor<1x2x63xi8>) -> tensor<1x2x63xf32>
  %4 = weft.exp %3 : (tensor<1x2x63xf32>) -> tensor<1x2x63xf32>
  weft.output "z" %4 : (tensor<1x2x63xf32>)
}
