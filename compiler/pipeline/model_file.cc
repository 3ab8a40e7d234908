#include "compiler/pipeline/model_file.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "compiler/dialect/model/model.h"
#include "compiler/dialect/task/task.h"
#include "mlir/Parser/Parser.h"
#include "ops/abi/status_macros.h"
#include "ops/register.h"
#include "runtime/plan/read_file.h"

namespace weft::compiler {
namespace {

// A context that knows what a model file may hold.
std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  ir::registerWeftDialect(registry);
  registry.insert<model::ModelDialect, task::TaskDialect>();
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false); // errors show the line of the model file instead
  return context;
}

} // namespace

absl::StatusOr<std::unique_ptr<ModelFile>> ModelFile::read(const std::string &path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) {
    return absl::NotFoundError(absl::StrCat(path, ": expected a model file, found none"));
  }
  WEFT_ASSIGN_OR_RETURN(const std::string text, plan::ReadText(path));
  std::unique_ptr<ModelFile> file(new ModelFile(path, text));
  file->module_ = mlir::parseSourceFile<mlir::ModuleOp>(file->sources_, file->context_.get());
  if (!file->module_) {
    return absl::InvalidArgumentError(file->errors_.printed() ? "" : absl::StrCat(path, ": does not parse"));
  }
  return file;
}

ModelFile::ModelFile(const std::string &path, const std::string &text)
    : context_(makeContext()), errors_(sources_, context_.get()) {
  sources_.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, path), llvm::SMLoc());
}

} // namespace weft::compiler
