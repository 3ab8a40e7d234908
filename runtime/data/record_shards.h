// The records of a field, in one array or in several.
#ifndef WEFT_RUNTIME_DATA_RECORD_SHARDS_H_
#define WEFT_RUNTIME_DATA_RECORD_SHARDS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/array.h"

namespace weft::data {

// Immutable: any thread may read.
class RecordShards {
 public:
  // One array.
  RecordShards(Array array) : where_(array.where), starts_({0, array.records()}) {
    arrays_.push_back(std::move(array));
  }
  // The arrays of a folder, at least one, one behind the other. kInvalidArgument: ragged ones, whose records have not
  // one type and shape.
  static absl::StatusOr<RecordShards> Create(const std::string& folder, const std::string& field,
                                             std::vector<Array> arrays);

  const std::string& where() const { return where_; }  // for errors
  int64_t records() const { return starts_.back(); }
  const std::vector<Array>& arrays() const { return arrays_; }
  // Whose type and record are those of all.
  const Array& first() const { return arrays_[0]; }

  struct Place {
    const Array& array;  // of these shards, which outlive it
    int64_t record;      // of the array
  };
  // Of one in [0, records()).
  Place At(int64_t record) const;

 private:
  RecordShards(std::string where, std::vector<Array> arrays);

  std::string where_;
  std::vector<int64_t> starts_;  // of each array, and the end
  std::vector<Array> arrays_;
};

// Arrays in `folder`: .npy, .idx, also with .gz, or .safetensors, in order of name; none if it is no folder.
std::vector<std::string> ShardPaths(const std::string& folder);

// Opens the array of a field, see OpenArray, or those of a folder.
absl::StatusOr<RecordShards> OpenShards(const std::string& path, const std::string& field);

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_RECORD_SHARDS_H_
