#include "ops/dialect/register.h"

#include "ops/attention/ops.h"
#include "ops/dialect/weft.h"
#include "ops/dropout/ops.h"
#include "ops/elementwise/ops.h"
#include "ops/embedding/ops.h"
#include "ops/layout/ops.h"
#include "ops/loss/ops.h"
#include "ops/optimizer/ops.h"
#include "ops/random/ops.h"
#include "ops/reduce/ops.h"

namespace weft::ir {

void registerWeftDialect(mlir::DialectRegistry &registry) {
  registry.insert<WeftDialect>();
  registerAttentionOps(registry);
  registerDropoutOps(registry);
  registerElementwiseOps(registry);
  registerEmbeddingOps(registry);
  registerLayoutOps(registry);
  registerLossOps(registry);
  registerOptimizerOps(registry);
  registerRandomOps(registry);
  registerReduceOps(registry);
}

} // namespace weft::ir
