#include "compiler/passes/elaborate/expression.h"

#include <cmath>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Builders.h"

#include "ops/dialect/assembly.h"

namespace weft::compiler {

using weft::ir::ExprAttr;

namespace {

bool isState(Attribute value) { return llvm::isa<ExprAttr>(value); }

std::string show(Attribute value) {
  if (auto state = llvm::dyn_cast<ExprAttr>(value)) {
    return state.getText().str();
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  value.print(os, /*elideType=*/true);
  return text;
}

// Recursive descent over one text. A null value says that an error was emitted.
//
//   sum     = product { "+" product }
//   product = primary { ("*" | "floordiv" | "mod") primary }
//   primary = "(" sum ")" | number | "S" "(" sum ")" | "B" | "P" [ "(" "max" ")" ] | function "(" sum ")" | name
class Evaluator {
public:
  Evaluator(mlir::MLIRContext *context, StringRef text, Names &names, EmitError error)
      : builder(context), whole(text), rest(text), names(names), error(error) {}

  Attribute run() {
    Attribute value = sum();
    if (value && !space().empty()) {
      return syntax("an operator or the end");
    }
    return value;
  }

private:
  StringRef space() { return rest = rest.ltrim(); }
  bool take(StringRef token) { return space().starts_with(token) && (rest = rest.drop_front(token.size()), true); }

  // The word at the front: a name or an operator in letters.
  StringRef word() {
    space();
    if (rest.empty() || !(llvm::isAlpha(rest.front()) || rest.front() == '_')) {
      return "";
    }
    return rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
  }
  bool takeWord(StringRef expected) { return word() == expected && take(expected); }

  mlir::InFlightDiagnostic fail() { return error() << "\"" << whole << "\": "; }
  Attribute syntax(StringRef expected) {
    fail() << "expected " << expected << ", got " << (space().empty() ? StringRef("the end") : rest);
    return {};
  }
  Attribute requireNumber(Attribute value) {
    if (value && isState(value)) {
      fail() << "expected a number, got " << show(value);
      return {};
    }
    return value;
  }

  Attribute sum() {
    Attribute left = product();
    while (left && take("+")) {
      left = binary(left, '+', product());
    }
    return left;
  }

  Attribute product() {
    Attribute left = primary();
    while (left) {
      char op = take("*") ? '*' : takeWord("floordiv") ? '/' : takeWord("mod") ? '%' : 0;
      if (!op) {
        return left;
      }
      left = binary(left, op, primary());
    }
    return left;
  }

  Attribute binary(Attribute left, char op, Attribute right) {
    if (!left || !right || !requireNumber(left) || !requireNumber(right)) {
      return {};
    }
    auto a = llvm::dyn_cast<mlir::IntegerAttr>(left), b = llvm::dyn_cast<mlir::IntegerAttr>(right);
    if (a && b) {
      return integer(a.getInt(), op, b.getInt());
    }
    if (op == '/' || op == '%') {
      fail() << (op == '/' ? "floordiv" : "mod") << ": expected whole numbers, got " << show(left) << " and "
             << show(right);
      return {};
    }
    double x = ir::floatOf(left), y = ir::floatOf(right);
    return builder.getF64FloatAttr(op == '+' ? x + y : x * y);
  }

  Attribute integer(int64_t a, char op, int64_t b) {
    int64_t value = 0;
    if (op == '/' || op == '%') {
      if (b <= 0) {
        fail() << (op == '/' ? "floordiv" : "mod") << ": expected a positive divisor, got " << b;
        return {};
      }
      value = op == '/' ? llvm::divideFloorSigned(a, b) : llvm::mod(a, b);
    } else if (op == '+' ? llvm::AddOverflow(a, b, value) : llvm::MulOverflow(a, b, value)) {
      fail() << "expected a number of at most 63 bits, got " << a << " " << op << " " << b;
      return {};
    }
    return builder.getI64IntegerAttr(value);
  }

  Attribute primary() {
    if (take("(")) {
      return inner();
    }
    space();
    if (!rest.empty() && (llvm::isDigit(rest.front()) || rest.front() == '-' || rest.front() == '.')) {
      return number();
    }
    StringRef name = word();
    if (name.empty()) {
      return syntax("a number, a name or a parenthesis");
    }
    rest = rest.drop_front(name.size());
    if (name == "B") {
      return state("B");
    }
    if (name == "P") {
      if (!take("(")) {
        return state("P");
      }
      return takeWord("max") ? closed(state("P(max)")) : syntax("max");
    }
    return take("(") ? apply(name, inner()) : lookup(name);
  }

  Attribute state(StringRef text) { return ExprAttr::get(builder.getContext(), text); }

  // What an opening parenthesis begins.
  Attribute inner() {
    if (depth == ir::kMaxDepth) {
      error() << "expected at most " << depth << " parentheses within each other, got more";
      return {};
    }
    ++depth;
    Attribute value = closed(sum());
    --depth;
    return value;
  }

  Attribute closed(Attribute value) {
    if (value && !take(")")) {
      return syntax("a closing parenthesis");
    }
    return value;
  }

  // `S(dim)` and functions of one number.
  Attribute apply(StringRef name, Attribute argument) {
    if (!argument || !requireNumber(argument)) {
      return {};
    }
    if (name == "S") {
      auto dim = llvm::dyn_cast<mlir::IntegerAttr>(argument);
      if (!dim || dim.getInt() < 0) {
        fail() << "S: expected a dimension of 0 or more, got " << show(argument);
        return {};
      }
      return state(("S(" + llvm::Twine(dim.getInt()) + ")").str());
    }
    if (name != "sqrt" && name != "rsqrt") {
      fail() << "unknown function " << name << ": expected sqrt or rsqrt";
      return {};
    }
    double x = ir::floatOf(argument);
    if (!(x > 0)) {
      fail() << name << ": expected a positive number, got " << show(argument);
      return {};
    }
    return builder.getF64FloatAttr(name == "sqrt" ? std::sqrt(x) : 1 / std::sqrt(x));
  }

  Attribute lookup(StringRef name) {
    if (std::optional<Attribute> value = names.find(name)) {
      return *value;
    }
    llvm::SmallVector<StringRef> known = names.all();
    mlir::InFlightDiagnostic diagnostic = fail() << "unknown name " << name;
    if (!known.empty()) {
      diagnostic << ": expected " << listOf(known);
    }
    return {};
  }

  // [-] digits [. digits] [e [+-] digits]; a whole number without point and exponent.
  Attribute number() {
    size_t length = rest.front() == '-';
    bool whole = true;
    auto digits = [&] {
      while (length < rest.size() && llvm::isDigit(rest[length])) {
        ++length;
      }
    };
    digits();
    if (length < rest.size() && rest[length] == '.') {
      whole = false;
      ++length;
      digits();
    }
    if (length < rest.size() && (rest[length] == 'e' || rest[length] == 'E')) {
      whole = false;
      ++length;
      length += length < rest.size() && (rest[length] == '-' || rest[length] == '+');
      digits();
    }
    StringRef text = rest.take_front(length);
    int64_t integer = 0;
    double real = 0;
    if (whole ? text.getAsInteger(10, integer) : text.getAsDouble(real)) {
      return syntax("a number");
    }
    rest = rest.drop_front(length);
    return whole ? Attribute(builder.getI64IntegerAttr(integer)) : builder.getF64FloatAttr(real);
  }

  mlir::Builder builder;
  StringRef whole, rest;
  Names &names;
  EmitError error;
  int depth = 0; // of parentheses
};

} // namespace

Attribute evaluate(mlir::MLIRContext *context, StringRef text, Names &names, EmitError error) {
  return Evaluator(context, text, names, error).run();
}

namespace {

Attribute evaluateNumber(Attribute value, Names &names, EmitError error) {
  auto expression = llvm::dyn_cast<ExprAttr>(value);
  if (!expression) {
    return value;
  }
  Attribute result = evaluate(value.getContext(), expression.getText(), names, error);
  if (result && isState(result)) {
    error() << "\"" << expression.getText() << "\": expected a number, got " << show(result);
    return {};
  }
  return result;
}

Attribute evaluateState(Attribute value, Names &names, EmitError error) {
  auto expression = llvm::dyn_cast<ExprAttr>(value);
  Attribute result = expression ? evaluate(value.getContext(), expression.getText(), names, error) : value;
  if (result && !isState(result)) {
    error() << "expected S(dim), B, P or P(max), got " << show(result);
    return {};
  }
  return result;
}

} // namespace

Attribute evaluateAll(Attribute value, Names &names, EmitError error) {
  mlir::MLIRContext *context = value.getContext();
  if (auto list = llvm::dyn_cast<mlir::ArrayAttr>(value)) {
    llvm::SmallVector<Attribute> elements;
    for (Attribute element : list) {
      elements.push_back(evaluateNumber(element, names, error));
      if (!elements.back()) {
        return {};
      }
      if (llvm::isa<mlir::FloatAttr>(elements.back())) {
        error() << "expected whole numbers, got " << show(elements.back());
        return {};
      }
    }
    return mlir::ArrayAttr::get(context, elements);
  }
  if (auto init = llvm::dyn_cast<ir::InitAttr>(value)) {
    llvm::SmallVector<Attribute> arguments;
    for (Attribute argument : init.getArguments()) {
      arguments.push_back(evaluateNumber(argument, names, error));
      if (!arguments.back()) {
        return {};
      }
    }
    return ir::InitAttr::get(context, init.getKind(), arguments);
  }
  if (auto pins = llvm::dyn_cast<mlir::DictionaryAttr>(value)) {
    mlir::NamedAttrList states;
    for (mlir::NamedAttribute pin : pins) {
      Attribute state = evaluateState(pin.getValue(), names, error);
      if (!state) {
        return {};
      }
      states.append(pin.getName(), state);
    }
    return states.getDictionary(context);
  }
  return evaluateNumber(value, names, error);
}

std::string listOf(llvm::ArrayRef<StringRef> words) {
  std::string text;
  for (auto [i, word] : llvm::enumerate(words)) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + word.str();
  }
  return text;
}

} // namespace weft::compiler
