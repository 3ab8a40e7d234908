#include "runtime/data/document_borders.h"

#include <algorithm>

namespace weft::data {
namespace {

constexpr int64_t kBlock = 256;  // tokens that are looked at together

}  // namespace

int64_t DocumentBorders::Next(int64_t after, int64_t limit) const {
  limit = stream_.NextDocument(after, limit);
  if (!words_.end_of_document.has_value()) return limit;
  // A document begins behind its predecessor's last token.
  for (int64_t at = after; at < limit - 1; at += kBlock) {
    int32_t tokens[kBlock];
    const int64_t count = std::min(kBlock, limit - 1 - at);
    stream_.Copy(at, count, tokens);
    const int32_t* end = std::find(tokens, tokens + count, *words_.end_of_document);
    if (end != tokens + count) return at + (end - tokens) + 1;
  }
  return limit;
}

// value(document, its first column, column).
template <typename Value>
void DocumentBorders::EachDocument(const Columns& columns, int32_t* out, Value&& value) const {
  const int64_t end = columns.from + columns.count;
  int32_t document = 0;
  for (int64_t first = 0; first < end; ++document) {
    const int64_t next = Next(columns.begin + first, columns.begin + end) - columns.begin;
    for (int64_t column = std::max(first, columns.from); column < next; ++column) {
      out[column - columns.from] = value(document, first, column);
    }
    first = next;
  }
}

void DocumentBorders::Number(const Columns& columns, int32_t* out) const {
  EachDocument(columns, out, [](int32_t document, int64_t, int64_t) { return document; });
}

void DocumentBorders::Place(const Columns& columns, int32_t* out) const {
  EachDocument(columns, out,
               [](int32_t, int64_t first, int64_t column) { return static_cast<int32_t>(column - first); });
}

template <typename T>
void DocumentBorders::Mask(const Columns& columns, T* out) const {
  std::fill_n(out, columns.count, T{1});
  const int64_t first = columns.begin + columns.from;  // whose label is the token behind it
  const int64_t limit = first + columns.count + 1;
  for (int64_t border = Next(first, limit); border < limit; border = Next(border, limit))
    out[border - first - 1] = T{0};
  if (words_.masked.empty()) return;
  for (int64_t at = 0; at < columns.count; at += kBlock) {
    int32_t labels[kBlock];
    const int64_t count = std::min(kBlock, columns.count - at);
    stream_.Copy(first + at + 1, count, labels);
    for (int64_t i = 0; i < count; ++i) {
      if (std::find(words_.masked.begin(), words_.masked.end(), labels[i]) != words_.masked.end()) out[at + i] = T{0};
    }
  }
}

template void DocumentBorders::Mask(const Columns&, float*) const;
template void DocumentBorders::Mask(const Columns&, uint8_t*) const;

}  // namespace weft::data
