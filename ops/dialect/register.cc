#include "ops/dialect/register.h"

#include "ops/dialect/weft.h"
#include "ops/elementwise/ops.h"
#include "ops/layout/ops.h"
#include "ops/reduce/ops.h"

namespace weft::ir {

void registerWeftDialect(mlir::DialectRegistry &registry) {
  registry.insert<WeftDialect>();
  registerElementwiseOps(registry);
  registerLayoutOps(registry);
  registerReduceOps(registry);
}

} // namespace weft::ir
