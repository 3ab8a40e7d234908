#include "tools/plan/scope.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/words/listed.h"
#include "compiler/words/nearest.h"
#include "runtime/plan/location.h"

namespace weft::tools {
namespace {

// "h", "h.3", "h.3.mlp" of "h.3.mlp/add.4": what a name is within.
void AddOuter(const std::string& name, std::vector<std::string>* names) {
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '.' || name[i] == '/' || name[i] == '#') names->push_back(name.substr(0, i));
  }
}

// Of a layer the part up to its number, "h.3" of "h.3.mlp"; else the first part.
std::string PieceOf(std::string name) {
  name = name.substr(0, name.find_first_of("/#"));
  size_t begin = 0;
  for (size_t end; begin < name.size(); begin = end + 1) {
    end = std::min(name.find('.', begin), name.size());
    if (name.find_first_not_of("0123456789", begin) >= end) return name.substr(0, end);
  }
  return name.substr(0, name.find('.'));
}

void KeepFirstOfEach(std::vector<std::string>* names) {
  std::set<std::string> seen;
  names->erase(
      std::remove_if(names->begin(), names->end(), [&](const std::string& name) { return !seen.insert(name).second; }),
      names->end());
}

// What may have been meant: by a few letters, by a part of a name, or else what there is.
std::string NearNames(const std::string& name, const std::vector<std::string>& actors,
                      const std::vector<std::string>& all) {
  if (const std::string near = DidYouMean(name, all); !near.empty()) return near;
  constexpr size_t kShown = 3;
  std::vector<std::string> within;
  std::copy_if(all.begin(), all.end(), std::back_inserter(within),
               [&](const std::string& known) { return absl::StrContains(known, name); });
  KeepFirstOfEach(&within);
  std::stable_sort(within.begin(), within.end(),
                   [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  within.resize(std::min(within.size(), kShown));
  if (!within.empty()) return absl::StrCat("; near are ", absl::StrJoin(within, ", "));
  std::vector<std::string> pieces;
  for (const std::string& actor : actors) pieces.push_back(PieceOf(actor));
  KeepFirstOfEach(&pieces);
  return pieces.empty() ? "" : absl::StrCat("; there are ", Listed(pieces));
}

// "h.3.forward" and 2 of "h.3.forward/2"; -1 if a name has not this form.
std::pair<std::string, int> ActorAndKernel(const std::string& name) {
  const size_t slash = name.rfind('/');
  int kernel = -1;
  if (slash == name.npos || !absl::SimpleAtoi(name.substr(slash + 1), &kernel)) return {name, -1};
  return {name.substr(0, slash), kernel};
}

}  // namespace

absl::StatusOr<Scope> Scope::Find(absl::Span<const plan::Program> programs, const std::string& name) {
  if (name.empty()) return Scope(Kind::kPlan, "");
  std::vector<std::string> actors, buffers, layers;
  for (const plan::Program& program : programs) {
    for (const plan::Actor& actor : program.stage->actors()) actors.push_back(actor.name());
    for (const plan::Buffer& buffer : program.stage->buffers()) buffers.push_back(buffer.name());
  }
  for (const std::string& actor : actors) AddOuter(actor, &layers);
  for (const std::string& buffer : buffers) AddOuter(buffer, &layers);
  const auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has(actors)) return Scope(Kind::kActor, name);
  if (has(buffers)) return Scope(Kind::kBuffer, name);
  if (has(layers)) return Scope(Kind::kLayer, name);
  const auto [of, number] = ActorAndKernel(name);
  for (const plan::Program& program : programs) {
    for (const plan::Actor& actor : program.stage->actors()) {
      if (actor.name() == of && number >= 0 && number < actor.kernels_size()) return Scope(Kind::kKernel, of, number);
    }
  }
  std::vector<std::string> all = layers;
  all.insert(all.end(), actors.begin(), actors.end());
  all.insert(all.end(), buffers.begin(), buffers.end());
  return absl::NotFoundError(absl::StrCat("expected an actor, a kernel, a buffer or a layer of the plan, got `", name,
                                          "`", NearNames(name, actors, all)));
}

std::string Scope::name() const { return kernel_ < 0 ? name_ : absl::StrCat(name_, "/", kernel_); }

bool Scope::Within(absl::string_view text) const {
  return absl::StartsWith(text, name_) && (text.size() == name_.size() || absl::StrContains("./#", text[name_.size()]));
}

bool Scope::HasLocation(absl::string_view location) const {
  return kind_ == Kind::kLayer && Within(plan::PartsOf(location).scope);
}

bool Scope::HasActor(const plan::Program& program, int32_t actor) const {
  switch (kind_) {
    case Kind::kPlan:
      return true;
    case Kind::kActor:
      return program.actor(actor).name() == name_;
    case Kind::kLayer:
      return Within(program.actor(actor).name());
    case Kind::kBuffer:
    case Kind::kKernel:
      return false;
  }
  return false;
}

bool Scope::HasKernel(const plan::Program& program, int32_t actor, const plan::Kernel& kernel) const {
  if (HasActor(program, actor) || HasLocation(kernel.location())) return true;
  if (kind_ == Kind::kKernel) {
    const plan::Actor& it = program.actor(actor);
    return it.name() == name_ && kernel_ < it.kernels_size() && &it.kernels(kernel_) == &kernel;
  }
  if (kind_ == Kind::kActor) return false;
  const auto has = [&](int32_t b) { return HasBuffer(program, b); };
  const bool writes = std::any_of(kernel.outputs().begin(), kernel.outputs().end(), has);
  const bool reads = std::any_of(kernel.inputs().begin(), kernel.inputs().end(), has);
  return writes || (kind_ == Kind::kBuffer && reads);
}

bool Scope::HasCommunication(const plan::Program& program, int32_t actor) const {
  if (HasActor(program, actor)) return true;
  if (kind_ == Kind::kActor || kind_ == Kind::kKernel) return false;
  const plan::Actor& it = program.actor(actor);
  if (it.end_case() == plan::Actor::kSend) {
    return HasBuffer(program, program.plan->transfers(it.send()).source_buffer());
  }
  if (it.end_case() == plan::Actor::kReceive) {
    return HasBuffer(program, program.plan->transfers(it.receive()).target_buffer());
  }
  return std::any_of(it.collectives().begin(), it.collectives().end(), [&](const plan::Collective& collective) {
    return HasLocation(collective.location()) || HasBuffer(program, collective.input()) ||
           HasBuffer(program, collective.output());
  });
}

bool Scope::HasBuffer(const plan::Program& program, int32_t buffer) const {
  const int32_t root = program.root[buffer];
  switch (kind_) {
    case Kind::kPlan:
      return true;
    case Kind::kBuffer:
      return program.buffer(buffer).name() == name_ || program.buffer(root).name() == name_;
    case Kind::kLayer:
      return Within(program.buffer(buffer).name());
    case Kind::kActor:
    case Kind::kKernel:
      break;
  }
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    if (program.actor(a).name() != name_) continue;
    for (int w = 0; w < static_cast<int>(program.work[a].size()); ++w) {
      if (kernel_ >= 0 && w != kernel_) continue;
      const plan::Work& work = program.work[a][w];
      const auto is = [&](int32_t b) { return program.root[b] == root; };
      if (std::any_of(work.reads.begin(), work.reads.end(), is)) return true;
      if (std::any_of(work.writes.begin(), work.writes.end(), is)) return true;
    }
  }
  return false;
}

}  // namespace weft::tools
