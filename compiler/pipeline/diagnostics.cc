#include "compiler/pipeline/diagnostics.h"

#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Location.h"

namespace weft::compiler {

FirstError::FirstError(llvm::SourceMgr &sources, mlir::MLIRContext *context)
    : printer(sources, context), filter(context, [this](mlir::Diagnostic &diagnostic) { return handle(diagnostic); }) {}

// Failure hands the diagnostic on to the printer.
llvm::LogicalResult FirstError::handle(mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) {
    return mlir::failure();
  }
  if (seen) {
    return mlir::success();
  }
  seen = true;
  auto place = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation());
  if (!place || place.getLine() != 0) {
    return mlir::failure();
  }
  llvm::errs() << place.getFilename().getValue() << ": error: " << diagnostic << '\n';
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    printer.emitDiagnostic(note.getLocation(), note.str(), note.getSeverity());
  }
  return mlir::success();
}

} // namespace weft::compiler
