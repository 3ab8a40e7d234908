// Batch normalisation of the `weft` dialect.
#ifndef WEFT_OPS_BATCH_NORM_OPS_H_
#define WEFT_OPS_BATCH_NORM_OPS_H_

#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/batch_norm/ops.h.inc"

#endif // WEFT_OPS_BATCH_NORM_OPS_H_
