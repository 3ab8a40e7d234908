// From kernels in MLIR to those in LLVM's language.
#ifndef WEFT_COMPILER_CODEGEN_LOWERING_H_
#define WEFT_COMPILER_CODEGEN_LOWERING_H_

#include <memory>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "mlir/IR/BuiltinOps.h"

namespace weft::compiler {

/// An empty module, whose context knows all that kernels are made of.
mlir::OwningOpRef<mlir::ModuleOp> kernelModule(mlir::MLIRContext &context);

/// What a processor is to LLVM: "x86_64-unknown-linux-gnu", "x86-64", "".
struct Processor {
  const char *triple, *name, *features;
};
/// With the rounding that numbers have: no product and sum becomes one operation.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machineFor(const Processor &processor);

/// The functions of a module of kernelModule(), for a machine, optimized.
absl::StatusOr<std::unique_ptr<llvm::Module>> lowered(mlir::ModuleOp module, llvm::TargetMachine &machine,
                                                      llvm::LLVMContext &context);

/// A file of that kind, in bytes.
absl::StatusOr<std::string> emitted(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type);

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_LOWERING_H_
