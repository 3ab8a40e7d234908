#include "runtime/plan/joins.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/plan/apart.h"

namespace weft::plan {
namespace {

// "gelu gpt2.mlir:31:8 in h.3.mlp": the first word, and what is behind it.
using FirstAndRest = std::pair<std::string, std::string>;

std::string TextOf(const Kernel& kernel, const char* note) {
  const auto it = kernel.attributes().find(note);
  return it == kernel.attributes().end() ? "" : it->second.string();
}

}  // namespace

bool IsJoinNote(absl::string_view attribute) { return attribute == kJoined || attribute == kApart; }

void SetOperators(const std::vector<Operator>& operators, Kernel* kernel) {
  if (operators.size() < 2) return;
  (*kernel->mutable_attributes())[kJoined].set_string(
      absl::StrJoin(operators, "\n", [](std::string* text, const Operator& it) {
        absl::StrAppend(text, it.name, it.location.empty() ? "" : " ", it.location);
      }));
}

std::vector<Operator> OperatorsOf(const Kernel& kernel) {
  std::vector<Operator> operators;
  for (const absl::string_view line : absl::StrSplit(TextOf(kernel, kJoined), '\n', absl::SkipEmpty())) {
    auto [name, location] = FirstAndRest(absl::StrSplit(line, absl::MaxSplits(' ', 1)));
    operators.push_back({std::move(name), std::move(location)});
  }
  if (operators.empty()) operators.push_back({kernel.name(), kernel.location()});
  return operators;
}

void SetApart(const std::vector<ApartInput>& apart, Kernel* kernel) {
  if (apart.empty()) return;
  (*kernel->mutable_attributes())[kApart].set_string(absl::StrJoin(
      apart, ", ", [](std::string* text, const ApartInput& it) { absl::StrAppend(text, it.input, " ", it.reason); }));
}

std::vector<ApartInput> ApartOf(const Kernel& kernel) {
  std::vector<ApartInput> apart;
  for (const absl::string_view entry : absl::StrSplit(TextOf(kernel, kApart), ", ", absl::SkipEmpty())) {
    auto [input, reason] = FirstAndRest(absl::StrSplit(entry, absl::MaxSplits(' ', 1)));
    int32_t number = -1;
    if (!absl::SimpleAtoi(input, &number) || number < 0 || number >= kernel.inputs_size()) continue;
    apart.push_back({number, std::move(reason)});
  }
  return apart;
}

std::string ReasonText(const std::string& name) {
  for (const ApartFacts& facts : kApartFacts) {
    if (name == facts.name) return facts.text;
  }
  return name;
}

}  // namespace weft::plan
