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
bool isNumber(Attribute value) { return llvm::isa<mlir::IntegerAttr, mlir::FloatAttr>(value); }

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
//   comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//   sum        = product { ("+" | "-") product }
//   product    = primary { ("*" | "/" | "floordiv" | "mod") primary }
//   primary    = "-" primary | "(" comparison ")" | number | "S" "(" comparison ")" | "B" | "P" [ "(" "max" ")" ]
//              | function "(" comparison { "," comparison } ")" | name
class Evaluator {
public:
  Evaluator(mlir::MLIRContext *context, StringRef text, Names &names, EmitError error)
      : builder(context), whole(text), rest(text), names(names), error(error) {}

  Attribute run() {
    Attribute value = comparison();
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
    if (value && !isNumber(value)) {
      fail() << "expected a number, got " << show(value);
      return {};
    }
    return value;
  }

  // 1 where it holds, else 0.
  Attribute comparison() {
    Attribute left = sum();
    for (StringRef op : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (left && take(op)) {
        Attribute right = sum();
        if (!right || !requireNumber(left) || !requireNumber(right)) {
          return {};
        }
        const int order = compare(left, right);
        const bool holds = op == "<="   ? order <= 0
                           : op == ">=" ? order >= 0
                           : op == "==" ? order == 0
                           : op == "!=" ? order != 0
                           : op == "<"  ? order < 0
                                        : order > 0;
        return builder.getI64IntegerAttr(holds);
      }
    }
    return left;
  }

  // Below, at or above 0: as left is to right.
  static int compare(Attribute left, Attribute right) {
    auto a = llvm::dyn_cast<mlir::IntegerAttr>(left), b = llvm::dyn_cast<mlir::IntegerAttr>(right);
    if (a && b) {
      return a.getInt() < b.getInt() ? -1 : a.getInt() > b.getInt();
    }
    double x = ir::floatOf(left), y = ir::floatOf(right);
    return x < y ? -1 : x > y;
  }

  Attribute sum() {
    Attribute left = product();
    while (left) {
      StringRef op = take("+") ? "+" : take("-") ? "-" : "";
      if (op.empty()) {
        return left;
      }
      left = binary(left, op, product());
    }
    return left;
  }

  Attribute product() {
    Attribute left = primary();
    while (left) {
      StringRef op = take("*")              ? "*"
                     : take("/")            ? "/"
                     : takeWord("floordiv") ? "floordiv"
                     : takeWord("mod")      ? "mod"
                                            : "";
      if (op.empty()) {
        return left;
      }
      left = binary(left, op, primary());
    }
    return left;
  }

  Attribute binary(Attribute left, StringRef op, Attribute right) {
    if (!left || !right || !requireNumber(left) || !requireNumber(right)) {
      return {};
    }
    auto a = llvm::dyn_cast<mlir::IntegerAttr>(left), b = llvm::dyn_cast<mlir::IntegerAttr>(right);
    if (op != "/" && a && b) {
      return integer(a.getInt(), op, b.getInt());
    }
    if (op == "floordiv" || op == "mod") {
      fail() << op << ": expected whole numbers, got " << show(left) << " and " << show(right);
      return {};
    }
    double x = ir::floatOf(left), y = ir::floatOf(right);
    if (op == "/" && y == 0) {
      fail() << "/: expected a divisor other than 0, got " << show(right);
      return {};
    }
    return builder.getF64FloatAttr(op == "+" ? x + y : op == "-" ? x - y : op == "*" ? x * y : x / y);
  }

  Attribute integer(int64_t a, StringRef op, int64_t b) {
    int64_t value = 0;
    if (op == "floordiv" || op == "mod") {
      if (b <= 0) {
        fail() << op << ": expected a positive divisor, got " << b;
        return {};
      }
      value = op == "floordiv" ? llvm::divideFloorSigned(a, b) : llvm::mod(a, b);
    } else if (op == "+"   ? llvm::AddOverflow(a, b, value)
               : op == "-" ? llvm::SubOverflow(a, b, value)
                           : llvm::MulOverflow(a, b, value)) {
      fail() << "expected a number of at most 63 bits, got " << a << " " << op << " " << b;
      return {};
    }
    return builder.getI64IntegerAttr(value);
  }

  static bool startsNumber(char c) { return llvm::isDigit(c) || c == '.'; }

  Attribute primary() {
    if (take("(")) {
      return deeper([&] { return closed(comparison()); });
    }
    space();
    const bool isMinus = rest.starts_with("-"), isNumber = rest.size() > size_t(isMinus) && startsNumber(rest[isMinus]);
    if (isNumber) {
      return number();
    }
    if (isMinus && take("-")) {
      return deeper([&] { return binary(builder.getI64IntegerAttr(0), "-", primary()); });
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
    return take("(") ? deeper([&] { return call(name); }) : lookup(name);
  }

  Attribute state(StringRef text) { return ExprAttr::get(builder.getContext(), text); }

  // What is within parentheses, or behind a minus.
  Attribute deeper(llvm::function_ref<Attribute()> parse) {
    if (depth == ir::kMaxDepth) {
      error() << "expected at most " << depth << " parentheses within each other, got more";
      return {};
    }
    ++depth;
    Attribute value = parse();
    --depth;
    return value;
  }

  Attribute closed(Attribute value) {
    if (value && !take(")")) {
      return syntax("a closing parenthesis");
    }
    return value;
  }

  // A function, behind its opening parenthesis.
  Attribute call(StringRef name) {
    llvm::SmallVector<Attribute> arguments;
    do {
      arguments.push_back(comparison());
      if (!arguments.back()) {
        return {};
      }
    } while (take(","));
    if (!closed(arguments.back())) {
      return {};
    }
    return apply(name, arguments);
  }

  // `S(dim)`, `if(condition, then, else)`, and functions of numbers.
  Attribute apply(StringRef name, llvm::ArrayRef<Attribute> arguments) {
    constexpr std::pair<StringRef, size_t> kFunctions[] = {{"S", 1},   {"sqrt", 1}, {"rsqrt", 1}, {"exp", 1},
                                                           {"log", 1}, {"min", 2},  {"max", 2},   {"if", 3}};
    const auto *known = llvm::find_if(kFunctions, [&](const auto &function) { return function.first == name; });
    if (known == std::end(kFunctions)) {
      fail() << "unknown function " << name << ": expected "
             << listOf(llvm::to_vector(llvm::drop_begin(llvm::make_first_range(kFunctions))));
      return {};
    }
    if (arguments.size() != known->second) {
      fail() << name << ": expected " << known->second << (known->second == 1 ? " argument" : " arguments") << ", got "
             << arguments.size();
      return {};
    }
    // Of `if`, the condition alone: it may choose between states.
    for (Attribute argument : name == "if" ? arguments.take_front() : arguments) {
      if (!requireNumber(argument)) {
        return {};
      }
    }
    if (name == "if") {
      return arguments[ir::floatOf(arguments[0]) != 0 ? 1 : 2];
    }
    if (name == "min" || name == "max") {
      const int order = compare(arguments[0], arguments[1]);
      return arguments[(name == "min" ? order <= 0 : order >= 0) ? 0 : 1];
    }
    return name == "S" ? split(arguments[0]) : function(name, arguments[0]);
  }

  Attribute split(Attribute argument) {
    auto dim = llvm::dyn_cast<mlir::IntegerAttr>(argument);
    if (!dim || dim.getInt() < 0) {
      fail() << "S: expected a dimension of 0 or more, got " << show(argument);
      return {};
    }
    return state(("S(" + llvm::Twine(dim.getInt()) + ")").str());
  }

  Attribute function(StringRef name, Attribute argument) {
    double x = ir::floatOf(argument);
    if (name != "exp" && !(x > 0)) {
      fail() << name << ": expected a positive number, got " << show(argument);
      return {};
    }
    return builder.getF64FloatAttr(name == "sqrt"    ? std::sqrt(x)
                                   : name == "rsqrt" ? 1 / std::sqrt(x)
                                   : name == "exp"   ? std::exp(x)
                                                     : std::log(x));
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
  int depth = 0; // of parentheses and minuses
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
  if (result && !isNumber(result)) {
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

Attribute evaluateAll(Attribute value, Names &names, EmitError error, bool fractions) {
  mlir::MLIRContext *context = value.getContext();
  if (auto list = llvm::dyn_cast<mlir::ArrayAttr>(value)) {
    llvm::SmallVector<Attribute> elements;
    for (Attribute element : list) {
      elements.push_back(evaluateNumber(element, names, error));
      if (!elements.back()) {
        return {};
      }
      if (!fractions && llvm::isa<mlir::FloatAttr>(elements.back())) {
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
