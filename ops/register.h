// The whole vocabulary: the `weft` dialect with the ops of every family.
#ifndef WEFT_OPS_REGISTER_H_
#define WEFT_OPS_REGISTER_H_

#include "mlir/IR/Dialect.h"

namespace weft::ir {

/// Makes the dialect, with every family's ops, available to the contexts made from `registry`.
void registerWeftDialect(mlir::DialectRegistry &registry);

} // namespace weft::ir

#endif // WEFT_OPS_REGISTER_H_
