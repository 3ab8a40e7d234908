// Ops of the `weft` dialect that order elements by their values.
#ifndef WEFT_OPS_SORT_OPS_H_
#define WEFT_OPS_SORT_OPS_H_

#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/sort/ops.h.inc"

#endif // WEFT_OPS_SORT_OPS_H_
