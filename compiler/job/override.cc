#include "compiler/job/override.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/job/job.h"
#include "compiler/job/text.h"

namespace weft {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// One override on its way to its field.
struct Setting {
  std::string key;    // whole, "optimizer.adamw.lr"
  std::string value;  // "1e-3"
};

absl::Status Wrong(const Setting& setting, const std::string& expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(setting.key, ": expected ", expected, ", got \"", setting.value, "\""));
}

// Sets, or for a repeated field appends, a value that was read.
#define WEFT_STORE(Kind, value) \
  (field->is_repeated() ? reflection->Add##Kind(message, field, value) : reflection->Set##Kind(message, field, value))

absl::Status StoreInteger(const Setting& setting, const FieldDescriptor* field, Message* message) {
  const Reflection* reflection = message->GetReflection();
  int64_t value = 0;
  uint64_t positive = 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      if (!absl::SimpleAtoi(setting.value, &value)) {
        return Wrong(setting, "a whole number");
      }
      WEFT_STORE(Int64, value);
      return absl::OkStatus();
    default:
      if (!absl::SimpleAtoi(setting.value, &positive)) {
        return Wrong(setting, "a whole number of 0 or more");
      }
      WEFT_STORE(UInt64, positive);
      return absl::OkStatus();
  }
}

absl::Status StoreMessage(const Setting& setting, const FieldDescriptor* field, Message* message) {
  const Reflection* reflection = message->GetReflection();
  if (setting.value.size() < 2 || setting.value.front() != '{' || setting.value.back() != '}') {
    return Wrong(setting, absl::StrCat("one of its keys (", KeysOf(*field->message_type()), ") or {...}"));
  }
  Message* child =
      field->is_repeated() ? reflection->AddMessage(message, field) : reflection->MutableMessage(message, field);
  child->Clear();
  return ParseText(setting.value.substr(1, setting.value.size() - 2), setting.key, child);
}

absl::Status Store(const Setting& setting, const FieldDescriptor* field, Message* message) {
  const Reflection* reflection = message->GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      return StoreInteger(setting, field, message);
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double value = 0;
      if (!absl::SimpleAtod(setting.value, &value)) {
        return Wrong(setting, "a number");
      }
      WEFT_STORE(Double, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      bool value = false;
      if (!absl::SimpleAtob(setting.value, &value)) {
        return Wrong(setting, "true or false");
      }
      WEFT_STORE(Bool, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* value = field->enum_type()->FindValueByName(setting.value);
      if (value == nullptr) {
        return Wrong(setting, ValuesOf(*field->enum_type()));
      }
      WEFT_STORE(Enum, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_STRING:
      WEFT_STORE(String, setting.value);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return StoreMessage(setting, field, message);
    default:
      return absl::UnimplementedError(
          absl::StrCat(setting.key, ": no override for fields of type ", field->cpp_type_name()));
  }
}
#undef WEFT_STORE

absl::Status Walk(const Setting& setting, const std::string& path, Message* message) {
  size_t dot = path.find('.');
  std::string name = path.substr(0, dot);
  const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name);
  if (field == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(setting.key, ": ", UnknownKey(*message->GetDescriptor(), name)));
  }
  if (dot == std::string::npos) {
    return Store(setting, field, message);
  }
  if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_repeated()) {
    return absl::InvalidArgumentError(absl::StrCat(setting.key, ": ", name, " has no keys"));
  }
  return Walk(setting, path.substr(dot + 1), message->GetReflection()->MutableMessage(message, field));
}

}  // namespace

absl::Status ApplyOverride(const std::string& text, size_t prefix, Message* message) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals <= prefix) {
    return absl::InvalidArgumentError(absl::StrCat("override: expected key.path=value, got \"", text, "\""));
  }
  Setting setting{text.substr(0, equals), text.substr(equals + 1)};
  return Walk(setting, setting.key.substr(prefix), message);
}

absl::Status ApplyOverride(const std::string& override_text, Job* job) { return ApplyOverride(override_text, 0, job); }

}  // namespace weft
