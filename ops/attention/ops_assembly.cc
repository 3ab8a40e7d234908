// Assembly of attention's ops, whose optional operands have types where they are there, and their generated classes.
#include "ops/attention/ops.h"

#include "ops/dialect/assembly.h"

namespace weft::ir {
namespace {

using MaybeOperand = std::optional<mlir::OpAsmParser::UnresolvedOperand>;

// The types of operands and results, the last of which may be absent; all are unknown where they are elided.
mlir::ParseResult parseSignature(mlir::OpAsmParser &parser, ArrayRef<mlir::Type *> operands,
                                 ArrayRef<mlir::Type *> results, mlir::Type *last = nullptr) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<mlir::Type> operandTypes, resultTypes;
  bool present = false;
  if (assembly::parseTypes(parser, operandTypes, resultTypes, present)) {
    return mlir::failure();
  }
  if (!present) {
    operandTypes.assign(operands.size(), AnyType::get(parser.getContext()));
    resultTypes.assign(results.size(), AnyType::get(parser.getContext()));
  }
  if (operandTypes.size() != operands.size()) {
    return assembly::wrongCount(parser, "operand types", operands.size(), operandTypes.size());
  }
  SmallVector<mlir::Type *> slots(results);
  if (last && resultTypes.size() != results.size()) {
    slots.push_back(last);
  }
  if (resultTypes.size() != slots.size()) {
    if (!last) {
      return assembly::wrongCount(parser, "result types", slots.size(), resultTypes.size());
    }
    return parser.emitError(loc) << "expected " << results.size() << " or " << results.size() + 1
                                 << " result types, got " << resultTypes.size();
  }
  for (auto [slot, type] : llvm::zip(operands, operandTypes)) {
    *slot = type;
  }
  for (auto [slot, type] : llvm::zip(slots, resultTypes)) {
    *slot = type;
  }
  return mlir::success();
}

// The types that are there: those of absent operands and results are null.
SmallVector<mlir::Type> present(std::initializer_list<mlir::Type> types) {
  return llvm::to_vector(llvm::make_filter_range(types, [](mlir::Type type) { return bool(type); }));
}

// The slots of operands of which `bias` and `mask` are there where they have been parsed.
SmallVector<mlir::Type *> slotsOf(std::initializer_list<mlir::Type *> types, const MaybeOperand &bias,
                                  mlir::Type &biasType, const MaybeOperand &mask, mlir::Type &maskType) {
  SmallVector<mlir::Type *> slots(types);
  if (bias) {
    slots.push_back(&biasType);
  }
  if (mask) {
    slots.push_back(&maskType);
  }
  return slots;
}

mlir::ParseResult parseAttentionTypes(mlir::OpAsmParser &parser, const MaybeOperand &biasOperand,
                                      const MaybeOperand &maskOperand, mlir::Type &q, mlir::Type &k, mlir::Type &v,
                                      mlir::Type &bias, mlir::Type &mask, mlir::Type &out, mlir::Type &saved) {
  return parseSignature(parser, slotsOf({&q, &k, &v}, biasOperand, bias, maskOperand, mask), {&out}, &saved);
}

void printAttentionTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, Value, Value, mlir::Type q, mlir::Type k,
                         mlir::Type v, mlir::Type bias, mlir::Type mask, mlir::Type out, mlir::Type saved) {
  assembly::printTypes(printer, present({q, k, v, bias, mask}), present({out, saved}));
}

mlir::ParseResult parseAttentionGradTypes(mlir::OpAsmParser &parser, const MaybeOperand &biasOperand,
                                          const MaybeOperand &maskOperand, mlir::Type &dout, mlir::Type &q,
                                          mlir::Type &k, mlir::Type &v, mlir::Type &out, mlir::Type &saved,
                                          mlir::Type &bias, mlir::Type &mask, mlir::Type &dq, mlir::Type &dk,
                                          mlir::Type &dv) {
  return parseSignature(parser, slotsOf({&dout, &q, &k, &v, &out, &saved}, biasOperand, bias, maskOperand, mask),
                        {&dq, &dk, &dv});
}

void printAttentionGradTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, Value, Value, mlir::Type dout,
                             mlir::Type q, mlir::Type k, mlir::Type v, mlir::Type out, mlir::Type saved,
                             mlir::Type bias, mlir::Type mask, mlir::Type dq, mlir::Type dk, mlir::Type dv) {
  assembly::printTypes(printer, present({dout, q, k, v, out, saved, bias, mask}), {dq, dk, dv});
}

mlir::ParseResult parseAttentionBiasGradTypes(mlir::OpAsmParser &parser, const MaybeOperand &maskOperand,
                                              mlir::Type &dout, mlir::Type &q, mlir::Type &k, mlir::Type &v,
                                              mlir::Type &out, mlir::Type &saved, mlir::Type &bias, mlir::Type &mask,
                                              mlir::Type &dbias) {
  return parseSignature(parser, slotsOf({&dout, &q, &k, &v, &out, &saved, &bias}, {}, bias, maskOperand, mask),
                        {&dbias});
}

void printAttentionBiasGradTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, Value, mlir::Type dout, mlir::Type q,
                                 mlir::Type k, mlir::Type v, mlir::Type out, mlir::Type saved, mlir::Type bias,
                                 mlir::Type mask, mlir::Type dbias) {
  assembly::printTypes(printer, present({dout, q, k, v, out, saved, bias, mask}), dbias);
}

mlir::ParseResult parseAttentionMergeTypes(mlir::OpAsmParser &parser, mlir::Type &out, mlir::Type &lse,
                                           mlir::Type &more, mlir::Type &moreLse, mlir::Type &both,
                                           mlir::Type &bothLse) {
  return parseSignature(parser, {&out, &lse, &more, &moreLse}, {&both, &bothLse});
}

void printAttentionMergeTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Type out, mlir::Type lse,
                              mlir::Type more, mlir::Type moreLse, mlir::Type both, mlir::Type bothLse) {
  assembly::printTypes(printer, {out, lse, more, moreLse}, {both, bothLse});
}

} // namespace
} // namespace weft::ir

#define GET_OP_CLASSES
#include "ops/attention/ops.cpp.inc"
