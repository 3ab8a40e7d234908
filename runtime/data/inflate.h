// Gzipped files, whole.
#ifndef WEFT_RUNTIME_DATA_INFLATE_H_
#define WEFT_RUNTIME_DATA_INFLATE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::data {

// Whether the file begins as a gzip archive (RFC 1952) does.
bool IsGzip(const uint8_t* file, int64_t bytes);

// What `bytes` bytes of archive hold, all its members one after the other; `path` is for errors. kDataLoss: truncated
// or damaged. kResourceExhausted: more than `limit` bytes, which no set that is gzipped whole has.
absl::StatusOr<std::shared_ptr<const std::vector<uint8_t>>> Inflate(const std::string& path, const uint8_t* file,
                                                                    int64_t bytes, int64_t limit = int64_t{8} << 30);

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_INFLATE_H_
