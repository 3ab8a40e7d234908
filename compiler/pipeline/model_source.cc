#include "compiler/pipeline/model_source.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "compiler/dialect/model/model.h"
#include "compiler/dialect/task/task.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Parser/Parser.h"
#include "ops/abi/status_macros.h"
#include "ops/register.h"
#include "runtime/plan/read_file.h"

namespace weft::compiler {
std::unique_ptr<mlir::MLIRContext> makeModelContext() {
  mlir::DialectRegistry registry;
  ir::registerWeftDialect(registry);
  registry.insert<model::ModelDialect, task::TaskDialect>();
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false); // errors show the line of the model file instead
  return context;
}

ModelSource::ModelSource(const std::string &file, std::string text)
    : file_(file), context_(makeModelContext()), errors_(sources_, context_.get()) {
  sources_.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, file), llvm::SMLoc());
  module_ = mlir::parseSourceFile<mlir::ModuleOp>(sources_, context_.get());
}

absl::StatusOr<std::unique_ptr<ModelSource>> ModelSource::read(const Job &job) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(job.model().file(), missing)) {
    return absl::NotFoundError(absl::StrCat(job.model().file(), ": expected a model file, found none"));
  }
  WEFT_ASSIGN_OR_RETURN(std::string text, plan::ReadText(job.model().file()));
  return parse(job.model().file(), std::move(text));
}

absl::StatusOr<std::unique_ptr<ModelSource>> ModelSource::parse(const std::string &file, std::string text) {
  std::unique_ptr<ModelSource> source(new ModelSource(file, std::move(text)));
  if (!source->module_) {
    return source->wrong("does not parse");
  }
  return source;
}

absl::Status ModelSource::isSame(const std::string &text) {
  const mlir::OwningOpRef<mlir::ModuleOp> other =
      mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(context_.get()), file_);
  const bool same = other && mlir::OperationEquivalence::isEquivalentTo(*module_, *other,
                                                                        mlir::OperationEquivalence::IgnoreLocations);
  return same ? absl::OkStatus() : absl::InternalError(absl::StrCat(file_, ": expected the same model, got another"));
}

absl::Status ModelSource::wrong(llvm::StringRef what) const {
  return absl::InvalidArgumentError(errors_.printed() ? "" : absl::StrCat(file_, ": ", what.str()));
}

} // namespace weft::compiler
