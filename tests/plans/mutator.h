// Random changes to messages, the same for the same seed.
#ifndef WEFT_TESTS_PLANS_MUTATOR_H_
#define WEFT_TESTS_PLANS_MUTATOR_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

namespace weft::plan {

class Mutator {
  using FieldDescriptor = google::protobuf::FieldDescriptor;
  using Message = google::protobuf::Message;
  using Reflection = google::protobuf::Reflection;

 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // Changes one field somewhere in the message.
  void Mutate(Message* root) {
    std::vector<Message*> messages;
    Collect(root, messages);
    for (int tries = 0; tries < 20; ++tries) {
      Message* message = messages[Below(messages.size())];
      const int fields = message->GetDescriptor()->field_count();
      if (fields > 0 && Change(message, message->GetDescriptor()->field(Below(fields)))) return;
    }
  }

 private:
  size_t Below(size_t count) { return random_() % count; }

  void Collect(Message* message, std::vector<Message*>& all) {
    all.push_back(message);
    const Reflection* reflection = message->GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection->ListFields(*message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) continue;
      if (!field->is_repeated()) Collect(reflection->MutableMessage(message, field), all);
      for (int i = 0; field->is_repeated() && i < reflection->FieldSize(*message, field); ++i) {
        Collect(reflection->MutableRepeatedMessage(message, field, i), all);
      }
    }
  }

  bool Change(Message* message, const FieldDescriptor* field) {
    const Reflection* reflection = message->GetReflection();
    if (field->is_map()) return false;
    if (!field->is_repeated()) return Set(message, field);
    const int size = reflection->FieldSize(*message, field);
    switch (Below(4)) {
      case 0:
        if (size == 0) return false;
        reflection->RemoveLast(message, field);
        return true;
      case 1:
        if (size < 2) return false;
        reflection->SwapElements(message, field, Below(size), Below(size));
        return true;
      case 2:
        if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return SetElement(message, field, size);
        if (size == 0) return false;
        reflection->AddMessage(message, field)->CopyFrom(reflection->GetRepeatedMessage(*message, field, Below(size)));
        return true;
      default:
        return SetElement(message, field, size);
    }
  }

  int64_t Number(int64_t now) {
    static constexpr int64_t kOdd[] = {0,  1,    -1,      2,         3,         5,         64,
                                       65, 4096, 1 << 20, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    switch (Below(4)) {
      case 0:
        return static_cast<int64_t>(static_cast<uint64_t>(now) + 1);
      case 1:
        return static_cast<int64_t>(static_cast<uint64_t>(now) - 1);
      case 2:
        return static_cast<int64_t>(Below(16));
      default:
        return kOdd[Below(std::size(kOdd))];
    }
  }

  bool Set(Message* message, const FieldDescriptor* field) {
    const Reflection* reflection = message->GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        reflection->SetInt32(message, field, static_cast<int32_t>(Number(reflection->GetInt32(*message, field))));
        return true;
      case FieldDescriptor::CPPTYPE_INT64:
        reflection->SetInt64(message, field, Number(reflection->GetInt64(*message, field)));
        return true;
      case FieldDescriptor::CPPTYPE_ENUM:
        reflection->SetEnumValue(message, field, static_cast<int>(Below(10)) - 1);
        return true;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        reflection->SetDouble(message, field, Below(2) ? -1.0 : 1e300);
        return true;
      case FieldDescriptor::CPPTYPE_BOOL:
        reflection->SetBool(message, field, Below(2));
        return true;
      case FieldDescriptor::CPPTYPE_STRING:
        reflection->SetString(message, field, Below(2) ? "" : "accumulate");
        return true;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (reflection->HasField(*message, field) && Below(2)) {
          reflection->ClearField(message, field);
        } else {
          reflection->MutableMessage(message, field);
        }
        return true;
      default:
        return false;
    }
  }

  bool SetElement(Message* message, const FieldDescriptor* field, int size) {
    const Reflection* reflection = message->GetReflection();
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
      if (size == 0 || Below(4) == 0) {
        reflection->AddInt32(message, field, static_cast<int32_t>(Below(14)));
      } else {
        const int i = Below(size);
        const int32_t now = reflection->GetRepeatedInt32(*message, field, i);
        reflection->SetRepeatedInt32(message, field, i, static_cast<int32_t>(Number(now)));
      }
      return true;
    }
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_INT64) return false;
    if (size == 0 || Below(4) == 0) {
      reflection->AddInt64(message, field, static_cast<int64_t>(Below(9)));
    } else {
      const int i = Below(size);
      reflection->SetRepeatedInt64(message, field, i, Number(reflection->GetRepeatedInt64(*message, field, i)));
    }
    return true;
  }

  std::mt19937_64 random_;
};

}  // namespace weft::plan

#endif  // WEFT_TESTS_PLANS_MUTATOR_H_
