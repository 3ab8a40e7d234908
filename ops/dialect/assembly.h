// Pieces of assembly that families share through `custom<...>` directives.
#ifndef WEFT_OPS_DIALECT_ASSEMBLY_H_
#define WEFT_OPS_DIALECT_ASSEMBLY_H_

#include "ops/dialect/weft.h"

namespace weft::ir {

/// Parentheses that may be within each other in an expression, and configs or layers that may use one another in a row:
/// whoever follows them calls itself.
inline constexpr int kMaxDepth = 64;

/// An expression or a constant: IntegerAttr, FloatAttr or ExprAttr.
mlir::ParseResult parseNumber(mlir::OpAsmParser &parser, mlir::Attribute &number);
void printNumber(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Attribute number);

/// `[a, 4 * b]`.
mlir::ParseResult parseNumbers(mlir::OpAsmParser &parser, mlir::ArrayAttr &numbers);
void printNumbers(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::ArrayAttr numbers);

/// A bare word kept as a string: `sum`.
mlir::ParseResult parseWord(mlir::OpAsmParser &parser, mlir::StringAttr &word);
void printWord(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::StringAttr word);

/// `sbp(tensor = S(0), data = P)` or positional `sbp(S(0), B)`, or nothing. A dictionary
/// from axis name (`_0`, `_1` when positional) to ExprAttr. Printed behind a space of its own.
mlir::ParseResult parsePins(mlir::OpAsmParser &parser, mlir::DictionaryAttr &pins);
void printPins(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::DictionaryAttr pins);

/// `init(normal 0.02)`; zeros if absent.
mlir::ParseResult parseInit(mlir::OpAsmParser &parser, InitAttr &init);
void printInit(mlir::OpAsmPrinter &printer, mlir::Operation *, InitAttr init);

namespace assembly {
using TypeList = llvm::SmallVectorImpl<mlir::Type>;

/// Parses `: (operand types) -> result types`, or leaves `present` false.
mlir::ParseResult parseTypes(mlir::OpAsmParser &parser, TypeList &operands, TypeList &results, bool &present);
/// Prints ` ` and it, or nothing if every type is `!weft.any`; formats put an empty literal before the directive.
void printTypes(mlir::OpAsmPrinter &printer, mlir::TypeRange operands, mlir::TypeRange results);
/// Emits "expected N operand types, got M" and the like.
mlir::ParseResult wrongCount(mlir::OpAsmParser &parser, llvm::StringRef what, size_t expected, size_t got);

inline void take(mlir::Type &slot, llvm::ArrayRef<mlir::Type> &types) {
  slot = types.front();
  types = types.drop_front();
}
// An optional or variadic result takes what is left.
inline void take(TypeList &slot, llvm::ArrayRef<mlir::Type> &types) {
  slot.assign(types.begin(), types.end());
  types = {};
}
inline void append(llvm::SmallVector<mlir::Type> &list, mlir::Type type) { list.push_back(type); }
inline void append(llvm::SmallVector<mlir::Type> &list, mlir::TypeRange types) {
  list.append(types.begin(), types.end());
}

/// The first N of `slots` are operand types, the others result types; a trailing list is optional.
template <int N, typename... Slots> mlir::ParseResult parseSignature(mlir::OpAsmParser &parser, Slots &...slots) {
  constexpr size_t single = (0 + ... + int(std::is_same_v<Slots, mlir::Type>)) - N; // results
  constexpr bool open = single + N != sizeof...(Slots);
  llvm::SmallVector<mlir::Type> operands, results;
  bool present = false;
  if (parseTypes(parser, operands, results, present)) {
    return mlir::failure();
  }
  if (!present) {
    mlir::Type any = AnyType::get(parser.getContext());
    operands.assign(N, any);
    results.assign(single, any);
  }
  if (operands.size() != N) {
    return wrongCount(parser, "operand types", N, operands.size());
  }
  if (results.size() < single || (results.size() > single && !open)) {
    return wrongCount(parser, "result types", single, results.size());
  }
  llvm::SmallVector<mlir::Type> all(operands);
  all.append(results);
  llvm::ArrayRef<mlir::Type> rest = all;
  (take(slots, rest), ...);
  return mlir::success();
}
template <int N, typename... Slots> void printSignature(mlir::OpAsmPrinter &printer, Slots... slots) {
  llvm::SmallVector<mlir::Type> all;
  (append(all, slots), ...);
  printTypes(printer, mlir::TypeRange(all).take_front(N), mlir::TypeRange(all).drop_front(N));
}
} // namespace assembly

/// `custom<TypesN>(type($operand)..., type($result)...)` for an op of N single operands: its types, elided
/// while they are unknown. The last result may be optional or variadic; it is absent when elided.
#define WEFT_TYPES_DIRECTIVE(N)                                                                                        \
  template <typename... Slots> mlir::ParseResult parseTypes##N(mlir::OpAsmParser &parser, Slots &...slots) {           \
    return assembly::parseSignature<N>(parser, slots...);                                                              \
  }                                                                                                                    \
  template <typename... Slots> void printTypes##N(mlir::OpAsmPrinter &printer, mlir::Operation *, Slots... slots) {    \
    assembly::printSignature<N>(printer, slots...);                                                                    \
  }
WEFT_TYPES_DIRECTIVE(0)
WEFT_TYPES_DIRECTIVE(1)
WEFT_TYPES_DIRECTIVE(2)
WEFT_TYPES_DIRECTIVE(3)
WEFT_TYPES_DIRECTIVE(4)
WEFT_TYPES_DIRECTIVE(5)
WEFT_TYPES_DIRECTIVE(6)
WEFT_TYPES_DIRECTIVE(7)
#undef WEFT_TYPES_DIRECTIVE

/// `custom<VariadicTypes>(ref($operands), type($operands), type($result))`: likewise for an op of any number of
/// operands and one result.
mlir::ParseResult parseVariadicTypes(mlir::OpAsmParser &parser,
                                     llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> operands,
                                     assembly::TypeList &operandTypes, mlir::Type &result);
void printVariadicTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::OperandRange operands,
                        mlir::TypeRange operandTypes, mlir::Type result);

} // namespace weft::ir

#endif // WEFT_OPS_DIALECT_ASSEMBLY_H_
