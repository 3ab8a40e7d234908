// Expressions of model files: their values.
#ifndef WEFT_COMPILER_PASSES_ELABORATE_EXPRESSION_H_
#define WEFT_COMPILER_PASSES_ELABORATE_EXPRESSION_H_

#include "ops/dialect/weft.h"

namespace weft::compiler {

/// Emits the start of an error at the place the expression stands in.
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The names an expression may use. Values are I64 or F64 attributes, or an
/// ExprAttr whose text is an SBP state, or the name of a layer; a null value is one whose evaluation failed.
class Names {
public:
  virtual ~Names() = default;
  /// The value of a name, or nothing if it is unknown. Emits an error and
  /// gives null if it is known but has no value.
  virtual std::optional<mlir::Attribute> find(llvm::StringRef name) = 0;
  /// Every name, for the error about an unknown one.
  virtual llvm::SmallVector<llvm::StringRef> all() = 0;
};

/// The value of `text`, or null after an error.
mlir::Attribute evaluate(mlir::MLIRContext *context, llvm::StringRef text, Names &names, EmitError error);

/// `value` with every ExprAttr in it evaluated, or null after an error: a number, a list of whole
/// numbers, or with `fractions` of any, an initial value, or a dictionary of SBP states. Other attributes stay as they
/// are.
mlir::Attribute evaluateAll(mlir::Attribute value, Names &names, EmitError error, bool fractions = false);

/// "a, b or c", for errors.
std::string listOf(llvm::ArrayRef<llvm::StringRef> words);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_ELABORATE_EXPRESSION_H_
