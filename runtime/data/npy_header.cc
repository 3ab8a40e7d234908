#include "runtime/data/npy_header.h"

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace weft::data {
namespace {

constexpr absl::string_view kMagic = "\x93NUMPY";
constexpr int64_t kAlignment = 16;  // of the array; NumPy writes 64 since 1.14

absl::Status Damaged(const std::string& path, const char* field, const char* expected, absl::string_view found) {
  return absl::DataLossError(absl::StrCat(path, ": .npy header: `", field, "`: expected ", expected, ", got ",
                                          found.empty() ? "nothing" : found.substr(0, 60)));
}

// What follows `'name':` in the header, a Python dictionary; "" if that is absent.
absl::string_view After(absl::string_view header, const char* name) {
  const std::string key = absl::StrCat("'", name, "':");
  const size_t at = header.find(key);
  return at == header.npos ? "" : absl::StripAsciiWhitespace(header.substr(at + key.size()));
}

// "(2, 3)", "(2,)" or "()".
bool ParseShape(absl::string_view text, std::vector<int64_t>* shape) {
  const size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == text.npos) return false;
  const absl::string_view inside = absl::StripAsciiWhitespace(text.substr(1, end - 1));
  if (inside.empty()) return true;
  std::vector<absl::string_view> sizes = absl::StrSplit(inside, ',');
  if (sizes.size() > 1 && absl::StripAsciiWhitespace(sizes.back()).empty()) sizes.pop_back();
  for (const absl::string_view size : sizes) {
    if (!absl::SimpleAtoi(size, &shape->emplace_back()) || shape->back() < 0) return false;
  }
  return true;
}

}  // namespace

bool IsNpy(const uint8_t* file, int64_t count) {
  return count >= static_cast<int64_t>(kMagic.size()) && std::memcmp(file, kMagic.data(), kMagic.size()) == 0;
}

absl::StatusOr<NpyHeader> ReadNpyHeader(const std::string& path, const uint8_t* file, int64_t count) {
  const int version = count > 6 ? file[6] : 1;
  if (version < 1 || version > 3) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": .npy version: expected 1, 2 or 3, got ", version));
  }
  // Magic, two bytes of version, and the length of the text in two bytes or, since version 2, four.
  const int64_t begin = version == 1 ? 10 : 12;
  int64_t length = 0;
  if (count >= begin) std::memcpy(&length, file + 8, begin - 8);
  if (count < begin + length) {
    return absl::DataLossError(
        absl::StrCat(path, ": truncated: expected a .npy header of ", begin + length, " bytes, got ", count));
  }
  const absl::string_view text(reinterpret_cast<const char*>(file) + begin, length);
  NpyHeader header;
  header.bytes = begin + length;
  const absl::string_view type = After(text, "descr"), order = After(text, "fortran_order"),
                          shape = After(text, "shape");
  if (!type.empty() && type[0] == '[') {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": .npy header: `descr`: expected one element type, got an array of several fields"));
  }
  const size_t quote = type.find('\'', 1);
  if (type.empty() || type[0] != '\'' || quote == type.npos) return Damaged(path, "descr", "an element type", type);
  header.type = std::string(type.substr(1, quote - 1));
  header.fortran_order = order.substr(0, 4) == "True";
  if (!header.fortran_order && order.substr(0, 5) != "False") {
    return Damaged(path, "fortran_order", "True or False", order);
  }
  if (!ParseShape(shape, &header.shape)) return Damaged(path, "shape", "sizes in parentheses", shape);
  if (header.bytes % kAlignment != 0) {
    return absl::DataLossError(
        absl::StrCat(path, ": .npy header: expected a multiple of ", kAlignment, " bytes, got ", header.bytes));
  }
  return header;
}

}  // namespace weft::data
