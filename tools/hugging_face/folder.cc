#include "tools/hugging_face/folder.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/file.h"

namespace weft::hugging_face {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 28;

// As transformers calls them.
constexpr const char* kCompanions[] = {kConfigFile,          "generation_config.json",
                                       "tokenizer.json",     "tokenizer_config.json",
                                       "vocab.json",         "merges.txt",
                                       "vocab.txt",          "tokenizer.model",
                                       "spiece.model",       "special_tokens_map.json",
                                       "added_tokens.json",  "chat_template.jinja",
                                       "chat_template.json", "preprocessor_config.json"};

}  // namespace

absl::StatusOr<std::map<std::string, std::string>> ReadCompanions(const std::string& folder) {
  std::map<std::string, std::string> companions;
  for (const char* name : kCompanions) {
    const std::string path = absl::StrCat(folder, "/", name);
    std::error_code none;
    if (!std::filesystem::exists(path, none)) continue;
    absl::StatusOr<std::string> text = checkpoint::ReadText(path, kMostBytes);
    if (!text.ok()) return text.status();
    companions[name] = *std::move(text);
  }
  return companions;
}

absl::StatusOr<Json> ParseObject(const std::string& path, const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) return json;
  return absl::DataLossError(absl::StrCat(path, ": expected a JSON object, got something else"));
}

void SetType(DType type, Json& config) {
  const char* name = type == DType::kBF16 ? "bfloat16" : type == DType::kF16 ? "float16" : "float32";
  config[config.contains("dtype") ? "dtype" : "torch_dtype"] = name;
}

std::string TextOf(const Json& config) { return config.dump(2) + "\n"; }

}  // namespace weft::hugging_face
