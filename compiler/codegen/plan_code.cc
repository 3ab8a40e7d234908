#include "compiler/codegen/plan_code.h"

#include "compiler/codegen/object.h"
#include "compiler/codegen/ptx.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "ops/abi/status_macros.h"
#include "runtime/code/levels.h"
#include "runtime/plan/devices.h"

namespace weft::compiler {

namespace {

absl::Status compile(bool onHost, plan::Code &code) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<cell::CellDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(code.source(), mlir::ParserConfig(&context), "generated kernels");
  if (!module) {
    return absl::InternalError("generated kernels: expected MLIR that parses");
  }
  const auto kernels = llvm::to_vector(module->getOps<cell::KernelOp>());
  WEFT_ASSIGN_OR_RETURN(std::string object, onHost ? hostObjectOf(kernels) : gpuCodeOf(kernels));
  code.set_target(onHost ? code::kHostTarget : code::kGpuTarget);
  code.set_object(std::move(object));
  return absl::OkStatus();
}

} // namespace

absl::Status addCode(plan::Plan &plan) {
  if (!plan.code().source().empty()) {
    WEFT_RETURN_IF_ERROR(compile(plan::IsHost(plan.header().target()), *plan.mutable_code()));
  }
  return plan.host_code().source().empty() ? absl::OkStatus() : compile(/*onHost=*/true, *plan.mutable_host_code());
}

} // namespace weft::compiler
