#include "compiler/codegen/plan_code.h"

#include "compiler/codegen/object.h"
#include "compiler/codegen/ptx.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "ops/abi/status_macros.h"
#include "runtime/code/levels.h"
#include "runtime/plan/devices.h"

namespace weft::compiler {

absl::Status addCode(plan::Plan &plan) {
  if (plan.code().source().empty()) {
    return absl::OkStatus();
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<cell::CellDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(plan.code().source(), mlir::ParserConfig(&context), "generated kernels");
  if (!module) {
    return absl::InternalError("generated kernels: expected MLIR that parses");
  }
  const auto kernels = llvm::to_vector(module->getOps<cell::KernelOp>());
  const bool onHost = plan::IsHost(plan.header().target());
  WEFT_ASSIGN_OR_RETURN(std::string object, onHost ? hostObjectOf(kernels) : gpuCodeOf(kernels));
  plan.mutable_code()->set_target(onHost ? code::kHostTarget : code::kGpuTarget);
  plan.mutable_code()->set_object(std::move(object));
  return absl::OkStatus();
}

} // namespace weft::compiler
