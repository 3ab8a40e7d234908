// Where the model files are, and what they say of themselves.
#ifndef WEFT_TOOLS_HUGGING_FACE_ZOO_H_
#define WEFT_TOOLS_HUGGING_FACE_ZOO_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace weft::hugging_face {

// The folder of the model files: `given` if there is one; else the first models/ with them in a folder above this
// program or in one above the working folder. kNotFound names what was looked for.
absl::StatusOr<std::string> FindZoo(const std::string& given);

// `name` in the nearest folder above this program that has such a file; empty if none has.
std::string AboveProgram(const std::string& name);

// The numbers that a model file, and those that it imports, give to their `model.config` names.
absl::StatusOr<std::map<std::string, std::string>> ReadDefaults(const std::string& path);

}  // namespace weft::hugging_face

#endif  // WEFT_TOOLS_HUGGING_FACE_ZOO_H_
