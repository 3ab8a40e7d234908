// A model file as the phases take it.
#ifndef WEFT_COMPILER_PIPELINE_MODEL_SOURCE_H_
#define WEFT_COMPILER_PIPELINE_MODEL_SOURCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "compiler/pipeline/diagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/plan/job.pb.h"

namespace weft::compiler {

/// A context that knows what a model file may hold.
std::unique_ptr<mlir::MLIRContext> makeModelContext();

/// The parsed file of a job, in a context of its own. While it lives, the first error of this context is printed to
/// standard error, with its line. For one thread.
class ModelSource {
public:
  /// Of a job with paths as seen from here. NotFound without such a file; InvalidArgument, whose message is empty if an
  /// error was printed, for one that does not parse.
  static absl::StatusOr<std::unique_ptr<ModelSource>> read(const Job &job);

  /// Of a text, which errors call `file`. As read().
  static absl::StatusOr<std::unique_ptr<ModelSource>> parse(const std::string &file, std::string text);

  /// Whether `text` parses as the same module, lines and comments aside; kInternal if not.
  absl::Status isSame(const std::string &text);

  mlir::ModuleOp module() { return *module_; }

  /// The status of a model that does not compile. Where no error was printed at a line of the model, it says `what`.
  absl::Status wrong(llvm::StringRef what) const;

private:
  ModelSource(const std::string &file, std::string text);

  std::string file_;
  std::unique_ptr<mlir::MLIRContext> context_;
  llvm::SourceMgr sources_;
  FirstError errors_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_MODEL_SOURCE_H_
