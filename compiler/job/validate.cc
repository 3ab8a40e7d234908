// What a job may not say.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/job/axes.h"
#include "compiler/job/job.h"
#include "compiler/job/numbers.h"
#include "compiler/job/optimizer.h"
#include "compiler/job/stages.h"
#include "compiler/job/text.h"
#include "ops/abi/status_macros.h"

namespace weft {
namespace {

absl::Status ValidateSetting(const std::string& setting) {
  size_t equals = setting.find('=');
  bool is_name = equals != std::string::npos && equals > 0 && equals + 1 < setting.size() &&
                 !std::isdigit(static_cast<unsigned char>(setting[0]));
  for (size_t i = 0; is_name && i < equals; ++i) {
    const bool inside = i > 0 && i + 1 < equals;  // `base.hidden`, of what is imported under a name
    is_name =
        std::isalnum(static_cast<unsigned char>(setting[i])) || setting[i] == '_' || (inside && setting[i] == '.');
  }
  return is_name ? absl::OkStatus() : Expected("model.set", "name=expression", absl::StrCat("\"", setting, "\""));
}

absl::Status ValidateModel(const Model& model) {
  if (model.file().empty()) {
    return Expected("model.file", "the path of a model file", "none");
  }
  for (const std::string& setting : model.set()) {
    WEFT_RETURN_IF_ERROR(ValidateSetting(setting));
    if (setting.substr(0, setting.find('=')) == "batch") {
      return absl::InvalidArgumentError(
          "model.set: batch: expected a config of the model, got the one that batch.micro sets");
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateBatch(const Batch& batch, const Dist& dist) {
  if (batch.micro() < 1) {
    return Expected("batch.micro", "1 or more", batch.micro());
  }
  if (batch.global() < 1) {
    return Expected("batch.global", "1 or more", batch.global());
  }
  if (batch.global() < batch.micro()) {
    return Expected("batch.global", absl::StrCat("at least batch.micro (", batch.micro(), ")"), batch.global());
  }
  if (batch.micro() < BatchParts(dist)) {
    return Expected(
        "batch.micro",
        absl::StrCat("at least ", BatchKeys("dist"), " (", BatchParts(dist), "), which splits each micro-batch"),
        batch.micro());
  }
  if (batch.overlap() < 0) {
    return Expected("batch.overlap", "0 or more", batch.overlap());
  }
  return absl::OkStatus();
}

constexpr int64_t kMostRanks = 1 << 20;

// Multiplies the sizes of `dist`, called `key` in the job, into `ranks`.
absl::Status ValidateMesh(const std::string& key, const Dist& dist, int64_t* ranks) {
  const google::protobuf::Descriptor& keys = *Dist::descriptor();
  for (int i = 0; i < keys.field_count(); ++i) {
    const std::string& axis = keys.field(i)->name();
    if (axis != "pipeline" && FindMeshAxis(axis) == nullptr) {
      return Expected(absl::StrCat(key, ".", axis), "an axis of compiler/job/axes.h", "one that it lacks");
    }
    const int64_t size = Dist::GetReflection()->GetInt64(dist, keys.field(i));
    if (size < 1) {
      return Expected(absl::StrCat(key, ".", axis), "1 or more", size);
    }
    if (size > kMostRanks || *ranks * size > kMostRanks) {
      return Expected(absl::StrCat(key, ".", axis), absl::StrCat("at most ", kMostRanks, " ranks in all"), size);
    }
    *ranks *= size;
  }
  return absl::OkStatus();
}

absl::Status ValidateDist(const Job& job) {
  const Dist& dist = job.dist();
  int64_t ranks = 1;
  WEFT_RETURN_IF_ERROR(ValidateMesh("dist", dist, &ranks));
  if (job.pipeline().stages_size() > 0) {
    return absl::OkStatus();  // they have meshes of their own
  }
  if (job.cluster().empty() && ranks > kMostLocalRanks) {
    return Expected("dist", absl::StrCat("at most ", kMostLocalRanks, " ranks on the local machine"), RanksText(dist));
  }
  return absl::OkStatus();
}

absl::Status ValidateStages(const Job& job) {
  const Pipeline& pipeline = job.pipeline();
  if (pipeline.stages_size() == 0) {
    return absl::OkStatus();
  }
  if (pipeline.stages_size() != job.dist().pipeline()) {
    return Expected("pipeline.stages", absl::StrCat(job.dist().pipeline(), ", one a stage of dist.pipeline"),
                    pipeline.stages_size());
  }
  if (StageRanks(job.dist()) > 1) {
    return Expected("dist", "pipeline alone beside pipeline.stages, which say the other sizes", SizesText(job.dist()));
  }
  int64_t ranks = 0;
  for (int stage = 0; stage < pipeline.stages_size(); ++stage) {
    const std::string key = absl::StrCat("pipeline.stages[", stage, "]");
    const Dist& dist = pipeline.stages(stage);
    int64_t size = 1;
    WEFT_RETURN_IF_ERROR(ValidateMesh(key, dist, &size));
    if (dist.pipeline() != 1) {
      return Expected(key + ".pipeline", "none, as a stage is not cut again", dist.pipeline());
    }
    if (job.batch().micro() < BatchParts(dist)) {
      return Expected(BatchKeys(key), absl::StrCat("at most batch.micro (", job.batch().micro(), ")"),
                      BatchParts(dist));
    }
    ranks += size;
  }
  if (job.cluster().empty() && ranks > kMostLocalRanks) {
    return Expected("pipeline.stages", absl::StrCat("at most ", kMostLocalRanks, " ranks on the local machine"), ranks);
  }
  return absl::OkStatus();
}

// What takes the place of something else, or is a part of what is not asked for.
absl::Status ValidateOrder(const Pipeline& pipeline) {
  const bool is_default = !pipeline.has_schedule() || pipeline.schedule() == ONE_F_ONE_B;
  if (!pipeline.schedule_file().empty() && !is_default) {
    return Expected("pipeline.schedule", "none beside pipeline.schedule_file, which takes its place",
                    PipelineSchedule_Name(pipeline.schedule()));
  }
  if (pipeline.form() == H1 || !ZeroBubble_IsValid(pipeline.form())) return absl::OkStatus();
  if (!pipeline.schedule_file().empty()) {
    return Expected("pipeline.form", "none beside pipeline.schedule_file", ZeroBubble_Name(pipeline.form()));
  }
  if (pipeline.schedule() != ZERO_BUBBLE) {
    return Expected("pipeline.form", "pipeline.schedule ZERO_BUBBLE, which alone has forms",
                    PipelineSchedule_Name(pipeline.schedule()));
  }
  return absl::OkStatus();
}

absl::Status ValidatePipeline(const Job& job) {
  const Pipeline& pipeline = job.pipeline();
  constexpr int64_t kMostChunks = 1024;
  if (job.has_pipeline() && (pipeline.chunks() < 1 || pipeline.chunks() > kMostChunks)) {
    return Expected("pipeline.chunks", absl::StrCat("1 to ", kMostChunks), pipeline.chunks());
  }
  if (const std::string key = KeyOfStages(pipeline); !key.empty() && job.dist().pipeline() == 1) {
    return Expected("dist.pipeline", absl::StrCat("2 or more stages, which alone have ", key), job.dist().pipeline());
  }
  WEFT_RETURN_IF_ERROR(ValidateOrder(pipeline));
  if (!pipeline.schedule_file().empty() && job.batch().overlap() > 1) {
    return Expected("batch.overlap", "1 with pipeline.schedule_file, which orders micro-batches one by one",
                    job.batch().overlap());
  }
  return ValidateStages(job);
}

absl::Status ValidateToken(const std::string& key, int64_t token) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return token >= 0 && token <= kMost ? absl::OkStatus()
                                      : Expected(key, absl::StrCat("a token from 0 to ", kMost), token);
}

absl::Status ValidateData(const Data& data) {
  if (data.has_end_of_document()) {
    WEFT_RETURN_IF_ERROR(ValidateToken("data.end_of_document", data.end_of_document()));
  }
  for (int i = 0; i < data.masked_tokens_size(); ++i) {
    WEFT_RETURN_IF_ERROR(ValidateToken(absl::StrCat("data.masked_tokens[", i, "]"), data.masked_tokens(i)));
  }
  return absl::OkStatus();
}

// Comparisons are written so that NaN fails.
absl::Status ValidateOptimizer(const Optimizer& optimizer) {
  WEFT_RETURN_IF_ERROR(ValidateRule(optimizer));
  if (!(optimizer.clip_norm() >= 0)) {
    return Expected("optimizer.clip_norm", "0 or more", optimizer.clip_norm());
  }
  WEFT_RETURN_IF_ERROR(ValidateSchedule(optimizer.schedule()));
  return ValidateGroups(optimizer);
}

absl::Status ValidateRecompute(const Recompute& recompute) {
  if (!recompute.tier().empty() && !MayOffload(recompute)) {
    return Expected("recompute.tier", "recompute.offload, which says what lies there", "false");
  }
  std::set<std::string> scopes;
  for (const Recompute::Layer& layer : recompute.layers()) {
    if (layer.scope().empty()) {
      return Expected("recompute.layers.scope", "a layer such as h.0", "none");
    }
    if (!Recompute::Policy_IsValid(layer.policy()) || layer.policy() == Recompute::AUTO) {
      return Expected(absl::StrCat("recompute.layers.policy of ", layer.scope()), "NONE, SELECTIVE or FULL",
                      Recompute::Policy_IsValid(layer.policy()) ? "AUTO" : absl::StrCat(int(layer.policy())));
    }
    if (!scopes.insert(layer.scope()).second) {
      return Expected("recompute.layers.scope", "each layer once", absl::StrCat(layer.scope(), " twice"));
    }
  }
  return absl::OkStatus();
}

// What is said of an evaluation, and of what is best, without saying which.
absl::Status ValidateEvaluation(const Job& job) {
  const Evaluation& evaluation = job.evaluation();
  const std::string prefix = "evaluation.";
  for (const auto& [key, number] : {std::pair("batch", evaluation.batch()),
                                    {"every", evaluation.every()},
                                    {"batches", evaluation.batches()},
                                    {"patience", evaluation.patience()}}) {
    if (number < 0) return Expected(prefix + key, "0 or more", number);
  }
  if (evaluation.graph().empty() && job.has_evaluation()) {
    return Expected(prefix + "graph", "a graph of the model file", "none");
  }
  if (evaluation.batch() > 0 && evaluation.batch() < BatchParts(job.dist())) {
    return Expected(prefix + "batch", absl::StrCat("at least ", BatchKeys("dist"), " (", BatchParts(job.dist()), ")"),
                    evaluation.batch());
  }
  if (evaluation.metric().empty()) {
    for (const auto& [key, is_set] : {std::pair("best", evaluation.has_best()),
                                      {"stop_at", evaluation.has_stop_at()},
                                      {"patience", evaluation.patience() > 0}}) {
      if (is_set)
        return Expected(prefix + "metric", absl::StrCat("the output that evaluation.", key, " is of"), "none");
    }
    return absl::OkStatus();
  }
  if (!evaluation.has_best()) return Expected(prefix + "best", "MIN or MAX, of evaluation.metric", "none");
  if (!std::isfinite(evaluation.stop_at())) return Expected(prefix + "stop_at", "a number", evaluation.stop_at());
  return absl::OkStatus();
}

absl::Status ValidateLossScale(const LossScale& scale) {
  const std::string key = "precision.loss_scale.";
  if (!(scale.growth_factor() >= 1)) {
    return Expected(key + "growth_factor", "1 or more", scale.growth_factor());
  }
  if (!(scale.backoff_factor() > 0 && scale.backoff_factor() < 1)) {
    return Expected(key + "backoff_factor", "a number above 0 and below 1", scale.backoff_factor());
  }
  if (scale.growth_interval() < 1) {
    return Expected(key + "growth_interval", "1 or more", scale.growth_interval());
  }
  if (!(scale.min() > 0)) {
    return Expected(key + "min", "a number above 0", scale.min());
  }
  if (!(scale.initial() >= scale.min() && scale.initial() <= scale.max())) {
    return Expected(key + "initial", absl::StrCat("min to max (", scale.min(), " to ", scale.max(), ")"),
                    scale.initial());
  }
  return absl::OkStatus();
}

absl::Status ValidatePrecision(const Precision& precision) {
  if (precision.has_residual() && precision.residual() != precision.compute() && precision.residual() != F32) {
    const Compute residual = precision.residual();
    return Expected("precision.residual",
                    absl::StrCat("F32 or that of compute (", Compute_Name(precision.compute()), ")"),
                    Compute_IsValid(residual) ? Compute_Name(residual) : absl::StrCat(int(residual)));
  }
  if (precision.has_loss_scale() && precision.compute() != F16) {
    return Expected("precision.loss_scale", "compute F16, which alone needs one", Compute_Name(precision.compute()));
  }
  return precision.has_loss_scale() ? ValidateLossScale(precision.loss_scale()) : absl::OkStatus();
}

absl::Status ValidateGenerate(const Generate& generate) {
  return generate.chunk() < 0 ? Expected("generate.chunk", "0 or more", generate.chunk()) : absl::OkStatus();
}

absl::Status ValidateZero(const Job& job) {
  const Zero& zero = job.zero();
  if (zero.stage() < 0 || zero.stage() > 3) {
    return Expected("zero.stage", "0, 1, 2 or 3", zero.stage());
  }
  if (zero.group() < 0) {
    return Expected("zero.group", "0 or more", zero.group());
  }
  if (!zero.tier().empty() && zero.offload() == Zero::NOTHING) {
    return Expected("zero.tier", "zero.offload, which says what lies there", "NOTHING");
  }
  if (zero.update() == Zero::HOST && zero.offload() == Zero::NOTHING) {
    return Expected("zero.update", "DEVICE without zero.offload, which says what lies where the host updates", "HOST");
  }
  if (zero.group() == 0) {
    return absl::OkStatus();
  }
  if (zero.stage() == 0) {
    return Expected("zero.group", "zero.stage 1, 2 or 3, which alone splits among ranks", zero.stage());
  }
  const MeshAxis& shared = SharedKey();
  const auto check = [&](const std::string& key, const Dist& dist) {
    const int64_t size = (dist.*shared.size)();
    if (size % zero.group() == 0) return absl::OkStatus();
    return Expected("zero.group", absl::StrCat("a divisor of ", key, ".", std::string(shared.name), " (", size, ")"),
                    zero.group());
  };
  if (job.pipeline().stages().empty()) {
    return check("dist", job.dist());
  }
  for (int stage = 0; stage < job.pipeline().stages_size(); ++stage) {
    const std::string key = absl::StrCat("pipeline.stages[", stage, "]");
    WEFT_RETURN_IF_ERROR(check(key, job.pipeline().stages(stage)));
  }
  return absl::OkStatus();
}

// What any field may be. Enums of protobuf text may be numbers. The runtime computes in float32: a number that it makes
// infinite, or 0, would train with something else than was asked.
absl::Status ValidateFields(const std::string& prefix, const google::protobuf::Message& message) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string key = prefix + field->name();
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      const int value = reflection->GetEnumValue(message, field);
      if (field->enum_type()->FindValueByNumber(value) == nullptr) {
        return Expected(key, ValuesOf(*field->enum_type()), value);
      }
    }
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      const double value = reflection->GetDouble(message, field), size = std::abs(value);
      constexpr double kLeast = std::numeric_limits<float>::min(), kMost = std::numeric_limits<float>::max();
      // Written so that NaN fails.
      if (!(size == 0 || (size >= kLeast && size <= kMost))) {
        return Expected(key, absl::StrCat("0 or a number of ", kLeast, " to ", kMost, ", which float32 holds"), value);
      }
    }
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    for (int i = 0; i < (field->is_repeated() ? reflection->FieldSize(message, field) : 1); ++i) {
      WEFT_RETURN_IF_ERROR(ValidateFields(key + ".", field->is_repeated()
                                                         ? reflection->GetRepeatedMessage(message, field, i)
                                                         : reflection->GetMessage(message, field)));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateGraph(const Graph& graph) {
  if (graph.has_loss_chunks() && graph.loss_chunks() < 1) {
    return Expected("graph.loss_chunks", "1 or more", graph.loss_chunks());
  }
  std::vector<std::string> axes;
  for (std::string_view axis : MeshKeys()) axes.emplace_back(axis);
  for (const Pin& pin : graph.pin()) {
    if (pin.parameter().empty() || pin.parameter().find_first_of(" |,") != std::string::npos) {
      return Expected("graph.pin.parameter", "the name of a parameter", absl::StrCat("\"", pin.parameter(), "\""));
    }
    if (std::find(axes.begin(), axes.end(), pin.axis()) == axes.end()) {
      return Expected("graph.pin.axis", absl::StrCat("one of ", absl::StrJoin(axes, ", ")),
                      absl::StrCat("\"", pin.axis(), "\""));
    }
    if (pin.state().empty() || pin.state().find_first_of(" |,") != std::string::npos) {
      return Expected("graph.pin.state", "S(dim) or B", absl::StrCat("\"", pin.state(), "\""));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateAugmentations(const Data& data) {
  for (const Augmentation& augmentation : data.augment()) {
    WEFT_RETURN_IF_ERROR(ValidateNumbers("data.augment.", augmentation));
    if (!augmentation.has_resized_crop()) continue;
    const ResizedCrop& crop = augmentation.resized_crop();
    const std::string key = "data.augment.resized_crop.";
    WEFT_RETURN_IF_ERROR(ValidateNumbers(key, crop));
    if (crop.max_area() > 1) return Expected(key + "max_area", "at most 1", crop.max_area());
    if (crop.min_area() > crop.max_area()) {
      return Expected(key + "min_area", absl::StrCat("at most max_area (", crop.max_area(), ")"), crop.min_area());
    }
    if (crop.min_ratio() > crop.max_ratio()) {
      return Expected(key + "min_ratio", absl::StrCat("at most max_ratio (", crop.max_ratio(), ")"), crop.min_ratio());
    }
  }
  return absl::OkStatus();
}

// A file and cuts are for one number of stages, and the file for one of micro-batches.
absl::Status ValidateAutoStages(const Job& job) {
  const Pipeline& pipeline = job.pipeline();
  if (pipeline.stages_size() > 0) {
    return Expected("pipeline.stages", "none with graph.auto_parallel, which gives all stages one mesh",
                    pipeline.stages_size());
  }
  for (const auto& [key, is_set] :
       {std::pair("cuts", pipeline.cuts_size() > 0), {"schedule_file", !pipeline.schedule_file().empty()}}) {
    if (is_set && job.dist().pipeline() == 0) {
      return Expected("dist.pipeline", absl::StrCat("the number of stages that pipeline.", key, " is for"), "none");
    }
  }
  if (!pipeline.schedule_file().empty() && job.batch().micro() == 0) {
    return Expected("batch.micro", "the size of the micro-batches that pipeline.schedule_file orders", "none");
  }
  return absl::OkStatus();
}

absl::Status ValidateAuto(const Job& job) {
  if (!job.graph().auto_parallel()) {
    for (const auto& [key, is_set] :
         {std::pair("auto", job.has_auto_()), {"graph.keep_pins", job.graph().keep_pins()}}) {
      if (is_set) return Expected(key, "graph.auto_parallel: true, which alone has it", "false");
    }
    return absl::OkStatus();
  }
  WEFT_RETURN_IF_ERROR(ValidateNumbers("auto.", job.auto_()));
  if (constexpr double kMostSeconds = 1e9; job.auto_().seconds() > kMostSeconds) {
    return Expected("auto.seconds", absl::StrCat("at most ", kMostSeconds), job.auto_().seconds());
  }
  if (job.auto_().reserve_bytes() < 0) {
    return Expected("auto.reserve_bytes", "0 or more", job.auto_().reserve_bytes());
  }
  if (job.cluster().empty()) {
    return Expected("cluster", "the path of a cluster file, which graph.auto_parallel lays the model out on", "none");
  }
  if (job.batch().global() < 1) {
    return Expected("batch.global", "1 or more, of which graph.auto_parallel chooses batch.micro",
                    job.batch().global() == 0 ? "none" : absl::StrCat(job.batch().global()));
  }
  if (job.batch().micro() > 0 && job.batch().global() % job.batch().micro() != 0) {
    return Expected("batch.global",
                    absl::StrCat("a multiple of batch.micro (", job.batch().micro(), ") with graph.auto_parallel"),
                    job.batch().global());
  }
  if (job.dist().data() > 0 && job.batch().global() % job.dist().data() != 0) {
    return Expected("batch.global", absl::StrCat("a multiple of dist.data (", job.dist().data(), ")"),
                    job.batch().global());
  }
  return ValidateAutoStages(job);
}

// What does not depend on the layout, by the layout that sets what is open to the least.
Job LeastOf(Job job) {
  job.mutable_graph()->set_auto_parallel(false);
  job.mutable_graph()->set_keep_pins(false);
  job.clear_auto_();
  if (job.batch().micro() == 0) {
    job.mutable_batch()->set_micro(job.batch().global());
  }
  if (job.zero().group() > 0 && !job.zero().has_stage()) {
    job.mutable_zero()->set_stage(1);
  }
  if (job.dist().data() == 0 && job.zero().stage() > 0) {
    job.mutable_zero()->clear_group();
  }
  if (!KeyOfStages(job.pipeline()).empty() && job.dist().pipeline() == 0) {
    job.mutable_dist()->set_pipeline(2);
  }
  if (job.pipeline().form() == V && !job.pipeline().has_schedule()) {
    job.mutable_pipeline()->set_schedule(ZERO_BUBBLE);
  }
  ResolveJob(&job);
  return job;
}

}  // namespace

absl::Status ValidateJob(const Job& job) {
  if (absl::Status status = ValidateAuto(job); !status.ok() || job.graph().auto_parallel()) {
    return status.ok() ? ValidateJob(LeastOf(job)) : status;
  }
  for (const absl::Status& status :
       {ValidateModel(job.model()), ValidatePrecision(job.precision()), ValidateDist(job),
        // After the sizes are known to be positive.
        BatchParts(job.dist()) > 0 ? ValidateBatch(job.batch(), job.dist()) : absl::OkStatus(), ValidatePipeline(job),
        ValidateZero(job), ValidateGenerate(job.generate()), ValidateGraph(job.graph()),
        ValidateRecompute(job.recompute()), ValidateData(job.data()),
        BatchParts(job.dist()) > 0 ? ValidateEvaluation(job) : absl::OkStatus(), ValidateAugmentations(job.data()),
        job.has_optimizer() ? ValidateOptimizer(job.optimizer()) : absl::OkStatus(), ValidateFields("", job)}) {
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace weft
