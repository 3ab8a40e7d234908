#include "tools/hugging_face/weights.h"

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/tile.h"

namespace weft::hugging_face {

using checkpoint::Weights;

namespace {

// The files' name of what a parameter is tied to and the plan has no parameter of its own for.
std::vector<std::string> CopiesOf(const Names& names, const std::string& parameter,
                                  const std::set<std::string>& parameters) {
  std::vector<std::string> copies;
  for (const std::string& copy : names.CopiesOf(parameter)) {
    if (parameters.count(copy) == 0) copies.push_back(names.in_file().at(copy));
  }
  return copies;
}

}  // namespace

Match MatchParameters(const Weights& weights, const Names& names, const std::set<std::string>& parameters) {
  Match match;
  std::set<std::string> used;
  for (const std::string& parameter : parameters) {
    std::string found = names.Find(parameter);
    const std::vector<std::string> copies = CopiesOf(names, parameter, parameters);
    if (found.empty() && !copies.empty()) found = copies.front();
    if (found.empty()) {
      match.lacking.push_back(parameter);
      continue;
    }
    match.found[parameter] = weights.tensors().at(found);
    used.insert(found);
    for (const std::string& copy : copies) {
      if (used.insert(copy).second) match.copies.push_back(copy);
    }
  }
  for (const auto& [name, tensor] : weights.tensors()) {
    if (used.count(name) == 0) match.unused.push_back(name);
  }
  return match;
}

absl::Status CheckCopies(const Weights& weights, const Names& names, const Match& match) {
  const std::set<std::string> copies(match.copies.begin(), match.copies.end());
  for (const auto& [parameter, tensor] : match.found) {
    for (const std::string& called : names.CopiesOf(parameter)) {
      const std::string& name = names.in_file().at(called);
      if (copies.count(name) == 0) continue;
      const Weights::Tensor& copy = weights.tensors().at(name);
      const absl::StatusOr<uint64_t> own = tensor.file->ChecksumOf(*tensor.entry),
                                     other = copy.file->ChecksumOf(*copy.entry);
      if (!own.ok()) return own.status();
      if (!other.ok()) return other.status();
      if (*own == *other && tensor.entry->type == copy.entry->type && tensor.entry->shape == copy.entry->shape)
        continue;
      return absl::InvalidArgumentError(absl::StrCat(
          copy.file->path(), ": `", name, "`: expected the numbers of `", tensor.entry->name,
          "`, which the model has in place of both, got others; weft run --rename '", name, "=' leaves it out"));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> NamesIn(const Weights& weights) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : weights.tensors()) names.push_back(name);
  return names;
}

}  // namespace weft::hugging_face
