// What is followed by a function that calls itself has an end: parentheses within each other, configs in a row, layers
// in a row.
// RUN: not weft-opt %s 2>&1 | FileCheck %s
// CHECK: config_deep.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}expression: expected at most 64 parentheses within each other, got more
model.config @a = (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

// RUN: awk 'BEGIN { print "model.config @a = 1" }' > %t.one
// RUN: not weft-opt %t.one --weft-elaborate-config=set=a=(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))) 2>&1 | FileCheck %s --check-prefix=SET
// SET: error: set: a: expected at most 64 parentheses within each other, got more

// RUN: awk 'BEGIN { for (i = 0; i < 64; ++i) printf "model.config @c%d = c%d + 1\n", i, i + 1; print "model.config @c64 = 0" }' > %t.row
// RUN: not weft-opt %t.row --weft-elaborate-config 2>&1 | FileCheck %s --check-prefix=ROW
// ROW: :65:1: error: config @c64: expected at most 64 configs that use one another in a row, got more

// RUN: awk 'BEGIN { for (i = 1; i < 64; ++i) printf "model.config @c%d = c%d + 1\n", i, i + 1; print "model.config @c64 = 0" }' > %t.fits
// RUN: weft-opt %t.fits --weft-elaborate-config | FileCheck %s --check-prefix=FITS
// FITS: @c1 = 63
