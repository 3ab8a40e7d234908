#include "compiler/job/optimizer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/job/numbers.h"

namespace weft {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The field that `message` has of the one oneof of this name, or nullptr.
const FieldDescriptor* FieldOf(const Message& message, const char* oneof) {
  return message.GetReflection()->GetOneofFieldDescriptor(message, message.GetDescriptor()->FindOneofByName(oneof));
}

// The field of the rule that the job has, or nullptr.
const FieldDescriptor* RuleField(const Optimizer& optimizer) { return FieldOf(optimizer, "rule"); }

// A number of a message, or several, behind each other.
std::string TextOf(const Message& message, const FieldDescriptor* field) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    return absl::StrFormat("%.17g", reflection.GetDouble(message, field));
  }
  if (!field->is_repeated()) return absl::StrCat(reflection.GetInt64(message, field));
  std::vector<int64_t> numbers;
  for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
    numbers.push_back(reflection.GetRepeatedInt64(message, field, i));
  }
  return absl::StrJoin(numbers, ";");
}

// Comparisons are written so that NaN fails.
template <typename Schedule>
absl::Status ValidateTotal(const std::string& key, const Schedule& schedule) {
  if (schedule.total() <= schedule.warmup()) {
    return Expected(key + ".total", absl::StrCat("more than warmup (", schedule.warmup(), ")"), schedule.total());
  }
  return absl::OkStatus();
}

absl::Status ValidateSteps(const std::string& key, const StepDecay& schedule) {
  if ((schedule.milestones_size() > 0) == (schedule.every() != 0)) {
    return Expected(key, "milestones or every", schedule.every() != 0 ? "both" : "none");
  }
  if (schedule.every() < 0) return Expected(key + ".every", "1 or more", schedule.every());
  for (int i = 0; i < schedule.milestones_size(); ++i) {
    const int64_t least = i == 0 ? 1 : schedule.milestones(i - 1) + 1;
    if (schedule.milestones(i) < least) {
      return Expected(absl::StrCat(key, ".milestones[", i, "]"), absl::StrCat(least, " or more"),
                      schedule.milestones(i));
    }
  }
  return absl::OkStatus();
}

// What one schedule alone asks for.
absl::Status ValidateOwn(const std::string& key, const RateSchedule& schedule) {
  switch (schedule.kind_case()) {
    case RateSchedule::kWarmupCosine:
      return ValidateTotal(key, schedule.warmup_cosine());
    case RateSchedule::kWarmupLinear:
      return ValidateTotal(key, schedule.warmup_linear());
    case RateSchedule::kPolynomial:
      return ValidateTotal(key, schedule.polynomial());
    case RateSchedule::kInverseSqrt:
      if (schedule.inverse_sqrt().warmup() < 1) {
        return Expected(key + ".warmup", "1 or more", schedule.inverse_sqrt().warmup());
      }
      return absl::OkStatus();
    case RateSchedule::kStep:
      return ValidateSteps(key, schedule.step());
    case RateSchedule::kWarmupStableDecay: {
      const StableDecay& stable = schedule.warmup_stable_decay();
      if (absl::Status status = ValidateTotal(key, stable); !status.ok()) return status;
      const int64_t most = stable.total() - stable.warmup();
      if (stable.decay() >= 1 && stable.decay() <= most) return absl::OkStatus();
      return Expected(key + ".decay", absl::StrCat("1 to total - warmup (", most, ")"), stable.decay());
    }
    case RateSchedule::kCosineRestarts: {
      const CosineRestarts& restarts = schedule.cosine_restarts();
      if (restarts.period() < 1) return Expected(key + ".period", "1 or more", restarts.period());
      return restarts.growth() >= 1 ? absl::OkStatus() : Expected(key + ".growth", "1 or more", restarts.growth());
    }
    case RateSchedule::kConstant:
    case RateSchedule::KIND_NOT_SET:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace

std::string OptimizerNames() {
  const google::protobuf::OneofDescriptor* rules = Optimizer::descriptor()->FindOneofByName("rule");
  std::vector<std::string> names;
  for (int i = 0; i + 1 < rules->field_count(); ++i) {
    names.emplace_back(rules->field(i)->name());
  }
  return absl::StrCat(absl::StrJoin(names, ", "), " or ", rules->field(rules->field_count() - 1)->name());
}

void ResolveOptimizer(Optimizer* optimizer) {
  if (const FieldDescriptor* rule = RuleField(*optimizer)) {
    FillNumbers(optimizer->GetReflection()->MutableMessage(optimizer, rule));
  }
  if (optimizer->schedule().kind_case() == RateSchedule::KIND_NOT_SET) {
    optimizer->mutable_schedule()->mutable_constant();
  }
  RateSchedule* schedule = optimizer->mutable_schedule();
  FillNumbers(schedule->GetReflection()->MutableMessage(schedule, FieldOf(*schedule, "kind")));
}

absl::Status ValidateRule(const Optimizer& optimizer) {
  const FieldDescriptor* rule = RuleField(optimizer);
  if (rule == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("optimizer: expected ", OptimizerNames(), ", got none"));
  }
  const Message& message = optimizer.GetReflection()->GetMessage(optimizer, rule);
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    if (!HasRange(*field)) {
      return absl::InternalError(absl::StrCat("optimizer.", rule->name(), ".", field->name(),
                                              ": expected a double that has a range, got none"));
    }
  }
  return ValidateNumbers(absl::StrCat("optimizer.", rule->name(), "."), message);
}

OptimizerRule RuleOf(const Optimizer& optimizer) {
  OptimizerRule made;
  const FieldDescriptor* rule = RuleField(optimizer);
  if (rule == nullptr) return made;
  made.name = rule->name();
  const Message& message = optimizer.GetReflection()->GetMessage(optimizer, rule);
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const double value = message.GetReflection()->GetDouble(message, field);
    if (field->name() == "lr") {
      made.lr = value;
    } else {
      made.numbers.emplace_back(field->name(), value);
    }
  }
  return made;
}

OptimizerSchedule ScheduleOf(const Optimizer& optimizer) {
  const RateSchedule& schedule = optimizer.schedule();
  const FieldDescriptor* kind = FieldOf(schedule, "kind");
  if (kind == nullptr) return {"constant", {}};
  OptimizerSchedule made{std::string(kind->name()), {}};
  const Message& message = schedule.GetReflection()->GetMessage(schedule, kind);
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    if (field->is_repeated() && message.GetReflection()->FieldSize(message, field) == 0) continue;
    made.numbers.emplace_back(field->name(), TextOf(message, field));
  }
  return made;
}

absl::Status ValidateSchedule(const RateSchedule& schedule) {
  const FieldDescriptor* kind = FieldOf(schedule, "kind");
  if (kind == nullptr) return absl::OkStatus();
  const std::string key = absl::StrCat("optimizer.schedule.", kind->name());
  const Message& message = schedule.GetReflection()->GetMessage(schedule, kind);
  const google::protobuf::Descriptor& fields = *message.GetDescriptor();
  if (const FieldDescriptor* field = fields.FindFieldByName("warmup")) {
    const int64_t warmup = message.GetReflection()->GetInt64(message, field);
    if (warmup < 0) return Expected(key + ".warmup", "0 or more", warmup);
  }
  if (absl::Status status = ValidateOwn(key, schedule); !status.ok()) return status;
  if (const FieldDescriptor* field = fields.FindFieldByName("min_ratio")) {
    const double ratio = message.GetReflection()->GetDouble(message, field);
    if (!(ratio >= 0 && ratio <= 1)) return Expected(key + ".min_ratio", "from 0 to 1", ratio);
  }
  return ValidateNumbers(key + ".", message);
}

absl::Status ValidateGroups(const Optimizer& optimizer) {
  for (int i = 0; i < optimizer.groups_size(); ++i) {
    const ParameterGroup& group = optimizer.groups(i);
    const std::string key = absl::StrCat("optimizer.groups[", i, "]");
    if (group.pattern().empty()) return Expected(key + ".pattern", "a regular expression of names", "none");
    if (!group.has_weight_decay() && !group.has_lr_scale() && !group.has_adamw()) {
      return Expected(key, "weight_decay, lr_scale or adamw", "none");
    }
    if (group.has_adamw() && !optimizer.has_muon()) {
      return Expected(key + ".adamw", "the rule muon, which alone leaves parameters to AdamW",
                      RuleField(optimizer)->name());
    }
    if (absl::Status status = ValidateNumbers(key + ".", group); !status.ok()) return status;
  }
  for (int i = 0; i < optimizer.frozen_size(); ++i) {
    if (optimizer.frozen(i).empty()) {
      return Expected(absl::StrCat("optimizer.frozen[", i, "]"), "a regular expression of names", "none");
    }
  }
  return absl::OkStatus();
}

}  // namespace weft
