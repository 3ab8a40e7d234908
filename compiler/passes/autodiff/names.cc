#include "compiler/passes/autodiff/names.h"

#include "llvm/Support/Regex.h"

namespace weft::compiler {

llvm::FailureOr<llvm::SmallVector<ir::ParameterOp>>
fitting(llvm::StringRef key, llvm::StringRef pattern, llvm::ArrayRef<ir::ParameterOp> parameters, ir::GraphOp graph) {
  llvm::Regex whole(("^(" + pattern + ")$").str());
  if (std::string error; !whole.isValid(error)) {
    return graph.emitError() << key << ": expected a regular expression, got " << pattern << ": " << error;
  }
  llvm::SmallVector<ir::ParameterOp> found;
  llvm::copy_if(parameters, std::back_inserter(found),
                [&](ir::ParameterOp parameter) { return whole.match(parameter.getName()); });
  if (found.empty()) {
    auto error = graph.emitError() << key << ": expected a regular expression that fits a trained parameter, got "
                                   << pattern << ", which fits none";
    if (!parameters.empty()) {
      ir::ParameterOp first = parameters.front();
      error << "; the first of " << parameters.size() << " is " << first.getName();
    }
    return error;
  }
  return found;
}

} // namespace weft::compiler
