#include "runtime/data/inflate.h"

#include <zlib.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft::data {
namespace {

constexpr int kGzip = 16 + MAX_WBITS;                // what zlib calls the format
constexpr int64_t kInputBytes = int64_t{1} << 30;    // zlib counts in 32 bits
constexpr int64_t kOutputBytes = int64_t{16} << 20;  // at a time

// Inflates until the archive ends; what zlib says last. Writes of `out` no more than about `limit` bytes.
int Run(z_stream& stream, const uint8_t* file, int64_t bytes, int64_t limit, std::vector<uint8_t>& out) {
  int64_t taken = 0, written = 0;
  for (int result = Z_OK; result == Z_OK && written <= limit;) {
    out.resize(std::max<int64_t>(written + kOutputBytes, written / 2 * 3));
    stream.next_in = const_cast<uint8_t*>(file + taken);
    stream.avail_in = static_cast<uInt>(std::min(bytes - taken, kInputBytes));
    stream.next_out = out.data() + written;
    stream.avail_out = static_cast<uInt>(kOutputBytes);
    result = inflate(&stream, Z_NO_FLUSH);
    taken = stream.next_in - file;
    written = stream.next_out - out.data();
    if (result == Z_STREAM_END && taken < bytes) result = inflateReset(&stream);  // another member follows
    if (result != Z_OK || written > limit) {
      out.resize(written);
      return result;
    }
  }
  return Z_OK;
}

}  // namespace

bool IsGzip(const uint8_t* file, int64_t bytes) {
  return bytes >= 3 && file[0] == 0x1f && file[1] == 0x8b && file[2] == 8;
}

absl::StatusOr<std::shared_ptr<const std::vector<uint8_t>>> Inflate(const std::string& path, const uint8_t* file,
                                                                    int64_t bytes, int64_t limit) {
  auto out = std::make_shared<std::vector<uint8_t>>();
  z_stream stream = {};
  if (inflateInit2(&stream, kGzip) != Z_OK) {
    return absl::ResourceExhaustedError(absl::StrCat(path, ": cannot be inflated: no memory"));
  }
  const int result = Run(stream, file, bytes, limit, *out);
  const std::string why = stream.msg != nullptr ? stream.msg : "";
  inflateEnd(&stream);
  if (static_cast<int64_t>(out->size()) > limit) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": expected at most ", limit, " bytes in a gzip archive, got more: inflate it before"));
  }
  if (result == Z_STREAM_END) return std::shared_ptr<const std::vector<uint8_t>>(std::move(out));
  if (result == Z_BUF_ERROR)
    return absl::DataLossError(absl::StrCat(path, ": truncated: expected the end of a gzip archive"));
  return absl::DataLossError(
      absl::StrCat(path, ": damaged: expected a gzip archive", why.empty() ? "" : absl::StrCat(", got ", why)));
}

}  // namespace weft::data
