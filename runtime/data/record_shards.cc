#include "runtime/data/record_shards.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace weft::data {

RecordShards::RecordShards(std::string where, std::vector<Array> arrays)
    : where_(std::move(where)), starts_({0}), arrays_(std::move(arrays)) {
  for (const Array& array : arrays_) starts_.push_back(starts_.back() + array.records());
}

absl::StatusOr<RecordShards> RecordShards::Create(const std::string& folder, const std::string& field,
                                                  std::vector<Array> arrays) {
  const Array& first = arrays[0];
  for (const Array& array : arrays) {
    if (array.RecordText() == first.RecordText()) continue;
    return absl::InvalidArgumentError(absl::StrCat(array.where, ": `", field, "`: expected records of ",
                                                   first.RecordText(), ", as ", first.where, " has, got ",
                                                   array.RecordText()));
  }
  return RecordShards(folder, std::move(arrays));
}

RecordShards::Place RecordShards::At(int64_t record) const {
  if (arrays_.size() == 1) return {arrays_[0], record};
  const auto shard = std::upper_bound(starts_.begin(), starts_.end(), record) - starts_.begin() - 1;
  return {arrays_[shard], record - starts_[shard]};
}

std::vector<std::string> ShardPaths(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string path = entry.path();
    for (const char* ending : {".npy", ".npy.gz", ".idx", ".idx.gz", ".safetensors"}) {
      if (absl::EndsWith(path, ending)) paths.push_back(path);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

absl::StatusOr<RecordShards> OpenShards(const std::string& path, const std::string& field) {
  std::error_code none;
  const bool folder = std::filesystem::is_directory(path, none);
  std::vector<Array> arrays;
  for (const std::string& shard : folder ? ShardPaths(path) : std::vector<std::string>{path}) {
    absl::StatusOr<Array> array = OpenArray(shard, field);
    if (!array.ok()) return array.status();
    arrays.push_back(*std::move(array));
  }
  if (arrays.empty()) {
    return absl::NotFoundError(absl::StrCat(path, ": `", field,
                                            "`: expected shards called .npy or .idx, also with .gz, "
                                            "or .safetensors, got none"));
  }
  if (!folder) return RecordShards(std::move(arrays[0]));
  return RecordShards::Create(path, field, std::move(arrays));
}

}  // namespace weft::data
