// How errors of a model reach the person who wrote it.
#ifndef WEFT_COMPILER_PIPELINE_DIAGNOSTICS_H_
#define WEFT_COMPILER_PIPELINE_DIAGNOSTICS_H_

#include "llvm/Support/SourceMgr.h"
#include "mlir/IR/Diagnostics.h"

namespace weft::compiler {

/// What MLIR's parser says, in the words of a model file; `rest` is the line from where it says so, without the spaces
/// before it. Empty: there is nothing better to say.
std::string inOurWords(llvm::StringRef text, llvm::StringRef rest, mlir::MLIRContext *context);

/// While it lives, prints the first error of `context` to standard error with its line and its notes. Errors
/// after it are mostly its consequences and are dropped. An error about a whole file has no line to show, and a line of
/// a thousand letters is not shown.
/// Does not own `sources` and `context`. For one thread.
class FirstError {
public:
  FirstError(llvm::SourceMgr &sources, mlir::MLIRContext *context);

  /// True once an error was printed.
  bool printed() const { return seen; }

private:
  llvm::LogicalResult handle(mlir::Diagnostic &diagnostic);

  bool seen = false;
  mlir::SourceMgrDiagnosticHandler printer;
  mlir::ScopedDiagnosticHandler filter; // asked before the printer
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_DIAGNOSTICS_H_
