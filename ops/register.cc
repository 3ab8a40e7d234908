#include "ops/register.h"

#include "ops/dialect/weft.h"

namespace weft::ir {

#define WEFT_FAMILY(name, Name) void register##Name##Ops(mlir::DialectRegistry &registry);
#include "ops/families.inc"
#undef WEFT_FAMILY

void registerWeftDialect(mlir::DialectRegistry &registry) {
  registry.insert<WeftDialect>();
#define WEFT_FAMILY(name, Name) register##Name##Ops(registry);
#include "ops/families.inc"
#undef WEFT_FAMILY
}

} // namespace weft::ir
