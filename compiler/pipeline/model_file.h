// Model files, read to be compiled.
#ifndef WEFT_COMPILER_PIPELINE_MODEL_FILE_H_
#define WEFT_COMPILER_PIPELINE_MODEL_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/pipeline/diagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace weft::compiler {

/// A parsed file, and the context that it lives in, which knows what a model file may hold. The first error of the
/// context is printed with its line.
class ModelFile {
public:
  /// kNotFound without such a file; kInvalidArgument if it does not parse, without a message if that was printed.
  static absl::StatusOr<std::unique_ptr<ModelFile>> read(const std::string &path);

  mlir::ModuleOp module() { return *module_; }
  const FirstError &errors() const { return errors_; }

private:
  explicit ModelFile(const std::string &path, const std::string &text);

  std::unique_ptr<mlir::MLIRContext> context_;
  llvm::SourceMgr sources_;
  FirstError errors_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_MODEL_FILE_H_
