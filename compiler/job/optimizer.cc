#include "compiler/job/optimizer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The field of the rule that the job has, or nullptr.
const FieldDescriptor* RuleField(const Optimizer& optimizer) {
  return optimizer.GetReflection()->GetOneofFieldDescriptor(optimizer,
                                                            Optimizer::descriptor()->FindOneofByName("rule"));
}

// What a number with these options is, empty where `value` is one (NaN is not).
std::string ExpectedOf(const google::protobuf::FieldOptions& options, double value) {
  const double least = options.GetExtension(at_least), over = options.GetExtension(above);
  const double end = options.GetExtension(below);
  if (options.HasExtension(above)) return value > over ? "" : absl::StrCat("a number above ", over);
  if (!options.HasExtension(below)) return value >= least ? "" : absl::StrCat(least, " or more");
  return value >= least && value < end ? "" : absl::StrCat("at least ", least, " and below ", end);
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
    Message* message = optimizer->GetReflection()->MutableMessage(optimizer, rule);
    for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor* field = message->GetDescriptor()->field(i);
      if (field->options().HasExtension(if_absent) && !message->GetReflection()->HasField(*message, field)) {
        message->GetReflection()->SetDouble(message, field, field->options().GetExtension(if_absent));
      }
    }
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
    const std::string key = absl::StrCat("optimizer.", rule->name(), ".", field->name());
    const google::protobuf::FieldOptions& options = field->options();
    const bool bounded = options.HasExtension(above) || options.HasExtension(at_least);
    if (!bounded || field->cpp_type() != FieldDescriptor::CPPTYPE_DOUBLE || field->is_repeated()) {
      return absl::InternalError(absl::StrCat(key, ": expected a double that has a range, got none"));
    }
    const double value = message.GetReflection()->GetDouble(message, field);
    if (const std::string expected = ExpectedOf(options, value); !expected.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(key, ": expected ", expected, ", got ", value));
    }
  }
  return absl::OkStatus();
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
