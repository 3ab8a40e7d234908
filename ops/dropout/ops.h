// Dropout of the `weft` dialect.
#ifndef WEFT_OPS_DROPOUT_OPS_H_
#define WEFT_OPS_DROPOUT_OPS_H_

#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/dropout/ops.h.inc"

namespace weft::ir {

/// Adds the family's ops to the dialect of every context made from `registry`.
void registerDropoutOps(mlir::DialectRegistry &registry);

} // namespace weft::ir

#endif // WEFT_OPS_DROPOUT_OPS_H_
