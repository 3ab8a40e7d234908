#include "ops/dialect/register.h"

#include "ops/dialect/weft.h"
#include "ops/attention/ops.h"
#include "ops/dropout/ops.h"
#include "ops/embedding/ops.h"
#include "ops/optimizer/ops.h"
#include "ops/random/ops.h"

namespace weft::ir {

void registerWeftDialect(mlir::DialectRegistry &registry) {
  registry.insert<WeftDialect>();
  registerAttentionOps(registry);
  registerDropoutOps(registry);
  registerEmbeddingOps(registry);
  registerOptimizerOps(registry);
  registerRandomOps(registry);
}

} // namespace weft::ir
