// Files of a Hugging Face folder beside its weights.
#ifndef WEFT_TOOLS_HUGGING_FACE_FOLDER_H_
#define WEFT_TOOLS_HUGGING_FACE_FOLDER_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "ops/abi/dtype.h"

namespace weft::hugging_face {

using Json = nlohmann::ordered_json;

inline constexpr const char* kConfigFile = "config.json";

// The files of a folder that go with a model wherever it goes, by name: config.json, the tokenizer's, how images are
// made ready, how text is generated. None of a folder that has none.
absl::StatusOr<std::map<std::string, std::string>> ReadCompanions(const std::string& folder);

// The object in a file; kDataLoss if there is none.
absl::StatusOr<Json> ParseObject(const std::string& path, const std::string& text);

// Writes into a config of which type the weights are.
void SetType(DType type, Json& config);

// The text of a config.json.
std::string TextOf(const Json& config);

}  // namespace weft::hugging_face

#endif  // WEFT_TOOLS_HUGGING_FACE_FOLDER_H_
