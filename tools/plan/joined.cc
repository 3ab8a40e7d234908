#include "tools/plan/joined.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/joins.h"
#include "runtime/plan/program.h"
#include "runtime/show/joins.h"
#include "runtime/show/print_json.h"

namespace weft::tools {
namespace {

constexpr size_t kMostKernels = 20;  // of text

// A generated kernel, and where joining ended.
struct Joined {
  std::string at;  // "h.3.forward/2": the actor's name, and the kernel's number there
  const plan::Program* program;
  const plan::Kernel* kernel;
  std::vector<plan::Boundary> before, behind;
};

// The part's; of a layer also what has an operator of it among others.
bool Has(const Scope& scope, const plan::Program& program, int32_t actor, const plan::Kernel& kernel) {
  if (scope.HasKernel(program, actor, kernel)) return true;
  const std::vector<plan::Operator> operators = plan::OperatorsOf(kernel);
  return std::any_of(operators.begin(), operators.end(),
                     [&](const plan::Operator& it) { return scope.HasLocation(it.location); });
}

// Of a buffer, what is in it alone.
std::vector<plan::Boundary> Kept(std::vector<plan::Boundary> all, const plan::Program& program, const Scope& scope) {
  if (scope.kind() != Scope::Kind::kBuffer) return all;
  for (plan::Boundary& it : all) std::erase_if(it.buffers, [&](int32_t b) { return !scope.HasBuffer(program, b); });
  std::erase_if(all, [](const plan::Boundary& it) { return it.buffers.empty(); });
  return all;
}

// Of a stage, in the order of its actors.
std::vector<Joined> JoinedIn(const plan::Program& program, const Scope& scope) {
  std::vector<Joined> all;
  const plan::Boundaries boundaries(program);
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    for (int32_t k = 0; k < program.actor(a).kernels_size(); ++k) {
      const plan::Kernel& kernel = program.actor(a).kernels(k);
      if (kernel.symbol().empty() || !Has(scope, program, a, kernel)) continue;
      all.push_back({absl::StrCat(program.actor(a).name(), "/", k), &program, &kernel,
                     Kept(boundaries.Before(a, k), program, scope), Kept(boundaries.Behind(a, k), program, scope)});
    }
  }
  return all;
}

std::vector<Joined> JoinedIn(const std::vector<plan::Program>& programs, const Scope& scope) {
  std::vector<Joined> all;
  if (scope.kind() == Scope::Kind::kPlan) return all;
  for (const plan::Program& program : programs) {
    for (Joined& it : JoinedIn(program, scope)) all.push_back(std::move(it));
  }
  return all;
}

}  // namespace

std::string JoinedText(const plan::Plan& plan, const Scope& scope) {
  const std::vector<plan::Program> programs = plan::ProgramsOf(plan);
  const std::vector<Joined> all = JoinedIn(programs, scope);
  std::string text = all.empty() ? "" : "its generated kernels, and what did not join\n";
  for (size_t i = 0; i < all.size() && i < kMostKernels; ++i) {
    const Joined& it = all[i];
    const bool joins = plan::OperatorsOf(*it.kernel).size() > 1;
    absl::StrAppend(&text, "  ", it.at, joins ? " joins " : " is ", plan::OperatorsText(*it.kernel), "\n");
    for (const plan::Boundary& boundary : it.before) {
      absl::StrAppend(&text, "    not before it ", plan::BoundaryText(*it.program, boundary), "\n");
    }
    for (const plan::Boundary& boundary : it.behind) {
      absl::StrAppend(&text, "    not behind it ", plan::BoundaryText(*it.program, boundary), "\n");
    }
  }
  if (all.size() <= kMostKernels) return text;
  return absl::StrCat(text, "  and ", all.size() - kMostKernels, " more (--json has all)\n");
}

nlohmann::ordered_json JoinedJson(const plan::Plan& plan, const Scope& scope) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  const std::vector<plan::Program> programs = plan::ProgramsOf(plan);
  for (const Joined& it : JoinedIn(programs, scope)) {
    json.push_back({{"kernel", it.at},
                    {"name", it.kernel->name()},
                    {"operators", plan::OperatorsJson(*it.kernel)},
                    {"before", plan::BoundariesJson(*it.program, it.before)},
                    {"behind", plan::BoundariesJson(*it.program, it.behind)}});
  }
  return json;
}

}  // namespace weft::tools
