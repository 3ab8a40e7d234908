// The op of the `weft` dialect that keeps padding at a number.
#ifndef WEFT_OPS_PADDING_OPS_H_
#define WEFT_OPS_PADDING_OPS_H_

#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/padding/ops.h.inc"

#endif // WEFT_OPS_PADDING_OPS_H_
