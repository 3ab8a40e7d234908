// RUN: not weft-opt %s --weft-elaborate-instantiate 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt %s --weft-elaborate-instantiate=graph=test 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: echo 'model.config @a = 1' | not weft-opt --weft-elaborate-instantiate 2>&1 | FileCheck %s --check-prefix=EMPTY
// NONE: error: graph: expected train or logits, got none
// OTHER: error: graph: expected train or logits, got test
// EMPTY: error: graph: expected a model.graph in the file, got none
model.graph @train() {}
model.graph @logits() {}
