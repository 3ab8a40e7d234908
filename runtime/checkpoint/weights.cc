#include "runtime/checkpoint/weights.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/directory.h"
#include "runtime/checkpoint/file.h"

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int64_t kMostIndexBytes = int64_t{1} << 28;

bool IsThere(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none);
}

// {tensor: file} of an index.
absl::StatusOr<std::map<std::string, std::string>> ReadIndex(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadText(path, kMostIndexBytes);
  if (!text.ok()) return text.status();
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const bool good = json.is_object() && json.contains("weight_map") && json["weight_map"].is_object();
  if (!good) return absl::DataLossError(absl::StrCat(path, ": expected an object `weight_map`, got none"));
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : json["weight_map"].items()) {
    const std::string where = absl::StrCat(path, ": `", name, "`");
    if (!file.is_string()) return absl::DataLossError(where + ": expected the name of a file");
    files[name] = file.get<std::string>();
    if (files[name].empty() || files[name].find('/') != std::string::npos)
      return absl::DataLossError(
          absl::StrCat(where, ": expected the name of a file beside it, got `", files[name], "`"));
  }
  if (files.empty()) return absl::DataLossError(path + ": expected tensors in `weight_map`, got none");
  return files;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Weights>> Weights::Open(const std::string& path) {
  std::unique_ptr<Weights> weights(new Weights);
  std::error_code none;
  absl::Status status;
  if (fs::is_directory(path, none)) {
    status = weights->OpenFolder(path);
  } else if (absl::EndsWith(path, ".index.json")) {
    status = weights->OpenIndex(path);
  } else {
    weights->path_ = path;
    status = weights->AddFile(path);
  }
  if (!status.ok()) return status;
  return weights;
}

absl::Status Weights::OpenFolder(const std::string& folder) {
  const std::string file = absl::StrCat(folder, "/", kModelFile), index = absl::StrCat(folder, "/", kIndexFile);
  absl::StatusOr<std::unique_ptr<CheckpointReader>> checkpoint = CheckpointReader::Open(folder);
  if (checkpoint.ok()) {
    checkpoint_ = *std::move(checkpoint);
    path_ = absl::StrCat(checkpoint_->path(), "/", kModelFile);
    return AddFile(path_);
  }
  if (!absl::IsNotFound(checkpoint.status())) return checkpoint.status();
  if (!IsThere(file) && IsThere(index)) return OpenIndex(index);
  path_ = file;
  if (IsThere(file)) return AddFile(file);
  return absl::NotFoundError(
      absl::StrCat(folder, ": expected a checkpoint, ", kModelFile, " or ", kIndexFile, ", found none of them"));
}

absl::Status Weights::OpenIndex(const std::string& path) {
  path_ = path;
  const absl::StatusOr<std::map<std::string, std::string>> files = ReadIndex(path);
  if (!files.ok()) return files.status();
  std::set<std::string> names;
  for (const auto& [tensor, file] : *files) names.insert(file);
  for (const std::string& name : names) {
    const std::string file = absl::StrCat(Parent(path), "/", name);
    absl::Status status = AddFile(file);
    if (absl::IsNotFound(status))
      return absl::DataLossError(absl::StrCat(file, ": expected the file that ", kIndexFile, " names, found none"));
    if (!status.ok()) return status;
  }
  for (const auto& [name, file] : *files) {
    const auto it = tensors_.find(name);
    if (it != tensors_.end() && it->second.file->path() == absl::StrCat(Parent(path), "/", file)) continue;
    return absl::DataLossError(absl::StrCat(path, ": `", name, "`: expected it in ", file, ", found it ",
                                            it == tensors_.end() ? "nowhere" : "in " + it->second.file->path()));
  }
  for (const auto& [name, tensor] : tensors_) {
    if (files->count(name) != 0) continue;
    return absl::DataLossError(
        absl::StrCat(tensor.file->path(), ": `", name, "`: expected a tensor that the index names, got another"));
  }
  return absl::OkStatus();
}

absl::Status Weights::AddFile(const std::string& path) {
  auto opened = SafetensorsReader::Open(path);
  if (!opened.ok()) return opened.status();
  const SafetensorsReader* file = opened->get();
  files_.push_back(*std::move(opened));
  for (const TensorEntry& entry : file->header().tensors) {
    const auto [it, added] = tensors_.emplace(entry.name, Tensor{file, &entry});
    if (added) continue;
    return absl::DataLossError(
        absl::StrCat(path, ": `", entry.name, "`: expected it once, got it in ", it->second.file->path(), " too"));
  }
  return absl::OkStatus();
}

uint64_t Weights::header_checksum() const {
  uint64_t sum = 0;
  for (const auto& file : files_) sum += file->header().checksum;
  return sum;
}

absl::Status Weights::Read(const Tensor& tensor, const TensorSpec& spec, const std::vector<int64_t>& stored_shape,
                           void* out) const {
  if (checkpoint_ != nullptr) return checkpoint_->Read(tensor.entry->name, spec, stored_shape, out);
  return tensor.file->Read(*tensor.entry, spec, stored_shape, Conversion::kWiden, out);
}

std::string Weights::NamesLike(const std::string& name) const {
  std::vector<const SafetensorsHeader*> headers;
  for (const auto& file : files_) headers.push_back(&file->header());
  return checkpoint::NamesLike(name, headers);
}

}  // namespace weft::checkpoint
