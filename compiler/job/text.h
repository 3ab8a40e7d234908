// Protobuf text and single keys, with errors that name the key.
#ifndef WEFT_COMPILER_JOB_TEXT_H_
#define WEFT_COMPILER_JOB_TEXT_H_

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace weft {

// Reads protobuf text into `message`, which is cleared. An error begins with "path:line:column: " and lists the keys
// that exist if one does not.
absl::Status ParseText(const std::string& text, const std::string& path, google::protobuf::Message* message);

// "unknown key tenssor: expected data, tensor; did you mean tensor?"
std::string UnknownKey(const google::protobuf::Descriptor& type, const std::string& key);

// "a, b, c": the keys of a message, the values of an enum.
std::string KeysOf(const google::protobuf::Descriptor& type);
std::string ValuesOf(const google::protobuf::EnumDescriptor& type);

}  // namespace weft

#endif  // WEFT_COMPILER_JOB_TEXT_H_
