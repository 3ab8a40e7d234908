#include "compiler/job/numbers.h"

#include "absl/strings/str_cat.h"
#include "runtime/plan/job.pb.h"

namespace weft {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// What a number with these options is, empty where `value` is one (NaN is not).
std::string ExpectedOf(const google::protobuf::FieldOptions& options, double value) {
  const double least = options.GetExtension(at_least), over = options.GetExtension(above);
  const double end = options.GetExtension(below);
  if (options.HasExtension(above)) return value > over ? "" : absl::StrCat("a number above ", over);
  if (!options.HasExtension(below)) return value >= least ? "" : absl::StrCat(least, " or more");
  return value >= least && value < end ? "" : absl::StrCat("at least ", least, " and below ", end);
}

}  // namespace

bool HasRange(const FieldDescriptor& field) {
  const bool bounded = field.options().HasExtension(above) || field.options().HasExtension(at_least);
  return bounded && field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE && !field.is_repeated();
}

void FillNumbers(Message* message) {
  for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message->GetDescriptor()->field(i);
    if (!field->options().HasExtension(if_absent) || message->GetReflection()->HasField(*message, field)) continue;
    const double number = field->options().GetExtension(if_absent);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      message->GetReflection()->SetInt64(message, field, static_cast<int64_t>(number));
    } else {
      message->GetReflection()->SetDouble(message, field, number);
    }
  }
}

absl::Status ValidateNumbers(const std::string& prefix, const Message& message) {
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    if (!HasRange(*field) || (field->has_presence() && !message.GetReflection()->HasField(message, field))) continue;
    const double value = message.GetReflection()->GetDouble(message, field);
    if (const std::string expected = ExpectedOf(field->options(), value); !expected.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(prefix, field->name(), ": expected ", expected, ", got ", value));
    }
  }
  return absl::OkStatus();
}

}  // namespace weft
