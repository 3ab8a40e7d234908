// A file that is read as if it lay in memory.
#ifndef WEFT_RUNTIME_DATA_MAPPED_FILE_H_
#define WEFT_RUNTIME_DATA_MAPPED_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace weft::data {

// Owns the mapping. Immutable: any thread may read. The file must not shrink while it is open; the system ends a
// process that reads a page which is gone.
class MappedFile {
 public:
  // `holds`, such as "tokens", is for errors. kNotFound: no such file. kInvalidArgument: not a regular file. kDataLoss:
  // an empty one.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(const std::string& path, const std::string& holds);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  const uint8_t* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  MappedFile(std::string path, const void* data, int64_t bytes)
      : path_(std::move(path)), data_(static_cast<const uint8_t*>(data)), bytes_(bytes) {}

  const std::string path_;
  const uint8_t* const data_;
  const int64_t bytes_;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_MAPPED_FILE_H_
