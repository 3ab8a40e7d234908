// Ranges and defaults of numbers, and how an error says what was expected, as runtime/plan/job.proto says them in
// options of their fields.
#ifndef WEFT_COMPILER_JOB_NUMBERS_H_
#define WEFT_COMPILER_JOB_NUMBERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/message.h"

namespace weft {

// "key: expected a, got b".
template <typename T>
absl::Status Expected(const std::string& key, const std::string& expected, T got) {
  return absl::InvalidArgumentError(absl::StrCat(key, ": expected ", expected, ", got ", got));
}

// Whether a field is a number that says its range: `above`, or `at_least` and perhaps `below`.
bool HasRange(const google::protobuf::FieldDescriptor& field);

// Sets what is absent and has an `if_absent`.
void FillNumbers(google::protobuf::Message* message);

// InvalidArgument with the key, which begins with `prefix`, of the first number out of its range; NaN is out of any,
// and what is optional and absent is out of none.
absl::Status ValidateNumbers(const std::string& prefix, const google::protobuf::Message& message);

}  // namespace weft

#endif  // WEFT_COMPILER_JOB_NUMBERS_H_
