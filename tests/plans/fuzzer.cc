#include "tests/plans/fuzzer.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/load.h"
#include "runtime/plan/machine.h"
#include "runtime/plan/program.h"
#include "runtime/proof/verify.h"
#include "runtime/show/print.h"
#include "runtime/sim/simulate.h"
#include "tests/plans/corpus.h"
#include "tests/plans/plan_mutator.h"
#include "tests/plans/stamps.h"

namespace weft::plan {
namespace {

// "rank #: actor `...`: ...": kinds of messages.
std::string KindOf(const absl::Status& status) {
  std::string kind;
  bool quoted = false;
  for (char c : std::string(status.message().data(), status.message().size())) {
    if (c == '`') quoted = !quoted;
    if (quoted && c != '`') continue;
    if (!std::isdigit(static_cast<unsigned char>(c))) kind += c;
  }
  return kind;
}

// Plans of models, small enough to be run thousands of times.
absl::StatusOr<std::vector<std::string>> Compile(const std::string& folder) {
  constexpr char kCompiler[] = "tools/compile/weft-compile";
  constexpr char kGpt2[] =
      "models/gpt2/tiny.job --set layers=2 --set hidden=16 --set heads=2 --set vocab=32 --set seq=8 --set positions=8 "
      "batch.global=8 batch.micro=2 dist.pipeline=2 ";
  constexpr char kMlp[] =
      "models/mlp/mlp.job --set vocab=16 --set seq=4 --set hidden=8 --set inner=16 batch.global=8 batch.micro=4 ";
  const std::vector<std::pair<std::string, std::string>> requests = {
      {"gpt2_1f1b", absl::StrCat(kGpt2, "pipeline.schedule=ONE_F_ONE_B")},
      {"gpt2_data", absl::StrCat(kGpt2, "pipeline.schedule=ONE_F_ONE_B dist.data=2")},
      {"gpt2_3d", absl::StrCat(kGpt2, "pipeline.schedule=GPIPE dist.data=2 dist.tensor=2")},
      {"mlp", absl::StrCat(kMlp, "dist.pipeline=2")},
      {"mlp_data", absl::StrCat(kMlp, "dist.data=2")},
  };
  std::vector<std::string> files;
  if (!std::filesystem::exists(kCompiler)) return files;
  for (const auto& [name, request] : requests) {
    files.push_back(absl::StrCat(folder, "/", name, ".plan"));
    const std::string command = absl::StrCat(kCompiler, " ", request, " -o '", files.back(), "' > /dev/null");
    if (std::system(command.c_str()) != 0) return absl::InternalError(absl::StrCat("failed: ", command));
  }
  return files;
}

// Whether a buffer is as large as what it is a view of, for all of a plan's. Where one is smaller, other buffers may
// lie in the rest while only that part is needed, and the bound, which counts whole buffers, may exceed the arena.
bool HasWholeViewsOnly(const Plan& plan) {
  for (const Program& program : ProgramsOf(plan)) {
    for (size_t b = 0; b < program.root.size(); ++b) {
      if (program.slot_bytes[b] != program.slot_bytes[program.root[b]]) return false;
    }
  }
  return true;
}

// What the tools ask about a verified plan.
absl::Status Describe(const Plan& plan) {
  if (SummaryText(plan, {true}).empty() || SummaryJson(plan, {true}).empty()) {
    return absl::InternalError("the plan has no summary");
  }
  const absl::StatusOr<std::vector<StageMemory>> memory = MeasureMemory(plan);
  if (!memory.ok()) return memory.status();
  const bool whole = HasWholeViewsOnly(plan);
  for (const StageMemory& stage : *memory) {
    if (!whole || stage.lower_bound_bytes <= stage.arena_bytes) continue;
    return absl::InternalError(
        absl::StrCat("the arena of ", stage.arena_bytes, " bytes holds ", stage.lower_bound_bytes, " live bytes"));
  }
  return sim::Simulate(plan, plan::MachineOf(plan)).status();
}

// Generated kernels become ones that trials know by name, as all others: what they compute is nothing to a plan's
// order.
void StampGeneratedKernels(Plan* plan) {
  plan->clear_code();
  for (Stage& stage : *plan->mutable_stages()) {
    for (Actor& actor : *stage.mutable_actors()) {
      for (Kernel& kernel : *actor.mutable_kernels()) {
        kernel.clear_symbol();
        kernel.clear_units();
        kernel.clear_partials();
        kernel.clear_groups();
        kernel.clear_randoms();
      }
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<Base>> ReadBases(const std::vector<std::string>& files, const std::string& folder) {
  absl::StatusOr<std::vector<CorpusPlan>> corpus = ReadCorpus("tests/plans");
  if (!corpus.ok()) return corpus.status();
  absl::StatusOr<std::vector<std::string>> all = Compile(folder);
  if (!all.ok()) return all.status();
  all->insert(all->end(), files.begin(), files.end());
  std::vector<Base> bases;
  for (CorpusPlan& it : *corpus) {
    if (it.expect.empty()) bases.push_back({it.file, std::move(it.plan)});
  }
  for (const std::string& file : *all) {
    absl::StatusOr<Plan> plan = Load(file);
    if (!plan.ok()) return plan.status();
    bases.push_back({std::filesystem::path(file).filename().string(), *std::move(plan)});
  }
  for (Base& base : bases) {
    if (absl::Status status = Verify(base.plan); !status.ok()) return status;
    if (!IsSmall(base.plan)) return absl::InvalidArgumentError(absl::StrCat(base.name, ": too large to be run often"));
    // It follows from the rest, so that nearly every change would make it wrong.
    for (Stage& stage : *base.plan.mutable_stages()) stage.clear_lower_bound_bytes();
    StampGeneratedKernels(&base.plan);
  }
  return bases;
}

Plan Fuzzer::Make(int64_t n, std::string* base) const {
  const uint64_t key = Mix(seed_, static_cast<uint64_t>(n));
  const Base& from = bases_[key % bases_.size()];
  *base = from.name;
  Plan plan = from.plan;
  PlanMutator mutator(key);
  const uint64_t changes = key / 64 % 8 < 4 ? 1 : 1 + key / 512 % 4;
  for (uint64_t c = 0; c < changes; ++c) mutator.Mutate(&plan);
  return plan;
}

absl::Status Fuzzer::Try(int64_t n) {
  std::string base;
  const Plan plan = Make(n, &base);
  ++counts_.made;
  if (!Verify(plan).ok()) return absl::OkStatus();
  ++counts_.verified;
  if (!IsSmall(plan)) return absl::OkStatus();
  ++counts_.small;
  const auto report = [&](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat("plan ", n, " of seed ", seed_, ", from ", base, ": ", status.message()));
  };
  if (absl::Status status = Describe(plan); !status.ok()) return report(status);
  TrialOptions options = options_;
  options.delays = Mix(seed_, static_cast<uint64_t>(n));
  const Trial trial = plan::Try(plan, options);
  if (!trial.fault.ok()) return report(trial.fault);
  if (!trial.refused.ok()) {
    ++counts_.refused[KindOf(trial.refused)];
    return absl::OkStatus();
  }
  ++counts_.loaded;
  ++counts_.ran[base];
  if (n % 4 != 0) return absl::OkStatus();
  const Trial kernels = TryKernels(plan, options);
  if (kernels.refused.ok()) ++counts_.kernels;
  return kernels.fault.ok() ? absl::OkStatus() : report(kernels.fault);
}

}  // namespace weft::plan
