#include "tools/hugging_face/names.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace weft::hugging_face {
namespace {

// The one table of what differs between names. Layouts do not differ: the model files store what transformers does.

// What a class with a head calls its body.
constexpr const char* kBases[] = {"transformer.", "model.", "bert.", "roberta.", "vit.", "swin.", "convnext."};

// Ends of names in files that were made from TensorFlow's.
constexpr std::pair<const char*, const char*> kEndings[] = {
    {"LayerNorm.gamma", "LayerNorm.weight"},
    {"LayerNorm.beta", "LayerNorm.bias"},
};

// Tensors that are tied to others, which the model files have once; without their bases.
constexpr std::pair<const char*, const char*> kCopies[] = {
    {"lm_head.weight", "wte.weight"},
    {"lm_head.weight", "embed_tokens.weight"},
    {"lm_head.weight", "shared.weight"},
    {"encoder.embed_tokens.weight", "shared.weight"},
    {"decoder.embed_tokens.weight", "shared.weight"},
    {"cls.predictions.decoder.weight", "embeddings.word_embeddings.weight"},
    {"cls.predictions.decoder.bias", "cls.predictions.bias"},
    {"lm_head.decoder.weight", "embeddings.word_embeddings.weight"},
    {"lm_head.decoder.bias", "lm_head.bias"},
};

std::string Spelled(const std::string& name) {
  for (const auto& [old_end, new_end] : kEndings) {
    if (absl::EndsWith(name, old_end)) return absl::StrCat(absl::StripSuffix(name, old_end), new_end);
  }
  return name;
}

std::string Renamed(const std::string& name, const std::vector<Rename>& renames) {
  for (const Rename& rename : renames) {
    if (std::regex_match(name, rename.from)) return std::regex_replace(name, rename.from, rename.to);
  }
  return Spelled(name);
}

}  // namespace

absl::StatusOr<Rename> ParseRename(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return absl::InvalidArgumentError(absl::StrCat("expected FROM=TO, got `", text, "`"));
  }
  Rename rename{{}, text.substr(equals + 1), text};
  try {  // the library's only way to say it
    rename.from = std::regex(text.substr(0, equals));
  } catch (const std::regex_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a regular expression before `=`, got `", text.substr(0, equals), "`"));
  }
  return rename;
}

std::string WithoutBase(const std::string& name) {
  for (const char* base : kBases) {
    if (absl::StartsWith(name, base)) return std::string(absl::StripPrefix(name, base));
  }
  return name;
}

absl::StatusOr<Names> Names::Of(const std::vector<std::string>& in_file, const std::vector<std::string>& prefixes,
                                const std::vector<Rename>& renames) {
  Names names;
  names.prefixes_ = prefixes;
  for (const std::string& name : in_file) {
    const std::string to = Renamed(name, renames);
    if (to.empty()) continue;
    const auto [it, added] = names.by_name_.emplace(to, name);
    if (!added) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected one tensor that is called `", to, "`, got `", it->second, "` and `", name, "`"));
    }
    const auto [body, first] = names.by_body_.emplace(WithoutBase(to), name);
    if (!first) body->second.clear();
  }
  return names;
}

std::string Names::FindByName(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? "" : it->second;
}

std::string Names::Find(const std::string& parameter) const {
  std::string found = FindByName(parameter);
  for (size_t i = 0; found.empty() && i < prefixes_.size(); ++i) found = FindByName(prefixes_[i] + parameter);
  if (!found.empty()) return found;
  const auto body = by_body_.find(WithoutBase(parameter));
  return body == by_body_.end() ? "" : body->second;
}

std::vector<std::string> Names::CopiesOf(const std::string& parameter) const {
  const std::string body = WithoutBase(parameter);
  std::vector<std::string> copies;
  for (const auto& [copy, original] : kCopies) {
    if (body == original && by_name_.count(copy) != 0) copies.push_back(copy);
  }
  return copies;
}

}  // namespace weft::hugging_face
