// An array of records: the first dimension says which record.
#ifndef WEFT_RUNTIME_DATA_ARRAY_H_
#define WEFT_RUNTIME_DATA_ARRAY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/array_type.h"

namespace weft::data {

// Row-major and little-endian. Immutable: any thread may read.
struct Array {
  std::string where;  // for errors: "train.npy", "set.safetensors"
  const ArrayType* type = nullptr;
  std::vector<int64_t> shape;  // at least one dimension, each > 0
  const uint8_t* data = nullptr;
  std::shared_ptr<const void> owner;  // of the bytes

  int64_t records() const { return shape[0]; }
  // Of one record.
  int64_t elements() const;
  int64_t bytes() const { return records() * elements() * type->bytes; }
  // "u8[28,28]": the type and shape of a record; "u8" of one number.
  std::string RecordText() const;
};

// Opens the array of an input called `field`. What the file is, its content says: a NumPy array (.npy), an IDX file of
// bytes (yann.lecun.com/exdb/mnist), either also gzipped, or a file of safetensors with a tensor of that name. It is
// mapped; a gzipped one is inflated into memory. kDataLoss: truncated or damaged. kInvalidArgument: a file of another
// kind, an array of other elements, a scalar, or one that is not in C's order. kNotFound: no such file or tensor.
absl::StatusOr<Array> OpenArray(const std::string& path, const std::string& field);

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_ARRAY_H_
