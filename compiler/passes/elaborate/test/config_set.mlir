// What the job may not set.
// RUN: not weft-opt %s --weft-elaborate-config="set=hiden=64 batch=4" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: set: unknown config hiden: expected hidden or heads{{$}}
// RUN: not weft-opt %s --weft-elaborate-config="set=hidden" 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: set: expected name=expression, got "hidden"
// RUN: not weft-opt %s --weft-elaborate-config="set=hidden=64x" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: config_set.mlir:[[#@LINE+5]]:1: error: set: hidden: "64x": expected an operator or the end, got x
// RUN: not weft-opt %s --weft-elaborate-config="set=hidden=64+" 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: set: hidden: "64+": expected a number, a name or a parenthesis, got the end
// RUN: not weft-opt %s --weft-elaborate-config="set=hidden=+" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: set: hidden: "+": expected a number, a name or a parenthesis, got +
model.config @hidden = 64
model.config @heads = 4
