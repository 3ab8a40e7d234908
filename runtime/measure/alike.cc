#include "runtime/measure/alike.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace weft::plan {
namespace {

bool IsNumber(absl::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), absl::ascii_isdigit);
}

}  // namespace

Numbered::Numbered(const std::string& text) : parts_(absl::StrSplit(text, '.')) {}

std::string Numbered::Key() const {
  std::vector<std::string> parts = parts_;
  for (std::string& part : parts) {
    if (IsNumber(part)) part = "*";
  }
  return absl::StrJoin(parts, ".");
}

void Numbered::Merge(const Numbered& other) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i] != other.parts_[i]) parts_[i] = "*";
  }
}

std::string Numbered::Text() const { return absl::StrJoin(parts_, "."); }

Origins::Origins(const Program& program) : program_(program), makers_(program.root.size()) {
  for (const Actor& actor : program.stage->actors()) {
    for (const Kernel& kernel : actor.kernels()) {
      const int32_t from = kernel.inputs_size() > 0 ? kernel.inputs(0) : -1;
      for (int32_t b : kernel.outputs()) Add(b, kernel.location(), from);
    }
    for (const Collective& collective : actor.collectives()) {
      Add(collective.output(), collective.location(), collective.input());
    }
  }
}

const std::string& Origins::Of(int32_t buffer) const {
  const Maker* maker = &makers_[program_.root[buffer]];
  for (size_t steps = 0; steps < makers_.size(); ++steps) {
    if (maker->location == nullptr || !maker->location->empty() || maker->from < 0) break;
    maker = &makers_[program_.root[maker->from]];
  }
  static const std::string kUnknown;
  return maker->location == nullptr ? kUnknown : *maker->location;
}

void Origins::Add(int32_t b, const std::string& location, int32_t from) {
  Maker& maker = makers_[program_.root[b]];
  if (maker.location == nullptr) maker = {&location, from};
}

}  // namespace weft::plan
