#include "runtime/show/print_json.h"

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/measure/figures.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/joins.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "runtime/plan/program.h"
#include "runtime/show/evaluation.h"
#include "runtime/show/padding.h"
#include "runtime/show/print.h"

namespace weft::plan {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}

Json Names(const Program& program, const google::protobuf::RepeatedField<int32_t>& buffers) {
  Json names = Json::array();
  for (int32_t b : buffers) names.push_back(program.buffer(b).name());
  return names;
}

// `operators`: what the kernel does, in its order. `apart`: with what the compiler would not join it.
Json KernelJson(const Program& program, const Boundaries& boundaries, int32_t a, int32_t k) {
  const Kernel& kernel = program.actor(a).kernels(k);
  std::vector<Boundary> apart = boundaries.Before(a, k);
  std::erase_if(apart, [](const Boundary& it) { return !it.asked; });
  return {{"name", kernel.name()},
          {"inputs", Names(program, kernel.inputs())},
          {"outputs", Names(program, kernel.outputs())},
          {"cost",
           {{"contraction_flops", kernel.cost().contraction_flops()},
            {"flops", kernel.cost().flops()},
            {"bytes", kernel.cost().bytes()}}},
          {"location", kernel.location()},
          {"operators", OperatorsJson(kernel)},
          {"apart", BoundariesJson(program, apart)}};
}

// With its kernels if `boundaries` is there.
Json ActorJson(const Program& program, int32_t a, const std::optional<Boundaries>& boundaries) {
  const Actor& actor = program.actor(a);
  Json json = {{"name", actor.name()},
               {"stream", actor.stream()},
               {"section", actor.section() == Actor::STEP ? "step" : "micro"},
               {"reads", Names(program, actor.reads())},
               {"writes", Names(program, actor.writes())}};
  if (actor.kernels_size() > 0) json["kernel_count"] = actor.kernels_size();
  for (int k = 0; k < actor.kernels_size() && boundaries; ++k) {
    json["kernels"].push_back(KernelJson(program, *boundaries, a, k));
  }
  for (const Collective& collective : actor.collectives()) {
    const int64_t input = LocalBytes(*program.placement, program.buffer(collective.input()));
    const int64_t output = LocalBytes(*program.placement, program.buffer(collective.output()));
    json["collectives"].push_back({{"kind", NameOf(collective.kind())},
                                   {"axes", std::vector<int32_t>(collective.axes().begin(), collective.axes().end())},
                                   {"input", program.buffer(collective.input()).name()},
                                   {"output", program.buffer(collective.output()).name()},
                                   {"bytes", std::max(input, output)},
                                   {"location", collective.location()}});
  }
  if (actor.end_case() == Actor::kSend) json["send"] = actor.send();
  if (actor.end_case() == Actor::kReceive) json["receive"] = actor.receive();
  return json;
}

Json StreamJson(const Program& program, const Stream& stream) {
  Json json = {{"name", stream.name()}, {"kind", NameOf(stream.kind())}, {"runs", Json::array()}};
  for (const Run& run : stream.runs()) {
    Json actors = Json::array();
    for (int32_t a : run.actors()) actors.push_back(program.actor(a).name());
    json["runs"].push_back(
        {{"first_micro_batch", run.first_micro_batch()}, {"repeat", run.repeat()}, {"actors", actors}});
    if (run.offsets_size() > 0) {
      json["runs"].back()["offsets"] = std::vector<int64_t>(run.offsets().begin(), run.offsets().end());
    }
    if (run.stride() > 1) json["runs"].back()["stride"] = run.stride();
  }
  return json;
}

Json CategoriesJson(const BytesByCategory& bytes) {
  Json json = Json::object();
  for (int k = 0; k < kCategories; ++k) json[NameOf(static_cast<Category>(k))] = bytes[k];
  return json;
}

// `peak_bytes` is what a rank allocates. `categories` are the most of each at a
// moment of its own, which need not be the same, and of gradients all that there
// are; at_peak adds up to the lower bound. `bytes_a_parameter` is what a rank
// keeps of parameters, gradients and optimizer state for each of
// `parameter_elements`. `tiers`: what a rank allocates below the device, where it
// does.
Json StageMemoryJson(const Program& program, const StageMemory* memory) {
  Json json = {{"arena_bytes", program.stage->arena_bytes()}, {"peak_bytes", program.stage->arena_bytes()}};
  for (int t = 0; t < program.stage->tier_bytes_size(); ++t) {
    if (program.stage->tier_bytes(t) == 0) continue;
    json["tiers"].push_back(
        {{"name", program.plan->header().cluster().tier(t).name()}, {"bytes", program.stage->tier_bytes(t)}});
  }
  if (memory == nullptr) return json;
  json["lower_bound_bytes"] = memory->lower_bound_bytes;
  BytesByCategory categories = memory->most;
  categories[static_cast<int>(Category::kGradients)] = memory->gradient_bytes;
  json["categories"] = CategoriesJson(categories);
  json["parameter_elements"] = memory->parameter_elements;
  if (memory->parameter_elements > 0) json["bytes_a_parameter"] = BytesAParameter(*memory);
  json["at_peak"] = CategoriesJson(memory->at_peak);
  json["units"] = Json::array();
  for (const UnitMemory& unit : memory->units) {
    json["units"].push_back({{"unit", unit.name}, {"categories", CategoriesJson(unit.most)}});
  }
  if (memory->peak_actor < 0) return json;
  json["peak"] = {{"actor", program.actor(memory->peak_actor).name()},
                  {"micro_batch", memory->peak_micro_batch},
                  {"work", memory->peak_work}};
  return json;
}

Json ParameterJson(const Program& program, const Buffer& buffer) {
  return {{"name", buffer.name()},
          {"dtype", NameOf(buffer.dtype())},
          {"shape", std::vector<int64_t>(UnpaddedShape(buffer).begin(), UnpaddedShape(buffer).end())},
          {"sbp", SbpText(*program.placement, buffer)},
          {"local_shape", LocalDims(*program.placement, buffer)}};
}

Json PlacementJson(const Placement& placement) {
  Json axes = Json::array();
  for (const Axis& axis : placement.axes()) axes.push_back({{"name", axis.name()}, {"size", axis.size()}});
  return {{"device", placement.device()},
          {"axes", axes},
          {"ranks", std::vector<int32_t>(placement.ranks().begin(), placement.ranks().end())}};
}

Json StageJson(const Program& program, const StageMemory* memory, const PrintOptions& options) {
  Json json = {{"placement", PlacementJson(*program.placement)},
               {"streams", Json::array()},
               {"actors", Json::array()},
               {"memory", StageMemoryJson(program, memory)},
               {"parameters", Json::array()}};
  for (const Stream& stream : program.stage->streams()) json["streams"].push_back(StreamJson(program, stream));
  const std::optional<Boundaries> boundaries = options.kernels ? std::optional<Boundaries>(program) : std::nullopt;
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    json["actors"].push_back(ActorJson(program, a, boundaries));
  }
  for (const Buffer& buffer : program.stage->buffers()) {
    if (buffer.kind() == Buffer::PARAMETER) json["parameters"].push_back(ParameterJson(program, buffer));
  }
  return json;
}

Json AlternativesJson(const google::protobuf::RepeatedPtrField<Alternative>& alternatives) {
  Json all = Json::array();
  for (const Alternative& it : alternatives) {
    const bool compiled = it.compute_s() > 0;
    all.push_back({{"keys", it.keys()},
                   {"step_s", it.step_s()},
                   {"estimated_s", it.estimated_s()},
                   {"bytes", it.bytes()},
                   {"full_tier", it.full_tier().empty() ? Json() : Json(it.full_tier())},
                   {"tier_lacks_bytes", it.full_tier().empty() ? Json() : Json(it.tier_lacks_bytes())},
                   {"compute_s", compiled ? Json(it.compute_s()) : Json()},
                   {"exposed_comm_s", compiled ? Json(it.exposed_comm_s()) : Json()},
                   {"waiting_s", compiled ? Json(it.waiting_s()) : Json()}});
  }
  return all;
}

Json HeaderJson(const Header& header) {
  Json recompute = Json::object();
  for (const Recompute::Layer& layer : header.recompute()) {
    recompute[layer.scope()] = Recompute::Policy_Name(layer.policy());
  }
  Json json = {{"version", header.version()},
               {"target", header.target()},
               {"graph", header.graph()},
               {"training", header.training()},
               {"micro_batches", header.micro_batches()},
               {"tokens_per_step", header.tokens_per_step()},
               {"flops_per_step", header.flops_per_step()},
               {"recompute", recompute},
               {"hash", absl::StrCat(absl::Hex(header.hash(), absl::kZeroPad16))}};
  for (const Recompute::Layer& layer : header.recompute()) {
    if (layer.offload()) json["recompute_offload"].push_back(layer.scope());
  }
  for (const ChunkedLoss& loss : header.chunked_losses()) {
    json["chunked_losses"].push_back({{"scope", loss.scope()},
                                      {"rows", loss.rows()},
                                      {"chunks", loss.chunks()},
                                      {"whole_bytes", loss.whole_bytes()},
                                      {"chunk_bytes", loss.chunk_bytes()}});
  }
  if (header.decision().best_size() > 0) json["decision"] = DecisionJson(header.decision());
  return json;
}

}  // namespace

Json OperatorsJson(const Kernel& kernel) {
  Json json = Json::array();
  for (const Operator& it : OperatorsOf(kernel)) json.push_back({{"name", it.name}, {"location", it.location}});
  return json;
}

Json BoundariesJson(const Program& program, const std::vector<Boundary>& boundaries) {
  Json json = Json::array();
  for (const Boundary& it : boundaries) {
    json.push_back({{"other", it.other}, {"reason", it.reason}, {"text", it.text}, {"tensors", Json::array()}});
    for (int32_t b : it.buffers) json.back()["tensors"].push_back(program.buffer(b).name());
  }
  return json;
}

Json DecisionJson(const Decision& decision) {
  if (decision.best_size() == 0) return Json();
  Json prices = Json::array();
  for (const MeansPrice& it : decision.prices()) {
    prices.push_back({{"means", it.means()}, {"keys", it.keys()}, {"saved_s", it.saved_s()}, {"bytes", it.bytes()}});
  }
  return {{"open", std::vector<std::string>(decision.open().begin(), decision.open().end())},
          {"considered", decision.considered()},
          {"dropped_by_memory", decision.dropped_by_memory()},
          {"dropped_by_bound", decision.dropped_by_bound()},
          {"impossible", decision.impossible()},
          {"estimated", decision.estimated()},
          {"compiled", decision.compiled()},
          {"unseen", decision.unseen()},
          {"bound_s", decision.bound_s()},
          {"gap", decision.gap()},
          {"ended", decision.ended()},
          {"memory_bytes", decision.memory_bytes() > 0 ? Json(decision.memory_bytes()) : Json()},
          {"best", AlternativesJson(decision.best())},
          {"refused", AlternativesJson(decision.refused())},
          {"prices", prices}};
}

Json FiguresJson(const Figures& figures) {
  return {{"devices", figures.devices},
          {"step_s", figures.step_s},
          {"tokens_per_s", OrNull(figures.tokens_per_s)},
          {"tokens_per_s_device", OrNull(figures.tokens_per_s_device)},
          {"mfu", OrNull(figures.mfu)},
          {"bubble_fraction", figures.bubble_fraction},
          {"exposed_comm_s", figures.exposed_comm_s},
          {"peak_bytes", figures.peak_bytes},
          {"headroom_bytes", OrNull(figures.headroom_bytes)},
          {"headroom_fraction", OrNull(figures.headroom_fraction)}};
}

std::string JsonText(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string SummaryJson(const Plan& plan, const PrintOptions& options) {
  const absl::StatusOr<std::vector<StageMemory>> memory = MeasureMemory(plan);
  Json json = {{"header", HeaderJson(plan.header())}, {"stages", Json::array()}};
  if (plan.has_evaluation()) {
    json["evaluation"] = {{"graph", plan.evaluation().header().graph()},
                          {"batch", plan.evaluation().header().job().batch().global()},
                          {"arena_bytes", EvaluationBytes(plan)},
                          {"predicted_step_s", plan.evaluation().prediction().step_s()}};
  }
  if (const Padding padding = PaddingOf(plan); !padding.dims.empty()) {
    json["padding"] = {{"dims", padding.dims}, {"share", padding.share}};
  }
  for (const Program& program : ProgramsOf(plan)) {
    json["stages"].push_back(StageJson(program, memory.ok() ? &(*memory)[program.index] : nullptr, options));
  }
  json["transfers"] = Json::array();
  for (const Transfer& transfer : plan.transfers()) {
    json["transfers"].push_back(
        {{"source_stage", transfer.source_stage()},
         {"source", plan.stages(transfer.source_stage()).buffers(transfer.source_buffer()).name()},
         {"target_stage", transfer.target_stage()},
         {"target", plan.stages(transfer.target_stage()).buffers(transfer.target_buffer()).name()}});
  }
  json["metrics"] = Json::array();
  for (const Metric& metric : plan.metrics()) {
    json["metrics"].push_back({{"name", metric.name()},
                               {"stage", metric.stage()},
                               {"buffer", plan.stages(metric.stage()).buffers(metric.buffer()).name()}});
  }
  const Prediction& prediction = plan.prediction();
  json["prediction"] = FiguresJson(FiguresOf(plan));
  json["prediction"]["compute_s"] = prediction.compute_s();
  json["prediction"]["communication_s"] = prediction.communication_s();
  json["prediction"]["communication_bytes"] = prediction.communication_bytes();
  return JsonText(json);
}

std::string MemoryJson(const Plan& plan) {
  const absl::StatusOr<std::vector<StageMemory>> memory = MeasureMemory(plan);
  Json json = {{"stages", Json::array()}};
  for (const Program& program : ProgramsOf(plan)) {
    json["stages"].push_back(StageMemoryJson(program, memory.ok() ? &(*memory)[program.index] : nullptr));
  }
  return JsonText(json);
}

}  // namespace weft::plan
