// Ops of the `weft` dialect that take rows by their numbers and put them back.
#ifndef WEFT_OPS_GATHER_OPS_H_
#define WEFT_OPS_GATHER_OPS_H_

#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/gather/ops.h.inc"

#endif // WEFT_OPS_GATHER_OPS_H_
