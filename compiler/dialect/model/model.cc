// Assembly and verifiers of the `model` dialect. No value has a type in it.
#include "compiler/dialect/model/model.h"

#include "llvm/ADT/StringSet.h"
#include "mlir/IR/DialectImplementation.h"
#include "ops/dialect/assembly.h"

#include "compiler/dialect/model/dialect.cpp.inc"

namespace weft::model {

using mlir::OperationState;
using mlir::StringAttr;
using weft::ir::AnyType;
using weft::ir::parseNumber;
using weft::ir::parseNumbers;
using weft::ir::printNumber;
using weft::ir::printNumbers;

namespace {

// Operands without their types, which are unknown.
ParseResult parseUntyped(OpAsmParser &parser, llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                         llvm::SmallVectorImpl<mlir::Type> &types) {
  if (parser.parseOperandList(operands)) {
    return failure();
  }
  types.assign(operands.size(), AnyType::get(parser.getContext()));
  return success();
}
void printUntyped(OpAsmPrinter &printer, mlir::Operation *, mlir::OperandRange operands, mlir::TypeRange) {
  printer << operands;
}

} // namespace
} // namespace weft::model

#define GET_OP_CLASSES
#include "compiler/dialect/model/model.cpp.inc"

namespace weft::model {

void ModelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/model/model.cpp.inc"
      >();
}

namespace {

LogicalResult verifyName(mlir::Operation *op, StringRef name) {
  if (name == "B" || name == "P" || name == "S") {
    return op->emitOpError() << "expected a name other than the SBP states B, P and S, got " << name;
  }
  return success();
}

LogicalResult verifyDistinct(mlir::Operation *op, StringRef what, ArrayAttr names) {
  llvm::StringSet<> seen;
  for (StringAttr name : names.getAsRange<StringAttr>()) {
    if (!seen.insert(name.getValue()).second) {
      return op->emitOpError() << "expected distinct " << what << ", got " << name << " twice";
    }
  }
  return success();
}

// `%x`: an argument without a type, and its name as it was written.
ParseResult parseInput(OpAsmParser &parser, SmallVector<OpAsmParser::Argument> &arguments,
                       SmallVector<mlir::Attribute> &names) {
  OpAsmParser::Argument &argument = arguments.emplace_back();
  if (parser.parseArgument(argument)) {
    return failure();
  }
  argument.type = AnyType::get(parser.getContext());
  names.push_back(parser.getBuilder().getStringAttr(argument.ssaName.name.drop_front()));
  return success();
}

// MLIR's integers have no sign, and the runtime's bytes are unsigned: `u8`.
ParseResult parseElementType(OpAsmParser &parser, mlir::Type &type) {
  if (succeeded(parser.parseOptionalKeyword("u8"))) {
    type = parser.getBuilder().getI8Type();
    return success();
  }
  return parser.parseType(type);
}

void printElementType(OpAsmPrinter &printer, mlir::Type type) {
  if (type.isSignlessInteger(8)) {
    printer << "u8";
  } else {
    printer << type;
  }
}

ParseResult parseBody(OpAsmParser &parser, OperationState &result, llvm::ArrayRef<OpAsmParser::Argument> arguments) {
  mlir::Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*body, arguments)) {
    return failure();
  }
  if (body->empty()) {
    body->emplaceBlock();
  }
  return success();
}

void printBody(OpAsmPrinter &printer, mlir::Operation *op, llvm::ArrayRef<StringRef> elided) {
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elided);
  printer << " ";
  printer.printRegion(op->getRegion(0), /*printEntryBlockArgs=*/false);
}

void nameArguments(mlir::Region &region, ArrayAttr names, mlir::OpAsmSetValueNameFn setName) {
  for (auto [argument, name] : llvm::zip(region.getArguments(), names.getAsRange<StringAttr>())) {
    setName(argument, name.getValue());
  }
}

// An expression, or the name of a layer.
ParseResult parseParameter(OpAsmParser &parser, mlir::Attribute &parameter) {
  StringAttr layer;
  if (mlir::succeeded(parser.parseOptionalSymbolName(layer))) {
    parameter = mlir::FlatSymbolRefAttr::get(layer);
    return success();
  }
  return parseNumber(parser, parameter);
}

// `averages "scope" momentum(%m)`, or nothing.
ParseResult parseAverages(OpAsmParser &parser, OperationState &result,
                          SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  if (failed(parser.parseOptionalKeyword("averages"))) {
    return success();
  }
  StringAttr scope;
  return failure(parser.parseAttribute(scope, "averages", result.attributes) || parser.parseKeyword("momentum") ||
                 parser.parseLParen() || parser.parseOperand(operands.emplace_back()) || parser.parseRParen());
}

// `(%a, %b) [expressions]` and what is bound on the left-hand side.
ParseResult parseArguments(OpAsmParser &parser, OperationState &result, bool averages = false) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  if (parser.parseOperandList(operands, mlir::AsmParser::Delimiter::Paren)) {
    return failure();
  }
  SmallVector<mlir::Attribute> list;
  auto element = [&] { return parseParameter(parser, list.emplace_back()); };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::OptionalSquare, element) ||
      (averages && parseAverages(parser, result, operands))) {
    return failure();
  }
  mlir::Type any = AnyType::get(parser.getContext());
  result.addAttribute("parameters", parser.getBuilder().getArrayAttr(list));
  result.addTypes(SmallVector<mlir::Type>(parser.getNumResults(), any));
  return failure(failed(parser.parseOptionalAttrDict(result.attributes)) ||
                 failed(parser.resolveOperands(operands, any, result.operands)));
}

void printArguments(OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange inputs, ArrayAttr parameters,
                    llvm::ArrayRef<StringRef> elided) {
  printer << "(" << inputs << ")";
  if (!parameters.empty()) {
    printer << " ";
    printNumbers(printer, op, parameters);
  }
  if (auto call = llvm::dyn_cast<CallOp>(op); call && call.getAverages()) {
    printer << " averages " << call.getAveragesAttr() << " momentum(" << call.getMomentum() << ")";
  }
  printer.printOptionalAttrDict(op->getAttrs(), elided);
}

} // namespace

LogicalResult ConfigOp::verify() { return verifyName(*this, getSymName()); }

ParseResult LayerOp::parse(OpAsmParser &parser, OperationState &result) {
  mlir::Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<mlir::Attribute> inputs, parameters, defaults;
  auto input = [&] { return parseInput(parser, arguments, inputs); };
  auto parameter = [&]() -> ParseResult {
    StringRef word;
    llvm::SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word)) {
      return failure();
    }
    parameters.push_back(builder.getStringAttr(word));
    if (mlir::succeeded(parser.parseOptionalEqual())) {
      return parseParameter(parser, defaults.emplace_back());
    }
    if (!defaults.empty()) {
      return parser.emitError(loc) << "parameter " << word << ": expected a default, as the one before it has";
    }
    return success();
  };
  if (mlir::succeeded(parser.parseOptionalKeyword("override"))) {
    result.addAttribute("override", builder.getUnitAttr());
  }
  if (parser.parseSymbolName(name, "sym_name", result.attributes) ||
      parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren, input) ||
      parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::OptionalSquare, parameter)) {
    return failure();
  }
  result.addAttribute("inputs", builder.getArrayAttr(inputs));
  result.addAttribute("parameters", builder.getArrayAttr(parameters));
  result.addAttribute("defaults", builder.getArrayAttr(defaults));
  return parseBody(parser, result, arguments);
}

void LayerOp::print(OpAsmPrinter &printer) {
  printer << (getOverride() ? " override " : " ");
  printer.printSymbolName(getSymName());
  printer << "(" << getBody().getArguments() << ")";
  if (!getParameters().empty()) {
    size_t required = getParameters().size() - getDefaults().size();
    printer << " [";
    llvm::interleaveComma(llvm::enumerate(getParameters().getAsRange<StringAttr>()), printer, [&](auto parameter) {
      printer << parameter.value().getValue();
      if (parameter.index() >= required) {
        printer << " = ";
        printNumber(printer, *this, getDefaults()[parameter.index() - required]);
      }
    });
    printer << "]";
  }
  printBody(printer, *this, {"sym_name", "inputs", "parameters", "defaults", "override"});
}

LogicalResult LayerOp::verify() {
  for (StringAttr name : getParameters().getAsRange<StringAttr>()) {
    if (failed(verifyName(*this, name.getValue()))) {
      return failure();
    }
  }
  if (getDefaults().size() > getParameters().size()) {
    return emitOpError() << "expected at most " << getParameters().size() << " defaults, got " << getDefaults().size();
  }
  if (getBody().front().empty() || !llvm::isa<ReturnOp>(getBody().front().back())) {
    return emitOpError("expected model.return at the end");
  }
  return verifyDistinct(*this, "parameters", getParameters());
}

void LayerOp::getAsmBlockArgumentNames(mlir::Region &region, mlir::OpAsmSetValueNameFn setName) {
  nameArguments(region, getInputs(), setName);
}

ParseResult CallOp::parse(OpAsmParser &parser, OperationState &result) {
  mlir::FlatSymbolRefAttr callee;
  if (parser.parseAttribute(callee, "callee", result.attributes)) {
    return failure();
  }
  std::string scope;
  if (mlir::succeeded(parser.parseOptionalString(&scope))) {
    result.addAttribute("scope", parser.getBuilder().getStringAttr(scope));
  }
  return parseArguments(parser, result, /*averages=*/true);
}

void CallOp::print(OpAsmPrinter &printer) {
  printer << " " << getCalleeAttr() << " ";
  if (getScopeAttr()) {
    printer << getScopeAttr() << " ";
  }
  printArguments(printer, *this, getInputs(), getParameters(), {"callee", "scope", "parameters", "averages"});
}

LogicalResult CallOp::verify() {
  if (getAverages() && getScope().value_or("").empty()) {
    return emitOpError("averages: expected a scope for the averages, got none");
  }
  return success();
}

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &result) {
  mlir::Attribute count;
  StringAttr scope;
  mlir::FlatSymbolRefAttr callee;
  if (parseNumber(parser, count) || parser.parseAttribute(scope, "scope", result.attributes) ||
      parser.parseAttribute(callee, "callee", result.attributes)) {
    return failure();
  }
  result.addAttribute("count", count);
  return parseArguments(parser, result);
}

void RepeatOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printNumber(printer, *this, getCount());
  printer << " " << getScopeAttr() << " " << getCalleeAttr();
  printArguments(printer, *this, getOperands(), getParameters(), {"count", "scope", "callee", "parameters"});
}

LogicalResult RepeatOp::verify() {
  if (getNumResults() > getNumOperands()) {
    return emitOpError() << "expected at most " << getNumOperands() << " results, one an operand, got "
                         << getNumResults();
  }
  return success();
}

LogicalResult StageOp::verify() {
  if (!llvm::isa_and_nonnull<GraphOp>((*this)->getParentOp())) {
    auto layer = llvm::dyn_cast_or_null<LayerOp>((*this)->getParentOp());
    return emitOpError() << "expected to stand in a model.graph, got "
                         << (layer ? ("layer @" + layer.getSymName()).str() : "none");
  }
  return success();
}

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &result) {
  mlir::Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<mlir::Attribute> inputs, shapes, types;
  auto input = [&]() -> ParseResult {
    ArrayAttr shape;
    mlir::Type type;
    if (parseInput(parser, arguments, inputs) || parseNumbers(parser, shape) || parseElementType(parser, type)) {
      return failure();
    }
    shapes.push_back(shape);
    types.push_back(mlir::TypeAttr::get(type));
    return success();
  };
  if (parser.parseSymbolName(name, "sym_name", result.attributes) ||
      parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren, input)) {
    return failure();
  }
  result.addAttribute("inputs", builder.getArrayAttr(inputs));
  result.addAttribute("shapes", builder.getArrayAttr(shapes));
  result.addAttribute("types", builder.getArrayAttr(types));
  return parseBody(parser, result, arguments);
}

void GraphOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << "(";
  auto arguments = llvm::zip(getBody().getArguments(), getShapes(), getTypes());
  llvm::interleaveComma(arguments, printer, [&](auto argument) {
    auto [value, shape, type] = argument;
    printer << value << " ";
    printNumbers(printer, *this, llvm::cast<ArrayAttr>(shape));
    printer << " ";
    printElementType(printer, llvm::cast<mlir::TypeAttr>(type).getValue());
  });
  printer << ")";
  printBody(printer, *this, {"sym_name", "inputs", "shapes", "types"});
}

LogicalResult GraphOp::verify() {
  size_t inputs = getBody().getNumArguments();
  for (ArrayAttr list : {getInputs(), getShapes(), getTypes()}) {
    if (list.size() != inputs) {
      return emitOpError() << "expected a name, a shape and a type an input, got " << list.size() << " for " << inputs;
    }
  }
  if (!llvm::all_of(getShapes(), [](mlir::Attribute shape) { return llvm::isa<ArrayAttr>(shape); })) {
    return emitOpError("expected shapes to be lists");
  }
  return verifyDistinct(*this, "input names", getInputs());
}

void GraphOp::getAsmBlockArgumentNames(mlir::Region &region, mlir::OpAsmSetValueNameFn setName) {
  nameArguments(region, getInputs(), setName);
}

} // namespace weft::model
