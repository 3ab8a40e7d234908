#include "runtime/show/print.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/measure/figures.h"
#include "runtime/measure/largest.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/collective_groups.h"
#include "runtime/plan/host_exchange.h"
#include "runtime/plan/joins.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/machine.h"
#include "runtime/plan/names.h"
#include "runtime/plan/program.h"
#include "runtime/show/decision.h"
#include "runtime/show/evaluation.h"
#include "runtime/show/figures.h"
#include "runtime/show/joins.h"
#include "runtime/show/padding.h"
#include "runtime/show/table.h"

namespace weft::plan {
namespace {

constexpr int kMostNames = 6;  // of a run's list
constexpr int kMostRuns = 16;  // of a stream

std::string Plural(int64_t count, const char* one) {
  return absl::StrCat(CountText(count), " ", one, count == 1 ? "" : "s");
}

std::string Percent(int64_t part, int64_t whole) {
  return whole == 0 ? "100.0 %"
                    : absl::StrFormat("%.1f %%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string HeaderText(const Plan& plan) {
  const Header& header = plan.header();
  std::string text =
      absl::StrCat("plan `", header.graph(), "` for ", header.target(), ": ",
                   header.training() ? "training" : "a function", ", ", Plural(plan.stages_size(), "stage"), "\n");
  int64_t ranks = 0, tensors = 0, elements = 0;
  for (const Stage& stage : plan.stages()) {
    ranks += RankCount(plan.placements(stage.placement()));
    for (const Buffer& buffer : stage.buffers()) {
      if (buffer.kind() != Buffer::PARAMETER) continue;
      int64_t count = 1;
      for (int64_t d : UnpaddedShape(buffer)) count *= d;
      ++tensors;
      elements += count;
    }
  }
  Table table(2);
  table.Add({"ranks", CountText(ranks)});
  table.Add({"micro-batches a step", CountText(header.micro_batches())});
  table.Add({"tokens a step", CountText(header.tokens_per_step())});
  table.Add({"parameters", absl::StrCat(CountText(elements), " in ", Plural(tensors, "tensor"))});
  table.Add({"model FLOPs a step", absl::StrFormat("%.4g", header.flops_per_step())});
  if (const std::string recompute = RecomputeText(header); !recompute.empty()) {
    table.Add({"computed again", recompute});
  }
  if (const std::string losses = ChunkedLossesText(header); !losses.empty()) table.Add({"loss in parts", losses});
  if (const std::string padding = TextOf(PaddingOf(plan)); !padding.empty()) table.Add({"padding", padding});
  const Prediction& prediction = plan.prediction();
  table.Add({"predicted step",
             absl::StrCat(SecondsText(prediction.step_s()), " (compute ", SecondsText(prediction.compute_s()),
                          ", communication ", SecondsText(prediction.communication_s()), ")")});
  for (std::vector<std::string>& row : FigureRows(FiguresOf(plan))) table.Add(std::move(row));
  table.Add({"bubble", absl::StrFormat("%.1f %%, of it exposed communication %s", 100 * prediction.bubble_fraction(),
                                       SecondsText(prediction.exposed_comm_s()))});
  table.Add(
      {"sent by a rank a step", BytesText(static_cast<int64_t>(std::min(prediction.communication_bytes(), 9e18)))});
  if (plan.has_evaluation()) table.Add({"evaluation", EvaluationText(plan)});
  table.Add({"hash", absl::StrCat(absl::Hex(header.hash(), absl::kZeroPad16))});
  return text + table.Text() + DecisionText(header.decision());
}

// Bytes of one slot of a buffer on a rank, not padded.
int64_t RankBytes(const Program& program, int32_t b) { return LocalBytes(*program.placement, program.buffer(b)); }

// The larger side of a collective, which its cost follows.
int64_t CollectiveBytes(const Program& program, const Collective& collective) {
  return std::max(RankBytes(program, collective.input()), RankBytes(program, collective.output()));
}

int64_t BundleBytes(const Program& program, const Actor& actor) {
  int64_t bytes = 0;
  for (const Collective& collective : actor.collectives()) bytes += CollectiveBytes(program, collective);
  return bytes;
}

std::string WorkText(const Program& program, const Actor& actor) {
  if (actor.kernels_size() > 0) return Plural(actor.kernels_size(), "kernel");
  if (actor.collectives_size() > 0) {
    const std::string bytes = actor.collectives_size() == 1 ? "" : ", " + BytesText(BundleBytes(program, actor));
    return absl::StrCat(BundleText(actor), bytes, " over (", AxesText(*program.placement, actor.collectives(0)), ")");
  }
  return actor.end_case() == Actor::kSend ? absl::StrCat("send transfer ", actor.send())
                                          : absl::StrCat("receive transfer ", actor.receive());
}

std::string Operands(const Program& program, const google::protobuf::RepeatedField<int32_t>& buffers) {
  std::vector<std::string> names;
  for (int32_t b : buffers) {
    const Buffer& buffer = program.buffer(b);
    names.push_back(
        absl::StrCat(buffer.name(), " ", NameOf(buffer.dtype()), ShapeText(LocalDims(*program.placement, buffer))));
  }
  return absl::StrCat("(", absl::StrJoin(names, ", "), ")");
}

std::string OrderText(const Program& program, const Run& run) {
  std::vector<std::string> names;
  bool micro = false;
  for (int32_t a : run.actors()) {
    micro |= program.micro(a);
    if (static_cast<int>(names.size()) < kMostNames) names.push_back(program.actor(a).name());
  }
  if (run.actors_size() > kMostNames) names.push_back(absl::StrCat("and ", run.actors_size() - kMostNames, " more"));
  const int64_t stride = std::max<int64_t>(run.stride(), 1), last = run.first_micro_batch() + stride * run.repeat() - 1;
  const std::string when = !micro ? "once a step"
                           : last == run.first_micro_batch()
                               ? absl::StrCat("micro-batch ", last)
                               : absl::StrCat("micro-batches ", run.first_micro_batch(), " to ", last);
  return absl::StrCat(when, stride > 1 ? absl::StrCat(", ", stride, " at a time: ") : ": ", absl::StrJoin(names, ", "));
}

// The actors of a stream in the order of their first act.
std::vector<int32_t> ActorsOf(const Program& program, const Stream& stream) {
  std::vector<bool> seen(program.stage->actors_size(), false);
  std::vector<int32_t> actors;
  for (const Run& run : stream.runs()) {
    for (int32_t a : run.actors()) {
      if (!seen[a]) actors.push_back(a);
      seen[a] = true;
    }
  }
  return actors;
}

// Of a generated kernel, below it: what was joined, and with what the compiler would not join it.
void AddJoins(const Program& program, const Boundaries& boundaries, int32_t a, int32_t k, Table* table) {
  const Kernel& kernel = program.actor(a).kernels(k);
  if (OperatorsOf(kernel).size() > 1) {
    const std::string tensors =
        kernel.segments() > 0 ? absl::StrCat(" for each of ", kernel.segments(), " tensors") : "";
    table->Add({absl::StrCat("      joins ", OperatorsText(kernel), tensors)});
  }
  for (const Boundary& it : boundaries.Before(a, k)) {
    if (it.asked) table->Add({absl::StrCat("      apart from ", BoundaryText(program, it))});
  }
}

// With kernels if `boundaries` is there.
std::string StreamText(const Program& program, int s, const std::optional<Boundaries>& boundaries) {
  const Stream& stream = program.stage->streams(s);
  std::string text = absl::StrCat("  stream ", s, " `", stream.name(), "` (", NameOf(stream.kind()), ")\n");
  Table table(4);
  for (int32_t a : ActorsOf(program, stream)) {
    const Actor& actor = program.actor(a);
    table.Add({actor.name(), program.micro(a) ? "micro" : "step", WorkText(program, actor),
               absl::StrCat("reads ", actor.reads_size()), absl::StrCat("writes ", actor.writes_size())});
    for (int k = 0; k < actor.kernels_size() && boundaries; ++k) {
      const Kernel& kernel = actor.kernels(k);
      const std::string at = kernel.location().empty() ? "" : absl::StrCat(" at ", kernel.location());
      table.Add({absl::StrCat("  ", k, " ", kernel.name(), " ", Operands(program, kernel.inputs()), " -> ",
                              Operands(program, kernel.outputs()), at)});
      AddJoins(program, *boundaries, a, k, &table);
    }
  }
  absl::StrAppend(&text, table.Text(), "    order\n");
  for (int r = 0; r < stream.runs_size(); ++r) {
    if (r == kMostRuns && !boundaries) {
      absl::StrAppend(&text, "      and ", stream.runs_size() - r, " more runs\n");
      break;
    }
    absl::StrAppend(&text, "      ", OrderText(program, stream.runs(r)), "\n");
  }
  return text;
}

// "all_reduce sum".
std::string KindText(const Collective& collective) {
  const bool reduces = collective.kind() == Collective::ALL_REDUCE || collective.kind() == Collective::REDUCE_SCATTER;
  const std::string reduction = !reduces ? "" : collective.reduction() == Collective::MAX ? " max" : " sum";
  return NameOf(collective.kind()) + reduction;
}

// Where processes on several hosts exchange messages: ", on two levels" if members put their terms together first.
std::string LevelsText(const Machine& machine, const GroupedBundle& bundle) {
  if (!machine.messages || bundle.group.one_node()) return "";
  return HostExchangeOf(machine, bundle.bytes, bundle.group).parts > 0 ? ", on two levels" : "";
}

std::string CollectivesText(const Program& program, const PrintOptions& options) {
  const Machine machine = MachineOf(*program.plan);
  CollectiveGroups groups(program, machine);
  Table table(4, {3});
  for (const Actor& actor : program.stage->actors()) {
    if (actor.collectives_size() == 0) continue;
    const std::string when =
        absl::StrCat(actor.section() == Actor::STEP ? "a step" : "a micro-batch", " in ", actor.name());
    const std::string over = absl::StrCat("over (", AxesText(*program.placement, actor.collectives(0)), ")",
                                          LevelsText(machine, groups.BundleOf(actor)));
    const bool bundle = actor.collectives_size() > 1;
    if (bundle) table.Add({BundleText(actor), over, "", BytesText(BundleBytes(program, actor)), when});
    for (const Collective& collective : actor.collectives()) {
      if (bundle && !options.kernels) break;
      table.Add({(bundle ? "  " : "") + KindText(collective), bundle ? "" : over,
                 program.buffer(collective.input()).name(), BytesText(CollectiveBytes(program, collective)),
                 bundle ? "" : when, collective.location().empty() ? "" : absl::StrCat("at ", collective.location())});
    }
  }
  return table.empty() ? "" : "  collectives\n" + table.Text();
}

// Of a plan that trains.
std::string BytesAParameterText(const StageMemory& memory) {
  if (memory.gradient_bytes == 0) return "";
  const auto each = [&](int64_t bytes) {
    return absl::StrFormat("%.2f", static_cast<double>(bytes) / static_cast<double>(memory.parameter_elements));
  };
  const auto most = [&](Category category) { return memory.most[static_cast<int>(category)]; };
  return absl::StrCat("  to train, a parameter: ", each(most(Category::kParameters)), " B + gradients ",
                      each(memory.gradient_bytes), " B + optimizer ", each(most(Category::kOptimizer)),
                      " B = ", absl::StrFormat("%.2f", BytesAParameter(memory)), " B, of ",
                      CountText(memory.parameter_elements), " parameters\n");
}

std::string StageMemoryText(const Program& program, const StageMemory* memory) {
  const int64_t arena = program.stage->arena_bytes();
  if (memory == nullptr) return absl::StrCat("  memory a rank: ", CountText(arena), " B (", BytesText(arena), ")\n");
  std::string text = absl::StrCat("  memory a rank: ", CountText(arena), " B (", BytesText(arena), "), lower bound ",
                                  CountText(memory->lower_bound_bytes), " B (",
                                  Percent(memory->lower_bound_bytes, arena), " of it)\n");
  Table table(4, {1, 2, 3});
  table.Add({"category", "buffers", "most", "at the peak"});
  for (int k = 0; k < kCategories; ++k) {
    if (memory->buffers[k] == 0) continue;
    table.Add({NameOf(static_cast<Category>(k)), CountText(memory->buffers[k]), BytesText(memory->most[k]),
               BytesText(memory->at_peak[k])});
  }
  return text + table.Text() + BytesAParameterText(*memory);
}

std::string TiersText(const Program& program) {
  std::string text;
  for (int t = 0; t < program.stage->tier_bytes_size(); ++t) {
    const int64_t bytes = program.stage->tier_bytes(t);
    if (bytes == 0) continue;
    const Tier& tier = program.plan->header().cluster().tier(t);
    absl::StrAppend(&text, "  tier `", tier.name(), "` a rank: ", CountText(bytes), " B (", BytesText(bytes), ")",
                    tier.memory_bytes() == 0 ? "" : ", of " + BytesText(tier.memory_bytes()), "\n");
  }
  return text;
}

std::string PeakText(const Program& program, const StageMemory& memory) {
  if (memory.peak_actor < 0) return "  peak: state alone\n";
  const std::string work = program.WorkText(memory.peak_actor, memory.peak_work);
  return absl::StrCat("  peak: ", ActText(program.actor(memory.peak_actor), memory.peak_micro_batch),
                      work.empty() ? "" : ", ", work, "\n");
}

std::string LargestRows(const Program& program, const StageMemory& memory) {
  Table table(4, {2});
  const std::vector<AlikeTensors> largest = LargestOf(program, memory);
  for (size_t i = 0; i < largest.size() && i < 10; ++i) {
    const AlikeTensors& group = largest[i];
    table.Add(
        {group.name, group.type, BytesText(group.bytes), NameOf(group.category), group.CountText(), group.origin});
  }
  return "  largest at the peak, as a rank holds them\n" + table.Text();
}

// At most so many lines over time; units next to each other share one.
constexpr size_t kMostLines = 24;
constexpr int64_t kBar = 40;

std::string OverTime(const StageMemory& memory) {
  int64_t peak = 1;
  const auto bytes = [](const UnitMemory& unit) {
    return std::accumulate(unit.most.begin(), unit.most.end(), int64_t{0});
  };
  for (const UnitMemory& unit : memory.units) peak = std::max(peak, bytes(unit));
  Table table(4, {1});
  const size_t lines = std::min(kMostLines, memory.units.size());
  for (size_t line = 0; line < lines; ++line) {
    const size_t first = line * memory.units.size() / lines, end = (line + 1) * memory.units.size() / lines;
    int64_t most = 0;
    for (size_t u = first; u < end; ++u) most = std::max(most, bytes(memory.units[u]));
    const std::string& name = memory.units[first].name;
    table.Add({end - first > 1 ? absl::StrCat(name, " to ", memory.units[end - 1].name) : name, BytesText(most),
               std::string(static_cast<size_t>(most * kBar / peak), '#')});
  }
  return "  most at a time\n" + table.Text();
}

std::string ParametersText(const Program& program) {
  Table table(4);
  for (const Buffer& buffer : program.stage->buffers()) {
    if (buffer.kind() != Buffer::PARAMETER) continue;
    table.Add({buffer.name(), TypeText(buffer), SbpText(*program.placement, buffer),
               "local " + ShapeText(LocalDims(*program.placement, buffer))});
  }
  return table.empty() ? "" : "  parameters\n" + table.Text();
}

std::string StageHead(const Program& program) {
  return absl::StrCat("stage ", program.index, ": ", MeshText(*program.placement), " on ", program.placement->device(),
                      ", rank", program.placement->ranks_size() == 1 ? " " : "s ", RanksText(*program.placement), "\n");
}

std::string CrossText(const Plan& plan) {
  std::string text;
  Table transfers(2, {4});
  for (int t = 0; t < plan.transfers_size(); ++t) {
    const Transfer& transfer = plan.transfers(t);
    const Buffer& source = plan.stages(transfer.source_stage()).buffers(transfer.source_buffer());
    const Buffer& target = plan.stages(transfer.target_stage()).buffers(transfer.target_buffer());
    int64_t elements = 1;
    for (int64_t d : source.shape()) elements *= d;
    transfers.Add({absl::StrCat(t), absl::StrCat("stage ", transfer.source_stage(), " ", source.name()), "->",
                   absl::StrCat("stage ", transfer.target_stage(), " ", target.name()),
                   BytesText(elements * ElementBytes(source.dtype()))});
  }
  if (!transfers.empty()) absl::StrAppend(&text, "transfers\n", transfers.Text());
  Table metrics(2);
  for (const Metric& metric : plan.metrics()) {
    metrics.Add({metric.name(), absl::StrCat("stage ", metric.stage()),
                 plan.stages(metric.stage()).buffers(metric.buffer()).name()});
  }
  if (!metrics.empty()) absl::StrAppend(&text, "metrics\n", metrics.Text());
  return text;
}

}  // namespace

std::string SummaryText(const Plan& plan, const PrintOptions& options) {
  std::string text = HeaderText(plan);
  const absl::StatusOr<std::vector<StageMemory>> memory = MeasureMemory(plan);
  for (const Program& program : ProgramsOf(plan)) {
    absl::StrAppend(&text, "\n", StageHead(program));
    const std::optional<Boundaries> boundaries = options.kernels ? std::optional<Boundaries>(program) : std::nullopt;
    for (int s = 0; s < program.stage->streams_size(); ++s) absl::StrAppend(&text, StreamText(program, s, boundaries));
    absl::StrAppend(&text, CollectivesText(program, options),
                    StageMemoryText(program, memory.ok() ? &(*memory)[program.index] : nullptr), TiersText(program),
                    ParametersText(program));
  }
  const std::string cross = CrossText(plan);
  return cross.empty() ? text : absl::StrCat(text, "\n", cross);
}

std::string MemoryText(const Plan& plan) {
  std::string text;
  const absl::StatusOr<std::vector<StageMemory>> memory = MeasureMemory(plan);
  for (const Program& program : ProgramsOf(plan)) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", StageHead(program),
                    StageMemoryText(program, memory.ok() ? &(*memory)[program.index] : nullptr), TiersText(program));
    if (!memory.ok()) continue;
    const StageMemory& of_stage = (*memory)[program.index];
    absl::StrAppend(&text, PeakText(program, of_stage), OverTime(of_stage), LargestRows(program, of_stage));
  }
  return text;
}

}  // namespace weft::plan
