#include "tools/compare/compare.h"

#include <algorithm>
#include <fstream>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "compiler/auto/decide.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/variants.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/load.h"
#include "runtime/plan/machine.h"
#include "runtime/plan/names.h"
#include "runtime/plan/validate.h"
#include "runtime/sim/simulate.h"

namespace weft::tools {
namespace {

// A variant of the job that may be compiled.
struct Variant {
  Job job;
  Cluster cluster;
  std::string shared; // see compiler::sharedPart
  size_t entry = 0;
};

// Keys that do not exist, and values of another kind, are mistakes of whoever typed them; what a job cannot have
// together is not.
absl::Status checkOverride(const std::string &text) {
  Job any;
  return ApplyOverride(text, &any);
}

// The variant of a set. An error is one of the request; what the job cannot have is said in `entry`.
absl::StatusOr<std::optional<Variant>> variantOf(const std::string &path, Entry &entry) {
  std::vector<std::string> ofCluster, ofJob;
  for (const std::string &text : entry.set) {
    (IsClusterOverride(text) ? ofCluster : ofJob).push_back(text);
  }
  for (const std::string &text : ofJob) {
    WEFT_RETURN_IF_ERROR(checkOverride(text));
  }
  const absl::StatusOr<Job> job = LoadJob(path, ofJob);
  if (absl::IsNotFound(job.status())) {
    return job.status();
  }
  if (!job.ok()) {
    entry.reason = std::string(absl::StripPrefix(job.status().message(), path + ": "));
    return std::nullopt;
  }
  const Job located = LocateJob(*job, path);
  Variant variant{*job, {}, "", 0};
  WEFT_ASSIGN_OR_RETURN(variant.cluster, LoadCluster(located.cluster(), ofCluster));
  if (absl::Status status = CheckOnCluster(located, variant.cluster); !status.ok()) {
    entry.reason = std::string(status.message());
    return std::nullopt;
  }
  variant.shared = compiler::sharedPart(located, variant.cluster);
  return variant;
}

void fill(const plan::Plan &plan, Entry &entry) {
  entry.figures = plan::FiguresOf(plan);
  entry.tokens = plan.header().tokens_per_step();
  if (entry.figures->headroom_bytes.value_or(0) < 0) {
    entry.reason = absl::StrCat("does not fit: ", plan::BytesText(entry.figures->peak_bytes), " a rank, ",
                                plan::BytesText(-*entry.figures->headroom_bytes), " more than a device has");
  }
}

absl::StatusOr<plan::Plan> loaded(const std::string &path) {
  WEFT_ASSIGN_OR_RETURN(plan::Plan plan, plan::Load(path));
  absl::Status status = plan::Validate(plan);
  if (status.ok()) {
    const absl::StatusOr<sim::Report> report = sim::Simulate(plan, plan::MachineOf(plan));
    status = report.status();
    if (report.ok()) {
      sim::SetPrediction(*report, &plan);
      return plan;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", status.message()));
}

// A variant that leaves its layout open is compared with the one that the compiler chooses, which then stands beside
// it.
absl::StatusOr<plan::Plan> chosen(const Variant &variant, const std::string &job, Entry &entry) {
  compiler::CompileOptions options;
  options.job = variant.job;
  options.jobFile = job;
  options.cluster = variant.cluster;
  WEFT_ASSIGN_OR_RETURN(compiler::Decided decided, compiler::decide(options, {}));
  for (const std::string &key : parseSet(decided.plan.header().decision().best(0).keys())) {
    entry.set.push_back(key);
  }
  entry.name = textOf(entry.set);
  return std::move(decided.plan);
}

// Compiles the variants, those that share most after one another.
void compileAll(const std::string &job, std::vector<Variant> &variants, std::vector<Entry> &entries,
                const Progress &progress) {
  std::sort(variants.begin(), variants.end(), [](const Variant &a, const Variant &b) {
    return std::tie(a.shared, a.entry) < std::tie(b.shared, b.entry);
  });
  compiler::Variants compiled;
  for (size_t i = 0; i < variants.size(); ++i) {
    Entry &entry = entries[variants[i].entry];
    progress(i, variants.size(), entry.name);
    const Variant &variant = variants[i];
    const absl::StatusOr<plan::Plan> plan = variant.job.graph().auto_parallel()
                                                ? chosen(variant, job, entry)
                                                : compiled.compile(variant.job, job, variant.cluster);
    if (plan.ok()) {
      fill(*plan, entry);
    } else {
      // Of an error that was printed at its line.
      entry.reason =
          plan.status().message().empty() ? "the model is wrong, as shown" : std::string(plan.status().message());
    }
  }
  progress(variants.size(), variants.size(), "");
}

// The reason why no entry has a plan, if it is the same one for all.
std::string commonReason(const std::vector<Entry> &entries) {
  const bool common = !entries.empty() && std::all_of(entries.begin(), entries.end(), [&](const Entry &entry) {
    return !entry.figures.has_value() && entry.reason == entries[0].reason;
  });
  return common ? entries[0].reason : "";
}

void sort(std::vector<Entry> &entries) {
  std::vector<std::tuple<int, double, size_t>> order;
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::optional<plan::Figures> &figures = entries[i].figures;
    order.emplace_back(entries[i].fits()     ? 0
                       : figures.has_value() ? 1
                                             : 2,
                       entries[i].fits()     ? figures->step_s
                       : figures.has_value() ? double(figures->peak_bytes)
                                             : 0,
                       i);
  }
  std::sort(order.begin(), order.end());
  std::vector<Entry> sorted;
  for (const auto &[kind, value, i] : order) {
    sorted.push_back(std::move(entries[i]));
  }
  entries = std::move(sorted);
}

} // namespace

bool isPlan(const std::string &path) {
  if (absl::EndsWith(path, ".plan")) {
    return true;
  }
  constexpr absl::string_view magic = plan::kPlanMagic;
  std::string head(magic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), std::streamsize(head.size())) && head == magic;
}

absl::StatusOr<std::vector<Entry>> compare(const Question &question, const Progress &progress) {
  std::vector<Entry> entries;
  for (const std::string &path : question.plans) {
    WEFT_ASSIGN_OR_RETURN(const plan::Plan plan, loaded(path));
    Entry &entry = entries.emplace_back();
    entry.name = entry.plan = path;
    fill(plan, entry);
  }
  std::vector<Variant> variants;
  for (const Set &set : question.sets) {
    Entry &entry = entries.emplace_back();
    entry.name = textOf(set);
    entry.set = set;
    WEFT_ASSIGN_OR_RETURN(std::optional<Variant> variant, variantOf(question.job, entry));
    if (variant.has_value()) {
      variant->entry = entries.size() - 1;
      variants.push_back(*std::move(variant));
    }
  }
  if (!variants.empty()) {
    compileAll(question.job, variants, entries, progress);
  }
  if (const std::string reason = commonReason(entries); !reason.empty()) {
    // What is wrong at a line of the job names the file already.
    const bool named = absl::StartsWith(reason, question.job + ":");
    return absl::InvalidArgumentError(named ? reason : absl::StrCat(question.job, ": ", reason));
  }
  sort(entries);
  return entries;
}

} // namespace weft::tools
