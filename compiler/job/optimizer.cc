#include "compiler/job/optimizer.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

enum class Range { kAboveZero, kNotNegative, kShare };

// What a field of a rule may be, and what it is where a job does not say (a field without that is 0). By the name of
// the field in every rule, or in one: "Adam.beta2".
struct Number {
  const char* name;
  Range range;
  std::optional<double> absent;
};

constexpr Number kNumbers[] = {
    {"lr", Range::kAboveZero, std::nullopt}, {"momentum", Range::kShare, std::nullopt},
    {"beta1", Range::kShare, 0.9},           {"Adam.beta2", Range::kShare, 0.999},
    {"eps", Range::kAboveZero, 1e-8},        {"weight_decay", Range::kNotNegative, std::nullopt},
};

const Number* Find(const FieldDescriptor& field) {
  for (const Number& number : kNumbers) {
    if (number.name == field.name() ||
        number.name == absl::StrCat(field.containing_type()->name(), ".", field.name())) {
      return &number;
    }
  }
  return nullptr;
}

// The field of the rule that the job has, or nullptr.
const FieldDescriptor* RuleField(const Optimizer& optimizer) {
  return optimizer.GetReflection()->GetOneofFieldDescriptor(optimizer,
                                                            Optimizer::descriptor()->FindOneofByName("rule"));
}

std::string ExpectedIn(Range range) {
  switch (range) {
    case Range::kAboveZero:
      return "a number above 0";
    case Range::kNotNegative:
      return "0 or more";
    case Range::kShare:
      return "at least 0 and below 1";
  }
  return "";
}

// False for NaN.
bool IsIn(Range range, double value) {
  switch (range) {
    case Range::kAboveZero:
      return value > 0;
    case Range::kNotNegative:
      return value >= 0;
    case Range::kShare:
      return value >= 0 && value < 1;
  }
  return false;
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
      const Number* number = Find(*field);
      if (number != nullptr && number->absent && !message->GetReflection()->HasField(*message, field)) {
        message->GetReflection()->SetDouble(message, field, *number->absent);
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
    const Number* number = Find(*field);
    if (number == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_DOUBLE || field->is_repeated()) {
      return absl::InternalError(absl::StrCat(key, ": expected a double that has a range, got none"));
    }
    const double value = message.GetReflection()->GetDouble(message, field);
    if (!IsIn(number->range, value)) {
      return absl::InvalidArgumentError(absl::StrCat(key, ": expected ", ExpectedIn(number->range), ", got ", value));
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
