#include "runtime/show/joins.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/joins.h"
#include "runtime/plan/location.h"
#include "runtime/plan/names.h"

namespace weft::plan {
namespace {

// Reasons that the plan shows by itself: joining is of generated kernels.
constexpr std::pair<const char*, const char*> kRegistered = {"registered", "its kernel is not a generated one"};
constexpr std::pair<const char*, const char*> kCollective = {"collective", "a collective is between"};
constexpr std::pair<const char*, const char*> kStage = {"stage", "it is another stage's"};
constexpr std::pair<const char*, const char*> kSeveral = {"several", "several kernels write what is between"};

// "gpt2.mlir:31" and "h.3.mlp" of "gpt2.mlir:31:8 in h.3.mlp".
std::pair<std::string, std::string> LineAndScope(const std::string& location) {
  const LocationParts parts = PartsOf(location);
  const size_t column = parts.line.rfind(':');
  return {parts.line.substr(0, column), parts.scope};
}

// "gpt2.mlir:30, 31, layers.mlir:9": lines of one file together.
std::string LinesText(const std::vector<std::string>& lines) {
  std::string text, file;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (std::find(lines.begin(), lines.begin() + static_cast<long>(i), lines[i]) !=
        lines.begin() + static_cast<long>(i))
      continue;
    const size_t number = lines[i].rfind(':') + 1;
    const bool same = !text.empty() && lines[i].substr(0, number) == file;
    absl::StrAppend(&text, text.empty() ? "" : ", ", same ? lines[i].substr(number) : lines[i]);
    file = lines[i].substr(0, number);
  }
  return text;
}

}  // namespace

std::string OperatorsText(const Kernel& kernel) {
  const std::vector<Operator> operators = OperatorsOf(kernel);
  std::vector<std::string> groups;
  for (size_t i = 0; i < operators.size();) {
    const std::string scope = LineAndScope(operators[i].location).second;
    std::vector<std::string> names, lines;
    for (; i < operators.size() && LineAndScope(operators[i].location).second == scope; ++i) {
      names.push_back(operators[i].name);
      if (std::string line = LineAndScope(operators[i].location).first; !line.empty()) lines.push_back(std::move(line));
    }
    groups.push_back(absl::StrCat(absl::StrJoin(names, ", "), scope.empty() ? "" : " of ", scope,
                                  lines.empty() ? "" : absl::StrCat(" (", LinesText(lines), ")")));
  }
  return absl::StrJoin(groups, ", ");
}

namespace {

// Those of one thing and one reason are one.
void Add(Boundary boundary, std::vector<Boundary>* all) {
  if (boundary.reason.empty()) return;
  const auto known = std::find_if(all->begin(), all->end(), [&](const Boundary& it) {
    return it.other == boundary.other && it.reason == boundary.reason;
  });
  if (known == all->end()) return all->push_back(std::move(boundary));
  for (int32_t b : boundary.buffers) {
    if (std::find(known->buffers.begin(), known->buffers.end(), b) == known->buffers.end()) known->buffers.push_back(b);
  }
}

}  // namespace

Boundaries::Boundaries(const Program& program)
    : program_(program), makers_(program.root.size()), readers_(program.root.size()) {
  const auto add = [](std::vector<At>& all, const At& at) {
    if (std::find(all.begin(), all.end(), at) == all.end()) all.push_back(at);
  };
  const auto each = [&](auto visit) {
    for (int32_t a = 0; a < static_cast<int32_t>(program.work.size()); ++a) {
      for (int32_t w = 0; w < static_cast<int32_t>(program.work[a].size()); ++w) visit(At{a, w}, program.work[a][w]);
    }
  };
  each([&](const At& at, const Work& work) {
    for (int32_t b : work.writes) add(makers_[b], at);
  });
  each([&](const At& at, const Work& work) {
    for (int32_t b : work.reads) {
      if (const int32_t made = MadeOf(b); made >= 0) add(readers_[made], at);
    }
  });
}

std::vector<Boundary> Boundaries::Before(int32_t actor, int32_t kernel) const {
  std::vector<Boundary> all;
  const At reader{actor, kernel};
  for (int32_t b : program_.actor(actor).kernels(kernel).inputs()) {
    const int32_t made = program_.persistent[program_.root[b]] ? -1 : MadeOf(b);
    for (const At& maker : made < 0 ? std::vector<At>() : makers_[made]) {
      Add(Between(maker, reader, made, maker), &all);
    }
  }
  return all;
}

std::vector<Boundary> Boundaries::Behind(int32_t actor, int32_t kernel) const {
  std::vector<Boundary> all;
  const At maker{actor, kernel};
  for (int32_t b : program_.actor(actor).kernels(kernel).outputs()) {
    if (program_.persistent[program_.root[b]]) continue;
    for (const At& reader : readers_[b]) Add(Between(maker, reader, b, reader), &all);
  }
  return all;
}

const Kernel* Boundaries::KernelAt(const At& at) const {
  const Actor& actor = program_.actor(at.actor);
  return at.work < actor.kernels_size() ? &actor.kernels(at.work) : nullptr;
}

int32_t Boundaries::MadeOf(int32_t b) const {
  while (makers_[b].empty()) {
    if (program_.buffer(b).alias_of() == 0) return -1;
    b = program_.buffer(b).alias_of() - 1;
  }
  return b;
}

Boundary Boundaries::Between(const At& maker, const At& reader, int32_t made, const At& other) const {
  if (maker == reader) return {};
  Boundary boundary;
  boundary.buffers = {made};
  const Actor& actor = program_.actor(other.actor);
  const Kernel *from = KernelAt(maker), *to = KernelAt(reader);
  boundary.other = KernelAt(other) != nullptr     ? KernelAt(other)->name()
                   : actor.collectives_size() > 0 ? BundleText(actor)
                                                  : "transfer";
  const auto because = [&](const std::pair<const char*, const char*>& reason) {
    std::tie(boundary.reason, boundary.text) = reason;
    return boundary;
  };
  if (from == nullptr || to == nullptr) return because(actor.collectives_size() > 0 ? kCollective : kStage);
  if (from->symbol().empty() || to->symbol().empty()) return because(kRegistered);
  for (const ApartInput& it : ApartOf(*to)) {
    if (MadeOf(to->inputs(it.input)) != made) continue;
    boundary.asked = true;
    boundary.reason = it.reason;
    boundary.text = ReasonText(it.reason);
    return boundary;
  }
  return makers_[made].size() > 1 ? because(kSeveral) : Boundary();
}

std::string BoundaryText(const Program& program, const Boundary& boundary) {
  const size_t count = boundary.buffers.size();
  return absl::StrCat(boundary.other, " (", program.buffer(boundary.buffers[0]).name(),
                      count == 1 ? "" : absl::StrCat(" and ", count - 1, " more"), "): ", boundary.text);
}

}  // namespace weft::plan
