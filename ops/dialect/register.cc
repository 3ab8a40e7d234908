#include "ops/dialect/register.h"

#include "ops/activation/ops.h"
#include "ops/attention/ops.h"
#include "ops/dialect/weft.h"
#include "ops/dropout/ops.h"
#include "ops/einsum/ops.h"
#include "ops/elementwise/ops.h"
#include "ops/embedding/ops.h"
#include "ops/layout/ops.h"
#include "ops/loss/ops.h"
#include "ops/norm/ops.h"
#include "ops/optimizer/ops.h"
#include "ops/random/ops.h"
#include "ops/reduce/ops.h"
#include "ops/softmax/ops.h"

namespace weft::ir {

void registerWeftDialect(mlir::DialectRegistry &registry) {
  registry.insert<WeftDialect>();
  registerActivationOps(registry);
  registerAttentionOps(registry);
  registerDropoutOps(registry);
  registerEinsumOps(registry);
  registerElementwiseOps(registry);
  registerEmbeddingOps(registry);
  registerLayoutOps(registry);
  registerLossOps(registry);
  registerNormOps(registry);
  registerOptimizerOps(registry);
  registerRandomOps(registry);
  registerReduceOps(registry);
  registerSoftmaxOps(registry);
}

} // namespace weft::ir
