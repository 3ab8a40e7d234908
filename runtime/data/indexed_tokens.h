// Documents of tokens as Megatron-LM keeps them: NAME.bin, the tokens, and NAME.idx, where each document lies.
//
// The index (megatron/core/datasets/indexed_dataset.py there) is, little-endian and unpadded: "MMIDIDX", two bytes 0;
// the version, 1, as u64; the type of a token as u8: 1 uint8, 4 int32, 8 uint16; the number of sequences and that of
// document bounds as u64; of each sequence the tokens as i32; of each sequence its place in NAME.bin, in bytes, as i64;
// the bounds as i64: document d is sequences [bound d, bound d + 1).
#ifndef WEFT_RUNTIME_DATA_INDEXED_TOKENS_H_
#define WEFT_RUNTIME_DATA_INDEXED_TOKENS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data/mapped_file.h"
#include "runtime/data/sample_order.h"
#include "runtime/data/token_stream.h"

namespace weft::data {

// All documents, one after the other: in the order of the file, or permuted once from the seed, the same in every
// epoch. So a sequence that is cut from the stream may end one document and begin another.
class IndexedTokens : public TokenStream {
 public:
  // The NAME that `path` stands for: NAME itself, NAME.bin or NAME.idx, if there is a NAME.idx; "" if there is none.
  static std::string NameOf(const std::string& path);

  // kInvalidArgument: not such an index, or tokens of another type. kDataLoss: a file that is truncated, or an index
  // that does not fit the tokens.
  static absl::StatusOr<std::unique_ptr<const IndexedTokens>> Open(const std::string& name,
                                                                   const SampleOrder::Options& options);

  const std::string& path() const override { return tokens_->path(); }
  std::string form() const override { return width_ == 4 ? "int32" : width_ == 2 ? "uint16" : "uint8"; }
  int64_t documents() const override { return documents_; }
  int64_t NextDocument(int64_t after, int64_t limit) const override;
  int64_t size() const override { return starts_.back(); }
  void Copy(int64_t begin, int64_t count, int32_t* out) const override;
  TokenLook Look(int64_t limit = kLookBytes) const override;

 private:
  IndexedTokens(std::shared_ptr<const MappedFile> tokens, std::shared_ptr<const MappedFile> index)
      : tokens_(std::move(tokens)), index_(std::move(index)) {}
  absl::Status ReadIndex(const SampleOrder::Options& options);
  absl::Status ReadHeader();
  absl::Status CheckSequences() const;
  absl::Status CheckBounds() const;
  int64_t LengthOf(int64_t sequence) const;
  int64_t PlaceOf(int64_t sequence) const;
  int64_t BoundOf(int64_t document) const;

  const std::shared_ptr<const MappedFile> tokens_, index_;
  int64_t width_ = 0;  // bytes a token
  int64_t sequences_ = 0, documents_ = 0;
  // In the order of the stream: where each sequence begins in it, and at last its end; and where in NAME.bin.
  std::vector<int64_t> starts_, places_;
  std::vector<int64_t> document_starts_;  // ascending
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_INDEXED_TOKENS_H_
