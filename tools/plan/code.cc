#include "tools/plan/code.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/devices.h"
#include "runtime/plan/program.h"
#include "runtime/show/joins.h"
#include "runtime/trace/file.h"
#include "tools/plan/scope.h"

namespace weft::tools {
namespace {

// The first place of the plan that runs a kernel, and how many others do.
struct Use {
  const plan::Kernel* kernel = nullptr;
  std::string first;  // "h.3.forward/2"
  int64_t others = 0;
};

Outcome Wrong(const std::string& error) { return {"", error, 2}; }

// The symbols of a part's kernels; a symbol's name is a part too.
absl::StatusOr<std::set<std::string>> SymbolsOf(const plan::Plan& plan, const std::vector<plan::Program>& programs,
                                                const std::string& name) {
  const auto& all = plan.code().symbols();
  if (name.empty()) return std::set<std::string>(all.begin(), all.end());
  if (std::find(all.begin(), all.end(), name) != all.end()) return std::set<std::string>{name};
  const absl::StatusOr<Scope> scope = Scope::Find(programs, name);
  if (!scope.ok()) return scope.status();
  std::set<std::string> symbols;
  for (const plan::Program& program : programs) {
    for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
      for (const plan::Kernel& kernel : program.actor(a).kernels()) {
        if (!kernel.symbol().empty() && scope->HasKernel(program, a, kernel)) symbols.insert(kernel.symbol());
      }
    }
  }
  if (symbols.empty()) return absl::NotFoundError(absl::StrCat("`", name, "` has no generated kernel"));
  return symbols;
}

Use UseOf(const std::vector<plan::Program>& programs, const std::string& symbol) {
  Use use;
  for (const plan::Program& program : programs) {
    for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
      const plan::Actor& actor = program.actor(a);
      for (int k = 0; k < actor.kernels_size(); ++k) {
        if (actor.kernels(k).symbol() != symbol) continue;
        if (use.kernel != nullptr) {
          ++use.others;
          continue;
        }
        use = {&actor.kernels(k), absl::StrCat(actor.name(), "/", k), 0};
      }
    }
  }
  return use;
}

// The lines of `text` from the one that begins with `begin` to the next one that is "}"; empty if there is none.
absl::string_view PartOf(absl::string_view text, const std::string& begin) {
  const size_t at = text.find(begin);
  if (at == text.npos) return {};
  const size_t end = text.find("\n}\n", at);
  return text.substr(at, end == text.npos ? text.npos : end + 3 - at);
}

std::string SourceOf(const plan::Plan& plan, const std::vector<plan::Program>& programs, const std::string& symbol) {
  const Use use = UseOf(programs, symbol);
  std::string text;
  if (use.kernel != nullptr) {
    text = absl::StrCat("// ", plan::OperatorsText(*use.kernel), "\n// run by ", use.first,
                        use.others > 0 ? absl::StrCat(" and ", use.others, " more") : "", "\n");
  }
  return absl::StrCat(text, PartOf(plan.code().source(), absl::StrCat("cell.kernel @", symbol, " ")));
}

// The kernel that an entry of the PTX is of: what a second one does for it is called by its name and more.
std::string OwnerOf(const plan::Plan& plan, absl::string_view entry) {
  std::string owner;
  for (const std::string& symbol : plan.code().symbols()) {
    if (symbol.size() > owner.size() && entry.substr(0, symbol.size()) == symbol) owner = symbol;
  }
  return owner;
}

std::string InstructionsOf(const plan::Plan& plan, const std::string& symbol) {
  const std::string begin = ".visible .entry ";
  absl::string_view rest = plan.code().object();
  std::string text;
  for (size_t at = rest.find(begin); at != rest.npos; at = rest.find(begin)) {
    rest.remove_prefix(at);
    const absl::string_view name = rest.substr(begin.size(), rest.find('(') - begin.size());
    if (OwnerOf(plan, name) == symbol) absl::StrAppend(&text, PartOf(rest, begin));
    rest.remove_prefix(begin.size());
  }
  return text;
}

}  // namespace

Outcome RunCode(const plan::Plan& plan, const CodeRequest& request) {
  if (plan.code().symbols().empty()) return Wrong(absl::StrCat(request.path, ": has no generated kernels"));
  const bool is_binary = request.object && plan::IsHost(plan.header().target());
  if (is_binary && (request.output.empty() || !request.name.empty())) {
    return Wrong("code: --object: a host's is one shared object: expected -o FILE and no name");
  }
  const std::vector<plan::Program> programs = plan::ProgramsOf(plan);
  const absl::StatusOr<std::set<std::string>> symbols = SymbolsOf(plan, programs, request.name);
  if (!symbols.ok()) return Wrong(absl::StrCat(request.path, ": ", symbols.status().message()));
  std::string text;
  if (request.object && request.name.empty()) {
    text = plan.code().object();
  } else {
    for (const std::string& symbol : plan.code().symbols()) {
      if (symbols->count(symbol) == 0) continue;
      absl::StrAppend(&text, text.empty() ? "" : "\n",
                      request.object ? InstructionsOf(plan, symbol) : SourceOf(plan, programs, symbol));
    }
  }
  if (request.output.empty()) return {text, "", 0};
  if (absl::Status status = trace::WriteFile(request.output, text); !status.ok()) {
    return Wrong(std::string(status.message()));
  }
  return {absl::StrCat(request.output, ": written\n"), "", 0};
}

}  // namespace weft::tools
