// The op of a case, from its text.
#ifndef WEFT_TESTS_SHARDING_PARSED_OP_H_
#define WEFT_TESTS_SHARDING_PARSED_OP_H_

#include <memory>
#include <string>

#include "mlir/IR/BuiltinOps.h"
#include "ops/dialect/weft.h"
#include "tests/sharding/op_case.h"

namespace weft::tests {

// A context with the whole vocabulary; ops of other dialects are accepted too.
std::unique_ptr<mlir::MLIRContext> MakeContext();

struct ParsedOp {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation* op = nullptr;  // verified, with known types; null if the text is wrong, which has been reported
};

ParsedOp Parse(mlir::MLIRContext& context, const OpCase& one);

// Infers the types of every op of a block whose arguments and foreign ops have theirs.
llvm::LogicalResult InferTypes(mlir::Block& block);

// tensor<`text`>.
mlir::Type TensorType(mlir::MLIRContext& context, const std::string& text);

}  // namespace weft::tests

#endif  // WEFT_TESTS_SHARDING_PARSED_OP_H_
