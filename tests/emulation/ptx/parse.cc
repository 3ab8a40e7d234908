#include "tests/emulation/ptx/parse.h"

#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ops/abi/status_macros.h"
#include "tests/emulation/ptx/compute.h"

namespace weft::ptx {
namespace {

std::string Stripped(absl::string_view text) { return std::string(absl::StripAsciiWhitespace(text)); }

// Pieces between commas that are in no braces or brackets.
std::vector<std::string> OperandsOf(const std::string& text) {
  std::vector<std::string> operands;
  std::string one;
  int depth = 0;
  for (char c : text) {
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (c == ',' && depth == 0) {
      operands.push_back(Stripped(one));
      one.clear();
    } else {
      one += c;
    }
  }
  if (!Stripped(one).empty()) operands.push_back(Stripped(one));
  return operands;
}

// The number in "name[24]" or "%r<24>".
int64_t CountIn(const std::string& text) {
  const size_t at = text.find_first_of("[<");
  return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + 1);
}

// The bytes of a type, "f32".
int BytesOf(const std::string& type) {
  int bits = 0;
  return !type.empty() && absl::SimpleAtoi(type.substr(1), &bits) ? bits / 8 : 0;
}

class Parser {
 public:
  absl::StatusOr<std::vector<Program>> Run(const std::string& text) {
    std::string statement;
    const std::vector<std::string> lines = absl::StrSplit(text, '\n');
    for (const std::string& whole : lines) {
      ++line_;
      const std::string line = Stripped(whole.substr(0, whole.find("//")));
      if (line.empty()) continue;
      statement += statement.empty() ? line : " " + line;
      const char last = statement.back();
      const bool is_directive = statement[0] == '.' && statement.find(".entry") == std::string::npos && last != ',';
      const bool is_entry = statement.find(".entry") != std::string::npos && last == ')';
      if (last != ';' && last != ':' && last != '{' && last != '}' && !is_directive && !is_entry) continue;
      WEFT_RETURN_IF_ERROR(Statement(last == ';' ? Stripped(statement.substr(0, statement.size() - 1)) : statement));
      statement.clear();
    }
    return std::move(programs_);
  }

 private:
  absl::Status Unknown(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat("PTX, line ", line_, ": not known: ", what));
  }

  absl::Status Statement(const std::string& text) {
    if (text == "{") return absl::OkStatus();
    if (text == "}") return End();
    if (text.back() == ':') {
      labels_[text.substr(0, text.size() - 1)] = static_cast<int>(program_.instructions.size());
      return absl::OkStatus();
    }
    if (text[0] == '.') return Directive(text);
    if (text[0] != '{') return InstructionOf(text);
    // { .reg .b32 tmp; mov.b64 {tmp, %r1}, %rd1; }
    const std::vector<std::string> parts = absl::StrSplit(text.substr(1, text.size() - 2), ';');
    for (const std::string& part : parts) {
      if (!Stripped(part).empty()) WEFT_RETURN_IF_ERROR(Statement(Stripped(part)));
    }
    return absl::OkStatus();
  }

  absl::Status Directive(const std::string& text) {
    const std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words[0] == ".version" || words[0] == ".target" || words[0] == ".address_size" || words[0] == ".reg" ||
        words[0] == ".pragma") {
      return absl::OkStatus();
    }
    if (words[0] == ".maxntid" || words[0] == ".reqntid") {
      program_.threads = static_cast<uint32_t>(std::atoi(words[1].c_str()));
      return absl::OkStatus();
    }
    if (words[0] == ".shared") {
      const std::string& name = words.back();
      shared_[name.substr(0, name.find('['))] = program_.shared_bytes;
      program_.shared_bytes += (static_cast<size_t>(CountIn(name)) * ElementBytes(words) + 15) / 16 * 16;
      return absl::OkStatus();
    }
    if (words[0] == ".visible" && words[1] == ".entry") return Entry(text);
    return Unknown(text);
  }

  static size_t ElementBytes(const std::vector<std::string>& words) {
    return static_cast<size_t>(std::max(BytesOf(words[words.size() - 2].substr(1)), 1));
  }

  // .visible .entry NAME( .param .align 8 .b8 NAME_param_0[24] )
  absl::Status Entry(const std::string& text) {
    program_ = {};
    registers_.clear();
    labels_.clear();
    jumps_.clear();
    constants_.clear();
    const size_t open = text.find('('), name = text.find(".entry") + 6;
    program_.name = Stripped(text.substr(name, open - name));
    const std::vector<std::string> words =
        absl::StrSplit(text.substr(open + 1, text.find(')') - open - 1), absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.size() != 5 || words[3] != ".b8") return Unknown(absl::StrCat(text, " (one struct is expected)"));
    parameter_ = words[4].substr(0, words[4].find('['));
    program_.argument_bytes = static_cast<size_t>(CountIn(words[4]));
    return absl::OkStatus();
  }

  absl::Status End() {
    for (const auto& [at, label] : jumps_) {
      const auto found = labels_.find(label);
      if (found == labels_.end()) return Unknown(label);
      program_.instructions[static_cast<size_t>(at)].target = found->second;
    }
    program_.registers = next_;
    programs_.push_back(std::move(program_));
    program_ = {};
    next_ = 0;
    shared_.clear();
    return absl::OkStatus();
  }

  absl::Status InstructionOf(const std::string& text) {
    Instruction made;
    made.line = line_;
    std::string rest = text;
    if (rest[0] == '@') {
      const size_t space = rest.find_first_of(" \t");
      made.unless = rest[1] == '!';
      made.guard = RegisterOf(rest.substr(made.unless ? 2 : 1, space - (made.unless ? 2 : 1)));
      rest = Stripped(rest.substr(space));
    }
    const size_t space = rest.find_first_of(" \t");
    const std::string name = rest.substr(0, space);
    const std::vector<std::string> operands =
        OperandsOf(space == std::string::npos ? std::string() : rest.substr(space));
    const std::vector<std::string> words = absl::StrSplit(name, '.');
    if (words[0] == "ret" || words[0] == "exit") {
      made.kind = Kind::kReturn;
    } else if (words[0] == "bra") {
      made.kind = Kind::kBranch;
      jumps_.push_back({static_cast<int>(program_.instructions.size()), operands.at(0)});
    } else if (name == "bar.sync" || name == "barrier.sync") {
      made.kind = Kind::kBarrier;
    } else if (words[0] == "ld" || words[0] == "st") {
      WEFT_RETURN_IF_ERROR(Access(words, operands, made));
    } else if (name == "shfl.sync.bfly.b32") {
      made.kind = Kind::kExchange;
      made.to = {RegisterOf(operands.at(0).substr(0, operands[0].find('|')))};
      for (size_t i = 1; i < operands.size(); ++i) made.from.push_back(Source(operands[i]));
    } else if (words[0] == "mov" && operands.at(1)[0] == '{') {
      made.kind = Kind::kPack;
      made.to = {RegisterOf(operands[0])};
      made.from = ListOf(operands[1]);
      made.bytes = BytesOf(words.back()) / static_cast<int>(made.from.size());
    } else if (words[0] == "mov" && operands[0][0] == '{') {
      made.kind = Kind::kUnpack;
      const std::string inside = operands[0].substr(1, operands[0].size() - 2);
      for (const std::string& one : OperandsOf(inside)) made.to.push_back(RegisterOf(one));
      made.from = {Source(operands[1])};
      made.bytes = BytesOf(words.back()) / static_cast<int>(made.to.size());
    } else if (const size_t bar = operands.at(0).find('|'); words.back() == "f16x2" && bar != std::string::npos) {
      const std::string low = operands[0].substr(0, bar), high = operands[0].substr(bar + 1);
      return Both(name, {low, high}, Behind(operands), made, text);
    } else {
      const bool isInsert = name == "bfi.b32";
      WEFT_RETURN_IF_ERROR(Computing(name, operands[0], isInsert ? Inserted(operands) : Behind(operands), made, text));
    }
    program_.instructions.push_back(std::move(made));
    return absl::OkStatus();
  }

  static std::vector<std::string> Behind(const std::vector<std::string>& operands) {
    return {operands.begin() + 1, operands.end()};
  }

  // bfi.b32 %r1, %r2, %r3, 8, 8: the numbers, of which nothing but constants is made, in one.
  static std::vector<std::string> Inserted(const std::vector<std::string>& operands) {
    int first = 0, count = 0;
    const bool known =
        operands.size() == 5 && absl::SimpleAtoi(operands[3], &first) && absl::SimpleAtoi(operands[4], &count);
    if (!known) return {};
    return {operands[1], operands[2], absl::StrCat(first | count << 8)};
  }

  absl::Status Computing(const std::string& name, const std::string& to, const std::vector<std::string>& from,
                         Instruction& made, const std::string& text) {
    made.compute = ComputeOf(name);
    if (made.compute == nullptr || from.empty() || from.size() > 3) return Unknown(text);
    made.to = {RegisterOf(to)};
    for (size_t i = 0; i < 3; ++i) made.from.push_back(Source(from[std::min(i, from.size() - 1)]));
    return absl::OkStatus();
  }

  // setp.lt.f16x2 %p1|%p2, %r1, %r2
  absl::Status Both(const std::string& name, const std::array<std::string, 2>& to, const std::vector<std::string>& from,
                    const Instruction& like, const std::string& text) {
    for (int half = 0; half < 2; ++half) {
      Instruction made = like;
      WEFT_RETURN_IF_ERROR(Computing(absl::StrCat(name, half == 0 ? ".low" : ".high"), to[half], from, made, text));
      program_.instructions.push_back(std::move(made));
    }
    return absl::OkStatus();
  }

  // ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd5+16]
  absl::Status Access(const std::vector<std::string>& words, const std::vector<std::string>& operands,
                      Instruction& made) {
    const bool loads = words[0] == "ld";
    made.kind = loads ? Kind::kLoad : Kind::kStore;
    if (words[1] == "global") {
      made.space = Space::kGlobal;
    } else if (words[1] == "shared") {
      made.space = Space::kShared;
    } else if (words[1] == "param" && loads) {
      made.space = Space::kParameter;
    } else {
      return Unknown(absl::StrCat(words[0], ".", words[1]));
    }
    made.bytes = BytesOf(words.back());
    if (loads && words.back()[0] == 's') made.widened = BytesOfRegister(ListedIn(operands.at(0)).at(0));
    const std::string& memory = operands.at(loads ? 1 : 0);
    (loads ? made.to : made.from) = ListOf(operands.at(loads ? 0 : 1));
    const std::string inside = memory.substr(1, memory.size() - 2);
    const size_t plus = inside.find('+');  // of "%rd5+16" and "%rd5+-16"
    const std::string base = Stripped(inside.substr(0, plus));
    made.offset = plus == std::string::npos ? 0 : std::atoll(inside.c_str() + plus + 1);
    made.from.insert(made.from.begin(), Source(base));
    return absl::OkStatus();
  }

  // "{%f1, %f2}", or one of it.
  static std::vector<std::string> ListedIn(const std::string& text) {
    return OperandsOf(text[0] == '{' ? text.substr(1, text.size() - 2) : text);
  }
  std::vector<int> ListOf(const std::string& text) {
    std::vector<int> list;
    for (const std::string& one : ListedIn(text)) list.push_back(one[0] == '%' ? RegisterOf(one) : Source(one));
    return list;
  }

  // Of integers, by how LLVM names them: "%rd1", "%rs1", "%r1".
  static int BytesOfRegister(const std::string& name) {
    return name.compare(0, 3, "%rd") == 0 ? 8 : name.compare(0, 3, "%rs") == 0 ? 2 : 4;
  }

  int RegisterOf(const std::string& name) {
    const auto [found, is_new] = registers_.try_emplace(name, next_);
    if (is_new) ++next_;
    return found->second;
  }

  int Constant(uint64_t value) {
    const auto [found, is_new] = constants_.try_emplace(value, next_);
    if (is_new) program_.constants.push_back({next_++, value});
    return found->second;
  }

  int Source(const std::string& text) {
    if (text == "%tid.x") return program_.thread = RegisterOf(text);
    if (text == "%ctaid.x") return program_.block = RegisterOf(text);
    if (text[0] == '%') return RegisterOf(text);
    if (text == parameter_) return Constant(0);
    if (const auto found = shared_.find(text); found != shared_.end()) return Constant(found->second);
    if (text.size() == 10 && text.substr(0, 2) == "0f") return Constant(std::strtoull(text.c_str() + 2, nullptr, 16));
    return Constant(static_cast<uint64_t>(std::strtoll(text.c_str(), nullptr, 0)));
  }

  int line_ = 0, next_ = 0;
  std::vector<Program> programs_;
  Program program_;
  std::string parameter_;
  std::map<std::string, int> registers_, labels_;
  std::map<uint64_t, int> constants_;
  std::map<std::string, size_t> shared_;
  std::vector<std::pair<int, std::string>> jumps_;
};

}  // namespace

absl::StatusOr<std::vector<Program>> ProgramsOf(const std::string& text) { return Parser().Run(text); }

}  // namespace weft::ptx
