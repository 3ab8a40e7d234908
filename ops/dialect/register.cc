#include "ops/dialect/register.h"

#include "ops/dialect/weft.h"

namespace weft::ir {

void registerWeftDialect(mlir::DialectRegistry &registry) {
  registry.insert<WeftDialect>();
}

} // namespace weft::ir
