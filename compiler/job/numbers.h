// Ranges and defaults of numbers, as runtime/plan/job.proto says them in options of their fields.
#ifndef WEFT_COMPILER_JOB_NUMBERS_H_
#define WEFT_COMPILER_JOB_NUMBERS_H_

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace weft {

// Whether a field is a number that says its range: `above`, or `at_least` and perhaps `below`.
bool HasRange(const google::protobuf::FieldDescriptor& field);

// Sets what is absent and has an `if_absent`.
void FillNumbers(google::protobuf::Message* message);

// InvalidArgument with the key, which begins with `prefix`, of the first number out of its range; NaN is out of any.
absl::Status ValidateNumbers(const std::string& prefix, const google::protobuf::Message& message);

}  // namespace weft

#endif  // WEFT_COMPILER_JOB_NUMBERS_H_
