// Where documents begin in a stream of tokens, and what follows from it for a sequence that is cut from it.
#ifndef WEFT_RUNTIME_DATA_DOCUMENT_BORDERS_H_
#define WEFT_RUNTIME_DATA_DOCUMENT_BORDERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/data/token_stream.h"

namespace weft::data {

// What a job says of tokens.
struct TokenWords {
  std::optional<int32_t> end_of_document;  // a document ends behind each such token
  std::vector<int32_t> masked;             // labels that are not to be learnt
};

// The columns [from, from + count) of a sequence whose first token is `begin` of the stream.
struct Columns {
  int64_t begin = 0, from = 0, count = 0;
};

// Immutable: any thread may call. The stream outlives it. Nothing here allocates.
class DocumentBorders {
 public:
  DocumentBorders(const TokenStream& stream, TokenWords words) : stream_(stream), words_(std::move(words)) {}

  // Whether anything says where documents begin.
  bool known() const { return stream_.documents() > 0 || words_.end_of_document.has_value(); }
  const TokenWords& words() const { return words_; }

  // Of each column the number of its document in the sequence, from 0.
  void Number(const Columns& columns, int32_t* out) const;
  // Of each column its place in its document, or in the sequence if the document began before it.
  void Place(const Columns& columns, int32_t* out) const;
  // 1 where the label of a column, the next token, is to be learnt: 0 where it belongs to another document, or is
  // masked. Instantiated for float and uint8_t.
  template <typename T>
  void Mask(const Columns& columns, T* out) const;

 private:
  // The first document that begins in (after, limit), or `limit`.
  int64_t Next(int64_t after, int64_t limit) const;
  template <typename Value>
  void EachDocument(const Columns& columns, int32_t* out, Value&& value) const;

  const TokenStream& stream_;
  const TokenWords words_;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_DOCUMENT_BORDERS_H_
