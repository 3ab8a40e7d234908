#include "ops/dialect/assembly.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace weft::ir {

using mlir::DictionaryAttr;

namespace {

// Expressions are kept as text; a lone constant becomes a constant. Outside of quotes MLIR's tokens allow sums and
// products alone: a minus is part of a number, and a slash begins a comment.
struct Expression {
  std::string text;
  Attribute constant;  // set if the text is one literal
  bool quoted = false; // of which nothing is known: in parentheses beside an operator
};

// `depth`: in how many parentheses it is.
ParseResult parseSum(OpAsmParser &parser, Expression &out, int depth = 0);

// Of one expression: more was never meant, and every op that holds it evaluates it anew.
constexpr size_t kMostLetters = 1 << 16;

// Appends an operator and its right-hand side.
ParseResult append(OpAsmParser &parser, Expression &out, llvm::StringRef op, const Expression &right) {
  auto closed = [](const Expression &e) { return e.quoted ? "(" + e.text + ")" : e.text; };
  out = {closed(out) + op.str() + closed(right), {}};
  if (out.text.size() > kMostLetters) {
    return parser.emitError(parser.getCurrentLocation())
           << "expression: expected at most " << kMostLetters << " letters, got more";
  }
  return success();
}

ParseResult checkDepth(OpAsmParser &parser, int depth) {
  if (depth < kMaxDepth) {
    return success();
  }
  return parser.emitError(parser.getCurrentLocation())
         << "expression: expected at most " << kMaxDepth << " parentheses within each other, got more";
}

// What stands in quotes is read when it is evaluated.
ParseResult takeQuoted(OpAsmParser &parser, llvm::SMLoc loc, llvm::StringRef text, Expression &out) {
  text = text.trim();
  if (text.empty() || text.size() > kMostLetters || text.contains('"')) {
    return parser.emitError(loc) << "expression: expected 1 to " << kMostLetters << " letters without quotes, got "
                                 << (text.contains('"') ? "quotes" : llvm::Twine(text.size()));
  }
  out = {text.str(), {}, /*quoted=*/true};
  return success();
}

// The arguments of a function, behind its opening parenthesis.
ParseResult parseArguments(OpAsmParser &parser, Expression &out, int depth) {
  for (bool first = true;; first = false) {
    Expression argument;
    if (parseSum(parser, argument, depth + 1)) {
      return failure();
    }
    argument.quoted = false; // a comma binds least
    if (append(parser, out, first ? "" : ", ", argument)) {
      return failure();
    }
    if (failed(parser.parseOptionalComma())) {
      return parser.parseRParen();
    }
  }
}

ParseResult parsePrimary(OpAsmParser &parser, Expression &out, int depth) {
  llvm::SMLoc start = parser.getCurrentLocation();
  std::string quoted;
  if (succeeded(parser.parseOptionalString(&quoted))) {
    return takeQuoted(parser, start, quoted, out);
  }
  if (succeeded(parser.parseOptionalLParen())) {
    Expression inner;
    if (checkDepth(parser, depth) || parseSum(parser, inner, depth + 1) || parser.parseRParen()) {
      return failure();
    }
    out = {"(" + inner.text + ")", {}};
    return success();
  }
  llvm::StringRef name;
  if (succeeded(parser.parseOptionalKeyword(&name))) {
    out = {name.str(), {}};
    if (failed(parser.parseOptionalLParen())) {
      return success();
    }
    out.text += "("; // S(dim), P(max), min(a, b)
    if (checkDepth(parser, depth) || parseArguments(parser, out, depth)) {
      return failure();
    }
    out.text += ")";
    return success();
  }
  // An attribute, because only there may a minus precede an integer as well as a float.
  llvm::SMLoc loc = parser.getCurrentLocation();
  Attribute number;
  mlir::OptionalParseResult parsed = parser.parseOptionalAttribute(number, mlir::Type());
  if (parsed.has_value() && failed(*parsed)) {
    return failure();
  }
  if (!llvm::isa_and_nonnull<mlir::IntegerAttr, mlir::FloatAttr>(number)) {
    return parser.emitError(loc, "expected a number or a name");
  }
  llvm::raw_string_ostream os(out.text);
  number.print(os, /*elideType=*/true);
  out.constant = number;
  return success();
}

ParseResult parseProduct(OpAsmParser &parser, Expression &out, int depth) {
  if (parsePrimary(parser, out, depth)) {
    return failure();
  }
  while (true) {
    const char *op = nullptr;
    if (succeeded(parser.parseOptionalStar())) {
      op = " * ";
    } else if (succeeded(parser.parseOptionalKeyword("floordiv"))) {
      op = " floordiv ";
    } else if (succeeded(parser.parseOptionalKeyword("mod"))) {
      op = " mod ";
    } else {
      return success();
    }
    Expression right;
    if (parsePrimary(parser, right, depth) || append(parser, out, op, right)) {
      return failure();
    }
  }
}

ParseResult parseSum(OpAsmParser &parser, Expression &out, int depth) {
  if (parseProduct(parser, out, depth)) {
    return failure();
  }
  while (succeeded(parser.parseOptionalPlus())) {
    Expression right;
    if (parseProduct(parser, right, depth) || append(parser, out, " + ", right)) {
      return failure();
    }
  }
  return success();
}

// Whether `text` has operators that only quotes may hold.
bool needsQuotes(llvm::StringRef text) {
  for (auto [i, c] : llvm::enumerate(text)) {
    const char before = i == 0 ? ' ' : text[i - 1];
    if (llvm::StringRef("/<>=!").contains(c)) {
      return true;
    }
    if (c == '-' && before != 'e' && before != 'E') { // not of an exponent
      return true;
    }
  }
  return false;
}

void printExpression(OpAsmPrinter &printer, Attribute number) {
  if (auto expression = llvm::dyn_cast<ExprAttr>(number)) {
    if (needsQuotes(expression.getText())) {
      printer << "\"" << expression.getText() << "\"";
    } else {
      printer << expression.getText();
    }
  } else {
    printer.printAttributeWithoutType(number);
  }
}

} // namespace

ParseResult parseNumber(OpAsmParser &parser, Attribute &number) {
  Expression expression;
  if (parseSum(parser, expression)) {
    return failure();
  }
  number = expression.constant ? expression.constant : ExprAttr::get(parser.getContext(), expression.text);
  return success();
}

void printNumber(OpAsmPrinter &printer, mlir::Operation *, Attribute number) { printExpression(printer, number); }

ParseResult parseNumbers(OpAsmParser &parser, ArrayAttr &numbers) {
  llvm::SmallVector<Attribute> list;
  auto element = [&] { return parseNumber(parser, list.emplace_back()); };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, element)) {
    return failure();
  }
  numbers = parser.getBuilder().getArrayAttr(list);
  return success();
}

void printNumbers(OpAsmPrinter &printer, mlir::Operation *, ArrayAttr numbers) {
  printer << "[";
  llvm::interleaveComma(numbers, printer.getStream(), [&](Attribute n) { printExpression(printer, n); });
  printer << "]";
}

ParseResult parseWord(OpAsmParser &parser, mlir::StringAttr &word) {
  std::string text;
  if (parser.parseKeywordOrString(&text)) {
    return failure();
  }
  word = parser.getBuilder().getStringAttr(text);
  return success();
}

void printWord(OpAsmPrinter &printer, mlir::Operation *, mlir::StringAttr word) {
  printer.printKeywordOrString(word.getValue());
}

ParseResult parsePins(OpAsmParser &parser, DictionaryAttr &pins) {
  if (failed(parser.parseOptionalKeyword("sbp"))) {
    return success();
  }
  mlir::NamedAttrList list;
  int position = 0, named = 0;
  auto pin = [&]() -> ParseResult {
    llvm::SMLoc loc = parser.getCurrentLocation();
    Expression left;
    if (parseSum(parser, left)) {
      return failure();
    }
    std::string axis = "_" + std::to_string(position++);
    Expression state = left;
    if (succeeded(parser.parseOptionalEqual())) {
      axis = left.text;
      state = {};
      ++named;
      if (parseSum(parser, state)) {
        return failure();
      }
    }
    if (named != 0 && named != position) {
      return parser.emitError(loc, "sbp: expected states by axis name or by position, got both");
    }
    if (list.get(axis)) {
      return parser.emitError(loc) << "sbp: expected each axis once, got " << axis << " twice";
    }
    list.append(axis, ExprAttr::get(parser.getContext(), state.text));
    return success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren, pin)) {
    return failure();
  }
  pins = list.getDictionary(parser.getContext());
  return success();
}

void printPins(OpAsmPrinter &printer, mlir::Operation *, DictionaryAttr pins) {
  if (!pins) {
    return;
  }
  printer << " sbp(";
  llvm::interleaveComma(pins, printer.getStream(), [&](mlir::NamedAttribute pin) {
    if (!pin.getName().getValue().starts_with("_")) {
      printer << pin.getName().getValue() << " = ";
    }
    printer << llvm::cast<ExprAttr>(pin.getValue()).getText();
  });
  printer << ")";
}

ParseResult parseInit(OpAsmParser &parser, InitAttr &init) {
  std::string kind = "zeros";
  llvm::SmallVector<Attribute> arguments;
  if (succeeded(parser.parseOptionalKeyword("init"))) {
    llvm::SMLoc loc;
    if (parser.parseLParen() || parser.getCurrentLocation(&loc) || parser.parseKeywordOrString(&kind)) {
      return failure();
    }
    int count = llvm::StringSwitch<int>(kind)
                    .Cases("zeros", "ones", 0)
                    .Cases("constant", "normal", 1)
                    .Case("uniform", 2)
                    .Default(-1);
    if (count < 0) {
      return parser.emitError(loc) << "init: expected zeros, ones, constant, normal or uniform, got " << kind;
    }
    for (int i = 0; i < count; ++i) {
      if (parseNumber(parser, arguments.emplace_back())) {
        return failure();
      }
    }
    if (parser.parseRParen()) {
      return failure();
    }
  }
  init = InitAttr::get(parser.getContext(), kind, arguments);
  return success();
}

void printInit(OpAsmPrinter &printer, mlir::Operation *, InitAttr init) {
  printer << "init(" << init.getKind();
  for (Attribute argument : init.getArguments()) {
    printer << " ";
    printExpression(printer, argument);
  }
  printer << ")";
}

namespace assembly {

ParseResult parseTypes(OpAsmParser &parser, TypeList &operands, TypeList &results, bool &present) {
  present = succeeded(parser.parseOptionalColon());
  if (!present) {
    return success();
  }
  auto operand = [&] { return parser.parseType(operands.emplace_back()); };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren, operand)) {
    return failure();
  }
  if (failed(parser.parseOptionalArrow())) {
    return success();
  }
  auto result = [&] { return parser.parseType(results.emplace_back()); };
  if (succeeded(parser.parseOptionalLParen())) {
    return failure(failed(parser.parseCommaSeparatedList(result)) || parser.parseRParen());
  }
  return result();
}

void printTypes(OpAsmPrinter &printer, mlir::TypeRange operands, mlir::TypeRange results) {
  auto unknown = [](mlir::Type type) { return llvm::isa<AnyType>(type); };
  if (llvm::all_of(operands, unknown) && llvm::all_of(results, unknown)) {
    return;
  }
  printer << " : (";
  llvm::interleaveComma(operands, printer);
  printer << ")";
  if (results.size() == 1) {
    printer << " -> " << results.front();
  } else if (!results.empty()) {
    printer << " -> (";
    llvm::interleaveComma(results, printer);
    printer << ")";
  }
}

ParseResult wrongCount(OpAsmParser &parser, llvm::StringRef what, size_t expected, size_t got) {
  return parser.emitError(parser.getNameLoc()) << "expected " << expected << " " << what << ", got " << got;
}

} // namespace assembly

ParseResult parseVariadicTypes(OpAsmParser &parser, llvm::ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                               assembly::TypeList &operandTypes, mlir::Type &result) {
  llvm::SmallVector<mlir::Type> results;
  bool present = false;
  if (assembly::parseTypes(parser, operandTypes, results, present)) {
    return failure();
  }
  if (!present) {
    mlir::Type any = AnyType::get(parser.getContext());
    operandTypes.assign(operands.size(), any);
    results.assign(1, any);
  }
  if (operandTypes.size() != operands.size()) {
    return assembly::wrongCount(parser, "operand types", operands.size(), operandTypes.size());
  }
  if (results.size() != 1) {
    return assembly::wrongCount(parser, "result types", 1, results.size());
  }
  result = results.front();
  return success();
}

void printVariadicTypes(OpAsmPrinter &printer, mlir::Operation *, mlir::OperandRange, mlir::TypeRange operandTypes,
                        mlir::Type result) {
  assembly::printTypes(printer, operandTypes, result);
}

} // namespace weft::ir
