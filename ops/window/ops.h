// Ops of the `weft` dialect whose windows slide over a tensor.
#ifndef WEFT_OPS_WINDOW_OPS_H_
#define WEFT_OPS_WINDOW_OPS_H_

#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/window/ops.h.inc"

#endif // WEFT_OPS_WINDOW_OPS_H_
