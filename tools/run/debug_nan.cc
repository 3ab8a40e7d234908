#include "tools/run/debug_nan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "runtime/plan/program.h"
#include "runtime/semantics/execution.h"
#include "tools/run/numbers.h"
#include "tools/run/state.h"

namespace weft::run {
namespace {

using executor::Executor;
using executor::ProbeSite;

// Inputs of a kernel that are shown.
constexpr size_t kMostInputs = 8;

// Between fields and between records that processes tell each other.
constexpr char kField = '\x1f', kRecord = '\x1e';

// An act of a plan: stage, actor, micro-batch.
using ActKey = std::tuple<int, int32_t, int64_t>;

// Where a rank has made something that is not finite of what is finite.
struct Finding {
  ActKey act;
  int32_t work = 0;
  int rank = 0;
  bool collective = false;
  std::string text;
};

// Host memory with what a stream has made so far.
class HostCopy {
 public:
  HostCopy(device::Device& device, device::Stream& stream) : device_(device), stream_(stream) {}

  absl::StatusOr<const void*> Of(const void* address, size_t bytes) {
    if (device_.host_addressable()) return address;
    auto memory = device_.AllocateHostMemory(static_cast<int64_t>(bytes));
    if (!memory.ok()) return memory.status();
    memory_ = *std::move(memory);
    auto event = device_.CreateEvent();
    if (!event.ok()) return event.status();
    absl::Status status = stream_.Copy(memory_->base(), address, bytes);
    if (status.ok()) status = stream_.Record(**event);
    if (status.ok()) status = (*event)->Synchronize();
    if (!status.ok()) return status;
    return memory_->base();
  }

 private:
  device::Device& device_;
  device::Stream& stream_;
  std::unique_ptr<device::Arena> memory_;
};

// Looks at all that one rank's kernels and collectives read and write.
class RankProbe : public executor::Probe {
 public:
  explicit RankProbe(const Executor& executor) : executor_(executor), program_(executor.program()) {}

  absl::Status Around(const ProbeSite& site, device::Stream& stream,
                      const std::function<absl::Status()>& run) override {
    const plan::Actor& actor = program_.actor(site.actor);
    // What a transfer brings, another rank has had; a copy from or to a tier makes nothing.
    if (actor.end_case() != plan::Actor::END_NOT_SET || plan::MovesTiers(actor)) return run();
    std::vector<Numbers> read(site.reads.size());
    bool finite = true;
    for (size_t i = 0; i < read.size(); ++i) {
      if (!ReadsBefore(site, site.reads[i])) continue;
      if (absl::Status status = Look(site.reads[i], site.inputs[i], stream, read[i]); !status.ok()) return status;
      finite = finite && read[i].non_finite == 0;
    }
    if (absl::Status status = run(); !status.ok()) return status;
    if (!finite) {
      if (actor.collectives_size() > 0) AddPoisoned(site);
      return absl::OkStatus();
    }
    for (size_t i = 0; i < site.writes.size(); ++i) {
      Numbers made;
      if (absl::Status status = Look(site.writes[i], site.outputs[i], stream, made); !status.ok()) return status;
      if (made.non_finite == 0) continue;
      Add(site, static_cast<int>(i), made, read);
      break;
    }
    return absl::OkStatus();
  }

  const std::vector<Finding>& findings() const { return findings_; }
  const std::set<ActKey>& poisoned() const { return poisoned_; }

 private:
  // What micro-batch 0 does not read holds what an earlier step has left.
  bool ReadsBefore(const ProbeSite& site, int32_t buffer) const {
    const auto& works = program_.work[site.actor];
    return site.work >= static_cast<int32_t>(works.size()) ||
           program_.Reads(works[site.work], buffer, site.micro_batch);
  }

  absl::Status Look(int32_t buffer, const void* address, device::Stream& stream, Numbers& numbers) const {
    const TensorSpec tile = executor_.SpecOf(buffer);
    HostCopy copy(executor_.device(), stream);
    const absl::StatusOr<const void*> bytes = copy.Of(address, tile.bytes());
    if (!bytes.ok()) return bytes.status();
    numbers = NumbersOf(tile.dtype, *bytes, tile.elements());
    return absl::OkStatus();
  }

  ActKey KeyOf(const ProbeSite& site) const { return {program_.index, site.actor, site.micro_batch}; }

  void AddPoisoned(const ProbeSite& site) {
    std::lock_guard<std::mutex> lock(mutex_);
    poisoned_.insert(KeyOf(site));
  }

  // Of a stream the first few: one of them is the first.
  void Add(const ProbeSite& site, int output, const Numbers& made, const std::vector<Numbers>& read) {
    constexpr int kMostOfAStream = 8;
    std::lock_guard<std::mutex> lock(mutex_);
    if (++found_[program_.actor(site.actor).stream()] > kMostOfAStream) return;
    findings_.push_back({.act = KeyOf(site),
                         .work = site.work,
                         .rank = executor_.rank(),
                         .collective = program_.actor(site.actor).collectives_size() > 0,
                         .text = TextOf(site, output, made, read)});
  }

  std::string TensorText(int32_t buffer, const Numbers& numbers) const {
    return absl::StrCat("`", program_.buffer(buffer).name(), "`, ", NumbersText(executor_.SpecOf(buffer), numbers));
  }

  std::string TextOf(const ProbeSite& site, int output, const Numbers& made, const std::vector<Numbers>& read) const {
    const plan::Actor& actor = program_.actor(site.actor);
    std::string text = absl::StrCat("  tensor  ", TensorText(site.writes[output], made), "\n");
    std::vector<int> inputs;
    if (actor.collectives_size() > 0) {
      const plan::Collective& collective = actor.collectives(output);
      absl::StrAppend(&text, "  made by ", NameOf(collective.kind()), " over (",
                      AxesText(*program_.placement, collective), ")", collective.location().empty() ? "" : " at ",
                      collective.location(), "\n");
      inputs.push_back(output);
    } else {
      const plan::Kernel& kernel = actor.kernels(site.work);
      absl::StrAppend(&text, "  made by kernel `", kernel.name(), "`", kernel.location().empty() ? "" : " at ",
                      kernel.location(), "\n");
      inputs = InputsOf(kernel, output);
      if (kernel.name() == "input") absl::StrAppend(&text, "          as --data has it\n");
      if (!kernel.symbol().empty() && absl::StrContains(kernel.name(), "+")) {
        absl::StrAppend(&text, "          of several operators; a plan with graph.fusion=false has one for each\n");
      }
    }
    absl::StrAppend(&text, "  on      rank ", executor_.rank(), PlaceOf(executor_.rank()), ", stage ", program_.index,
                    ", actor ", plan::ActText(actor, site.micro_batch), "\n");
    std::erase_if(inputs, [&](int i) { return !ReadsBefore(site, site.reads[i]); });
    if (inputs.size() > kMostInputs) {
      const auto largest = [&](int i) { return std::max(std::abs(read[i].least), std::abs(read[i].most)); };
      std::stable_sort(inputs.begin(), inputs.end(), [&](int a, int b) { return largest(a) > largest(b); });
    }
    for (size_t i = 0; i < std::min(inputs.size(), kMostInputs); ++i) {
      absl::StrAppend(&text, "  of      ", TensorText(site.reads[inputs[i]], read[inputs[i]]), "\n");
    }
    if (inputs.size() > kMostInputs) {
      absl::StrAppend(&text, "          and ", inputs.size() - kMostInputs, " more, whose numbers are smaller\n");
    }
    return text;
  }

  // Those of a kernel's inputs that an output is made of: all, or what its tensor has if the kernel is run for several.
  static std::vector<int> InputsOf(const plan::Kernel& kernel, int output) {
    const int64_t count = kernel.inputs_size(), tensors = std::max<int64_t>(kernel.segments(), 1);
    const int64_t each = (count - kernel.shared()) / tensors;
    const int64_t tensor = output / std::max<int64_t>(kernel.outputs_size() / tensors, 1);
    std::vector<int> inputs;
    for (int64_t i = 0; i < count; ++i) {
      if (i < kernel.shared() || (i - kernel.shared()) / std::max<int64_t>(each, 1) == tensor || tensors == 1)
        inputs.push_back(static_cast<int>(i));
    }
    return inputs;
  }

  // " (data=1 tensor=0)".
  std::string PlaceOf(int rank) const {
    const plan::Placement& placement = *program_.placement;
    int64_t index = 0;
    while (placement.ranks(static_cast<int>(index)) != rank) ++index;
    const std::vector<int64_t> coordinates = plan::Coordinates(placement, index);
    std::vector<std::string> parts;
    for (int a = 0; a < placement.axes_size(); ++a) {
      if (!placement.axes(a).name().empty() && placement.axes(a).size() > 1) {
        parts.push_back(absl::StrCat(placement.axes(a).name(), "=", coordinates[a]));
      }
    }
    return parts.empty() ? "" : absl::StrCat(" (", absl::StrJoin(parts, " "), ")");
  }

  const Executor& executor_;
  const plan::Program& program_;
  std::mutex mutex_;
  std::map<int32_t, int> found_;  // by stream
  std::vector<Finding> findings_;
  std::set<ActKey> poisoned_;  // collectives that this rank gave something to that was not finite
};

std::string TextOf(const ActKey& act) {
  const auto& [stage, actor, micro_batch] = act;
  return absl::StrCat(stage, " ", actor, " ", micro_batch);
}

ActKey KeyFrom(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ' ');
  ActKey act;
  auto& [stage, actor, micro_batch] = act;
  if (parts.size() == 3) {
    (void)(absl::SimpleAtoi(parts[0], &stage) && absl::SimpleAtoi(parts[1], &actor) &&
           absl::SimpleAtoi(parts[2], &micro_batch));
  }
  return act;
}

// What the ranks of a process have found, for all processes.
std::string Pack(const std::vector<std::unique_ptr<RankProbe>>& probes) {
  std::vector<std::string> records;
  for (const auto& probe : probes) {
    for (const ActKey& act : probe->poisoned())
      records.push_back(absl::StrCat("poisoned", std::string(1, kField), TextOf(act)));
    for (const Finding& it : probe->findings()) {
      records.push_back(absl::StrJoin({std::string(it.collective ? "collective" : "kernel"), TextOf(it.act),
                                       absl::StrCat(it.work), absl::StrCat(it.rank), it.text},
                                      std::string(1, kField)));
    }
  }
  return absl::StrJoin(records, std::string(1, kRecord));
}

void Unpack(const std::string& bytes, std::vector<Finding>& findings, std::set<ActKey>& poisoned) {
  if (bytes.empty()) return;
  const std::vector<std::string> records = absl::StrSplit(bytes, kRecord);
  for (const std::string& record : records) {
    const std::vector<std::string> fields = absl::StrSplit(record, kField);
    if (fields[0] == "poisoned") {
      poisoned.insert(KeyFrom(fields[1]));
      continue;
    }
    Finding finding{.act = KeyFrom(fields[1]), .collective = fields[0] == "collective", .text = fields[4]};
    (void)(absl::SimpleAtoi(fields[2], &finding.work) && absl::SimpleAtoi(fields[3], &finding.rank));
    findings.push_back(std::move(finding));
  }
}

// The first of all findings, in the order of a step, and who else found the same.
std::string TextOfFirst(const plan::Plan& plan, const std::vector<Finding>& findings) {
  std::map<ActKey, int64_t> order;
  const std::vector<plan::Program> programs = plan::ProgramsOf(plan);
  int64_t count = 0;
  for (const Finding& it : findings) order[it.act] = 0;
  // The plan was verified: nothing blocks.
  plan::Execute(programs, [&](const plan::Act& act) {
    const auto found = order.find({act.stage, act.actor, act.micro_batch});
    if (found != order.end()) found->second = count;
    ++count;
    return absl::OkStatus();
  }).IgnoreError();
  const auto key = [&](const Finding& it) { return std::tuple(order.at(it.act), it.work, it.rank); };
  const Finding* first = &findings[0];
  for (const Finding& it : findings) {
    if (key(it) < key(*first)) first = &it;
  }
  std::vector<int> others;
  std::set<std::pair<ActKey, int32_t>> elsewhere;
  for (const Finding& it : findings) {
    if (it.act == first->act && it.work == first->work) {
      if (it.rank != first->rank) others.push_back(it.rank);
    } else {
      elsewhere.insert({it.act, it.work});
    }
  }
  std::string text = first->text;
  if (!others.empty()) {
    absl::StrAppend(&text, "          and on rank", others.size() == 1 ? " " : "s ", absl::StrJoin(others, ", "),
                    " too\n");
  }
  if (!elsewhere.empty()) {
    absl::StrAppend(&text, "  later   ", elsewhere.size(), " more kernels have made some of what was finite\n");
  }
  return text;
}

}  // namespace

absl::Status DebugNan::CheckState() { return context_.processes.Agree(CheckFiniteState(cluster_)); }

void DebugNan::Keep(int64_t step) {
  step_ = step;
  kept_ = state_.Take(cluster_);
}

std::vector<std::optional<float>> DebugNan::Metrics() const {
  std::vector<std::optional<float>> metrics;
  for (const plan::Metric& metric : context_.plan.metrics()) {
    const absl::StatusOr<float> value = cluster_.Metric(metric.name());
    metrics.push_back(value.ok() ? std::optional<float>(*value) : std::nullopt);
  }
  return metrics;
}

absl::StatusOr<std::string> DebugNan::Find() {
  Processes& processes = context_.processes;
  const std::vector<std::optional<float>> before = Metrics();
  absl::Status status = kept_;
  if (status.ok()) status = state_.Restore(cluster_);
  if (status = processes.Agree(status); !status.ok()) return status;
  std::vector<std::unique_ptr<RankProbe>> probes;
  for (int i = 0; i < cluster_.size(); ++i) {
    probes.push_back(std::make_unique<RankProbe>(cluster_.executor(i)));
    cluster_.executor(i).Watch(probes.back().get());
  }
  status = cluster_.Step(step_);
  for (int i = 0; i < cluster_.size(); ++i) cluster_.executor(i).Watch(nullptr);
  if (!status.ok()) return status;
  const std::vector<std::optional<float>> after = Metrics();
  const auto same = [](const std::optional<float>& a, const std::optional<float>& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || std::memcmp(&*a, &*b, sizeof(float)) == 0);
  };
  bool alike = true;
  for (size_t i = 0; i < before.size(); ++i) alike = alike && same(before[i], after[i]);
  const auto all = processes.AllGather(absl::StrCat(alike ? "1" : "0", Pack(probes)));
  if (!all.ok()) return all.status();
  std::vector<Finding> findings;
  std::set<ActKey> poisoned;
  for (const std::string& each : *all) {
    alike = alike && each[0] == '1';
    Unpack(each.substr(1), findings, poisoned);
  }
  std::erase_if(findings, [&](const Finding& it) { return it.collective && poisoned.count(it.act) > 0; });
  return absl::StrCat("step ", step_ + 1, " again, from its start: ",
                      alike ? "the same numbers, bit for bit\n"
                            : "other numbers than before: a kernel or the memory of a machine is at fault\n",
                      findings.empty() ? "no kernel has made anything that is not finite of what is\n"
                                       : "first not finite\n" + TextOfFirst(context_.plan, findings));
}

}  // namespace weft::run
