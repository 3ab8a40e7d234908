#include "ops/dialect/register.h"

#include "ops/activation/ops.h"
#include "ops/dialect/weft.h"
#include "ops/einsum/ops.h"
#include "ops/elementwise/ops.h"
#include "ops/layout/ops.h"
#include "ops/norm/ops.h"
#include "ops/reduce/ops.h"
#include "ops/softmax/ops.h"

namespace weft::ir {

void registerWeftDialect(mlir::DialectRegistry &registry) {
  registry.insert<WeftDialect>();
  registerActivationOps(registry);
  registerEinsumOps(registry);
  registerElementwiseOps(registry);
  registerLayoutOps(registry);
  registerNormOps(registry);
  registerReduceOps(registry);
  registerSoftmaxOps(registry);
}

} // namespace weft::ir
