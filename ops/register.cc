#include "ops/register.h"

#include "ops/dialect/weft.h"
#include "ops/family_ops.h"

namespace weft::ir {

void registerWeftDialect(mlir::DialectRegistry &registry) {
  registry.insert<WeftDialect>();
  registry.addExtension(+[](mlir::MLIRContext *, WeftDialect *dialect) {
#include "ops/family_ops.inc"
  });
}

} // namespace weft::ir
