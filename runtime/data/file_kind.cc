#include "runtime/data/file_kind.h"

#include <cstring>
#include <string_view>

namespace weft::data {
namespace {

using std::string_view_literals::operator""sv;

struct Kind {
  int64_t offset;
  std::string_view bytes;
  const char* name;
};

constexpr Kind kKinds[] = {
    {0, "\x93NUMPY"sv, "a NumPy array (.npy)"},
    {0, "PK\x03\x04"sv, "a zip archive (as .npz and .pt are)"},
    {0, "\x1f\x8b\x08\x00"sv, "a gzip archive"},
    {0, "\x1f\x8b\x08\x08"sv, "a gzip archive"},
    {0, "BZh9"sv, "a bzip2 archive"},
    {0, "\xfd\x37zXZ"sv, "an xz archive"},
    {0, "\x28\xb5\x2f\xfd"sv, "a zstd archive"},
    {257, "ustar"sv, "a tar archive"},
    {0, "PAR1"sv, "a Parquet file"},
    {0, "ARROW1"sv, "an Arrow file"},
    {0, "\x89HDF"sv, "an HDF5 file"},
    {0, "SQLite format 3"sv, "an SQLite database"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program"},
    {0, "%PDF"sv, "a PDF"},
    {3, "\0\0\0\0\0{\""sv, "a safetensors file"},
    {0, "WEFTPLAN"sv, "a plan of weft-compile"},
};

}  // namespace

std::string KindOf(const uint8_t* bytes, int64_t count) {
  for (const Kind& kind : kKinds) {
    const auto size = static_cast<int64_t>(kind.bytes.size());
    if (kind.offset + size <= count && std::memcmp(bytes + kind.offset, kind.bytes.data(), size) == 0) return kind.name;
  }
  return "";
}

}  // namespace weft::data
