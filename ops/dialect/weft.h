// The `weft` dialect in C++: what families and the compiler include.
#ifndef WEFT_OPS_DIALECT_WEFT_H_
#define WEFT_OPS_DIALECT_WEFT_H_

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "ops/dialect/cost.h"
#include "ops/dialect/precision.h"
#include "ops/dialect/sharding_rule.h"

namespace weft {

// LLVM's and MLIR's everyday words, for all of the compiler, as mlir/Support/LLVM.h has LLVM's for MLIR.
using llvm::ArrayRef;
using llvm::LogicalResult;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using mlir::ArrayAttr;
using mlir::Attribute;
using mlir::failed;
using mlir::failure;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::Operation;
using mlir::ParseResult;
using mlir::RankedTensorType;
using mlir::RewriterBase;
using mlir::succeeded;
using mlir::success;
using mlir::Value;

} // namespace weft

namespace weft::ir {

/// Shape and element type agree, the SBP signature is one of the rule's.
llvm::LogicalResult verifyOp(mlir::Operation *op);

/// The inherent attributes of `op`, without those that only the compiler reads.
mlir::NamedAttrList inherentAttributes(mlir::Operation *op);

/// Sets the attribute `shape` of `op`, if it has one.
void setShapeAttribute(mlir::Operation *op, llvm::ArrayRef<int64_t> shape);

/// getInPlaceOperands of a pointwise op with one result: operand 0 if it has the
/// result's type, so that reading and writing meet at every element, and is no
/// other operand too; else -1.
llvm::SmallVector<int64_t> overwriteOperand(mlir::Operation *op);

} // namespace weft::ir

#include "ops/dialect/dialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ops/dialect/attributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ops/dialect/interfaces.h.inc"
#include "ops/dialect/types.h.inc"
#define GET_OP_CLASSES
#include "ops/dialect/structure.h.inc"

namespace weft::ir {

/// The placement that an op, or a value of a graph, lives on, an index into the graph's placements: the
/// op's attribute `stage`, 0 without one.
int64_t stageOf(mlir::Operation *op);
int64_t stageOf(mlir::Value value);

/// The part of the model that an op belongs to: its attribute `chunk`, 0 without one.
int64_t chunkOf(mlir::Operation *op);

/// The part of a step that an op is of: its attribute `phase`. Without one it is the forward.
enum class OpPhase { Forward, Backward, Weight, Recompute, Update };
OpPhase phaseOf(mlir::Operation *op);
void setPhase(mlir::Operation *op, OpPhase phase);
/// "forward", "backward", "weight", "recompute" or "update".
llvm::StringRef nameOf(OpPhase phase);

/// The layers that an op was written in, as in "h.3.attn": its attribute `scope`, "" without one.
llvm::StringRef scopeOf(mlir::Operation *op);

/// What tells where an op belongs, as far as it has it: `scope`, `phase`, `stage`, `chunk` and `on_use`. Ops made
/// for another op take it over, and lose what that one does not have.
mlir::NamedAttrList belongingsOf(mlir::Operation *op);
void setBelongings(mlir::Operation *op, const mlir::NamedAttrList &belongings);

/// The shape of the tensor that a value stands for, where the phase `pad` has made dimensions of the value larger; else
/// its own shape. The attribute `unpadded` of the op, or of the graph for its inputs, has one list a result.
llvm::SmallVector<int64_t> unpaddedShapeOf(mlir::Value value);
constexpr llvm::StringLiteral kUnpaddedName("unpadded");

/// An attribute of a `weft.parameter` with `state` that the model has, and no pass has made: files keep it with the
/// parameters, not with what the optimizer keeps.
constexpr llvm::StringLiteral kOfModelName("of_model");

/// Likewise of one that a function keeps from one run to the next, which no file has.
constexpr llvm::StringLiteral kCacheName("cache");

/// The SBP of a tensor type, or null before `shard`.
SbpAttr sbpOf(mlir::Type type);

/// `type` with this SBP (null: without).
mlir::RankedTensorType withSbp(mlir::RankedTensorType type, SbpAttr sbp);

/// The shape of one rank's tile. Axes that cut one dimension multiply.
/// Asserts divisibility.
llvm::SmallVector<int64_t> localShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<SbpState> states,
                                      llvm::ArrayRef<int64_t> axisSizes);

/// Bytes of a dense tensor of this type.
int64_t bytesOf(mlir::RankedTensorType type);

/// The ranked type of a value; asserts that elaborate has run.
inline mlir::RankedTensorType tensorOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return tensorOf(value).getShape(); }

/// The number in an attribute that elaborate has evaluated.
int64_t intOf(mlir::Attribute number);
double floatOf(mlir::Attribute number);
llvm::SmallVector<int64_t> intsOf(mlir::ArrayAttr numbers);

/// Builds an Op of `Results` results and gives them the types it infers;
/// asserts that they can be inferred. `args` are operands and attributes in
/// the order of the op's declaration.
template <typename Op, unsigned Results = 1, typename... Args>
Op create(mlir::OpBuilder &builder, mlir::Location loc, Args &&...args) {
  mlir::OperationState state(loc, Op::getOperationName());
  llvm::SmallVector<mlir::Type> unknown(Results, AnyType::get(builder.getContext()));
  if constexpr (Results == 1) {
    Op::build(builder, state, unknown[0], std::forward<Args>(args)...);
  } else {
    Op::build(builder, state, mlir::TypeRange(unknown), std::forward<Args>(args)...);
  }
  Op op = llvm::cast<Op>(builder.create(state));
  llvm::SmallVector<mlir::RankedTensorType> types;
  [[maybe_unused]] llvm::LogicalResult inferred = llvm::cast<WeftOpInterface>(op.getOperation()).inferTypes(types);
  assert(succeeded(inferred) && types.size() == Results && "expected operands that fit");
  for (auto [result, type] : llvm::zip(op->getResults(), types)) {
    result.setType(type);
  }
  return op;
}

/// Reads the text of a constant state, "S(0)", "B", "P" or "P(max)".
std::optional<SbpState> parseState(llvm::StringRef text);

} // namespace weft::ir

#endif // WEFT_OPS_DIALECT_WEFT_H_
