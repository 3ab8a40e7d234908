#include "compiler/job/optimizer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/job/numbers.h"

namespace weft {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The field of the rule that the job has, or nullptr.
const FieldDescriptor* RuleField(const Optimizer& optimizer) {
  return optimizer.GetReflection()->GetOneofFieldDescriptor(optimizer,
                                                            Optimizer::descriptor()->FindOneofByName("rule"));
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

}  // namespace weft
