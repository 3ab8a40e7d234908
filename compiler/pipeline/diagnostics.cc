#include "compiler/pipeline/diagnostics.h"

#include "compiler/words/nearest.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/plan/read_file.h"

namespace weft::compiler {
namespace {

using llvm::StringRef;

// A line that nobody wants to see under an error.
constexpr size_t kLongLine = 1000;

// The line of a file that `place` is in; empty if there is none.
std::string lineOf(mlir::FileLineColLoc place) {
  const absl::StatusOr<std::string> text = plan::ReadText(place.getFilename().str());
  if (!text.ok()) {
    return "";
  }
  StringRef rest = *text;
  for (unsigned line = 1; line < place.getLine(); ++line) {
    rest = rest.split('\n').second;
  }
  return rest.split('\n').first.str();
}

// The op that was meant, by its word behind the dialect: `relu` and `weft.rellu` are weft.relu, `return` is
// model.return.
std::string unknownOp(StringRef name, mlir::MLIRContext *context) {
  const std::string word = name.substr(name.rfind('.') + 1).str(); // all of it without a dot
  std::vector<std::string> words, ops;
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations()) {
    auto [dialect, known] = op.getStringRef().split('.');
    if (dialect == "weft" || dialect == "model") {
      words.push_back(known.str());
      ops.push_back(op.getStringRef().str());
    }
  }
  const std::string nearest = Nearest(word, words);
  const std::string meant = nearest.empty() ? "" : ops[llvm::find(words, nearest) - words.begin()];
  const std::string what = "unknown op " + name.str() + ": expected ";
  if (nearest == word) {
    return what + meant;
  }
  return what + "one of weft or model, such as weft.add" + (meant.empty() ? "" : "; did you mean " + meant + "?");
}

} // namespace

std::string inOurWords(StringRef text, StringRef rest, mlir::MLIRContext *context) {
  if (text.contains("custom op '") && (text.contains("unknown") || text.contains("not found"))) {
    return unknownOp(text.split("custom op '").second.split('\'').first, context);
  }
  if (rest.starts_with("#")) {
    return "expected an op, got #: a comment begins with //";
  }
  const bool isOperator = !rest.empty() && StringRef("+-*/").contains(rest[0]);
  if ((isOperator && (text.starts_with("expected operation name") || text == "expected ','")) ||
      (rest.starts_with("%") && text.starts_with("expected operation name"))) {
    return "expected an op, got an operator: write %z = weft.add %x, %y, or weft.sub, weft.mul, weft.div";
  }
  return "";
}

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
  if (!place) {
    return mlir::failure();
  }
  const std::string line = place.getLine() == 0 ? "" : lineOf(place);
  if (place.getLine() != 0 && line.size() <= kLongLine) {
    StringRef rest = StringRef(line).drop_front(std::min<size_t>(std::max(1u, place.getColumn()) - 1, line.size()));
    const std::string text = inOurWords(diagnostic.str(), rest.ltrim(), place.getContext());
    if (text.empty()) {
      return mlir::failure();
    }
    printer.emitDiagnostic(place, text, diagnostic.getSeverity());
    return mlir::success();
  }
  llvm::errs() << place.getFilename().getValue();
  if (place.getLine() != 0) {
    llvm::errs() << ':' << place.getLine() << ':' << place.getColumn();
  }
  llvm::errs() << ": error: " << diagnostic << '\n';
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    printer.emitDiagnostic(note.getLocation(), note.str(), note.getSeverity());
  }
  return mlir::success();
}

} // namespace weft::compiler
