#include "compiler/codegen/ptx.h"

#include "absl/strings/str_cat.h"
#include "compiler/codegen/lowering.h"
#include "compiler/codegen/nvidia.h"
#include "ops/abi/status_macros.h"
#include "runtime/code/levels.h"

namespace weft::compiler {

absl::StatusOr<std::string> gpuCodeOf(llvm::ArrayRef<cell::KernelOp> kernels) {
  mlir::OwningOpRef<mlir::ModuleOp> module = kernelModule(*cell::KernelOp(kernels.front()).getContext());
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  for (cell::KernelOp kernel : kernels) {
    const Loops loops = *loopsOf(kernel);
    const std::string symbol = kernel.getSymName().str();
    emitNvidia(builder, kernel, loops, blocksOf(kernel, loops), symbol, absl::StrCat(symbol, code::kSums));
  }
  llvm::LLVMContext context;
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine,
                        machineFor({"nvptx64-nvidia-cuda", code::kGpuProcessor, code::kGpuFeatures}));
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> code, lowered(*module, *machine, context));
  return emitted(*code, *machine, llvm::CodeGenFileType::AssemblyFile);
}

} // namespace weft::compiler
