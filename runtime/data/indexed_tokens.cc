#include "runtime/data/indexed_tokens.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/philox.h"
#include "runtime/data/permutation.h"
#include "runtime/data/token_bytes.h"

namespace weft::data {
namespace {

constexpr char kMagic[9] = {'M', 'M', 'I', 'D', 'I', 'D', 'X', 0, 0};
constexpr int64_t kVersion = 1;
constexpr int64_t kHeaderBytes = sizeof(kMagic) + 8 + 1 + 8 + 8;

// Keeps the order of documents apart from that of samples.
constexpr uint64_t kDocumentSeed = 0x646F63756D656E74ull;

template <typename Value>
Value At(const uint8_t* bytes, int64_t i = 0) {
  Value value;
  std::memcpy(&value, bytes + i * sizeof(Value), sizeof(Value));
  return value;
}

}  // namespace

std::string IndexedTokens::NameOf(const std::string& path) {
  const bool ends = absl::EndsWith(path, ".bin") || absl::EndsWith(path, ".idx");
  std::string name = ends ? path.substr(0, path.size() - 4) : path;
  struct stat info;
  return stat((name + ".idx").c_str(), &info) == 0 ? name : "";
}

absl::StatusOr<std::unique_ptr<const IndexedTokens>> IndexedTokens::Open(const std::string& name,
                                                                         const SampleOrder::Options& options) {
  auto index = MappedFile::Open(name + ".idx", "an index of Megatron-LM");
  if (!index.ok()) return index.status();
  auto tokens = MappedFile::Open(name + ".bin", "tokens");
  if (!tokens.ok()) return tokens.status();
  std::unique_ptr<IndexedTokens> set(new IndexedTokens(*std::move(tokens), *std::move(index)));
  if (absl::Status status = set->ReadIndex(options); !status.ok()) return status;
  return std::unique_ptr<const IndexedTokens>(std::move(set));
}

int64_t IndexedTokens::LengthOf(int64_t sequence) const { return At<int32_t>(index_->data() + kHeaderBytes, sequence); }

int64_t IndexedTokens::PlaceOf(int64_t sequence) const {
  return At<int64_t>(index_->data() + kHeaderBytes + 4 * sequences_, sequence);
}

int64_t IndexedTokens::BoundOf(int64_t document) const {
  return At<int64_t>(index_->data() + kHeaderBytes + 12 * sequences_, document);
}

absl::Status IndexedTokens::ReadHeader() {
  const uint8_t* file = index_->data();
  const std::string& path = index_->path();
  const int64_t bytes = index_->bytes();
  if (std::memcmp(file, kMagic, std::min<int64_t>(bytes, sizeof(kMagic))) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected an index of Megatron-LM, which begins with MMIDIDX, got another file"));
  }
  if (bytes < kHeaderBytes) {
    return absl::DataLossError(
        absl::StrCat(path, ": truncated: expected a header of ", kHeaderBytes, " bytes, got ", bytes));
  }
  if (const auto version = At<int64_t>(file + 9); version != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": version: expected ", kVersion, ", got ", version));
  }
  const int type = file[17];
  width_ = type == 1 ? 1 : type == 4 ? 4 : type == 8 ? 2 : 0;
  if (width_ == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": type of a token: expected uint8 (1), int32 (4) or uint16 (8), got ", type));
  }
  const auto sequences = At<int64_t>(file + 18), bounds = At<int64_t>(file + 26);
  const int64_t rest = bytes - kHeaderBytes;
  if (sequences < 0 || bounds < 0 || sequences > rest / 12 || bounds > rest / 8 ||
      12 * sequences + 8 * bounds != rest) {
    return absl::DataLossError(absl::StrCat(path, ": expected 12 bytes for each of ", sequences,
                                            " sequences and 8 for each of ", bounds, " bounds of documents, got ",
                                            rest));
  }
  sequences_ = sequences;
  documents_ = bounds - 1;
  return absl::OkStatus();
}

absl::Status IndexedTokens::CheckSequences() const {
  int64_t total = 0;
  for (int64_t i = 0; i < sequences_; ++i) {
    const int64_t length = LengthOf(i), place = PlaceOf(i);
    if (length < 0 || place < 0 || place > tokens_->bytes() || length > (tokens_->bytes() - place) / width_) {
      return absl::DataLossError(absl::StrCat(index_->path(), ": sequence ", i, ": expected tokens inside the ",
                                              tokens_->bytes(), " bytes of ", tokens_->path(), ", got ", length, " of ",
                                              width_, " bytes from ", place));
    }
    if (place != total) {
      return absl::DataLossError(absl::StrCat(index_->path(), ": sequence ", i, ": expected it to begin at byte ",
                                              total, " of ", tokens_->path(), ", behind the sequences before it, got ",
                                              place));
    }
    total += length * width_;
  }
  if (total == tokens_->bytes()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(tokens_->path(), ": expected ", total, " bytes, those of the sequences of ",
                                          index_->path(), ", got ", tokens_->bytes()));
}

absl::Status IndexedTokens::CheckBounds() const {
  int64_t least = 0;
  for (int64_t d = 0; d <= documents_; ++d) {
    const int64_t bound = BoundOf(d), expected = d == 0 ? 0 : d == documents_ ? sequences_ : bound;
    if (bound != expected || bound < least || bound > sequences_) {
      return absl::DataLossError(absl::StrCat(index_->path(),
                                              ": bounds of documents: expected ascending ones from 0 to ", sequences_,
                                              ", the number of sequences, got ", bound, " for document ", d));
    }
    least = bound;
  }
  if (documents_ >= 1) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(index_->path(), ": expected at least one document, got none"));
}

absl::Status IndexedTokens::ReadIndex(const SampleOrder::Options& options) {
  if (absl::Status status = ReadHeader(); !status.ok()) return status;
  if (absl::Status status = CheckBounds(); !status.ok()) return status;
  if (absl::Status status = CheckSequences(); !status.ok()) return status;
  const Permutation order(documents_, MixSeed(options.seed, kDocumentSeed));
  starts_ = {0};
  starts_.reserve(sequences_ + 1);
  places_.reserve(sequences_);
  document_starts_.reserve(documents_);
  for (int64_t i = 0; i < documents_; ++i) {
    const int64_t document = options.order == SEQUENTIAL ? i : order.At(0, i);
    document_starts_.push_back(starts_.back());
    for (int64_t sequence = BoundOf(document); sequence < BoundOf(document + 1); ++sequence) {
      places_.push_back(PlaceOf(sequence));
      starts_.push_back(starts_.back() + LengthOf(sequence));
    }
  }
  return absl::OkStatus();
}

int64_t IndexedTokens::NextDocument(int64_t after, int64_t limit) const {
  const auto next = std::upper_bound(document_starts_.begin(), document_starts_.end(), after);
  return next == document_starts_.end() ? limit : std::min(*next, limit);
}

void IndexedTokens::Copy(int64_t begin, int64_t count, int32_t* out) const {
  // The last sequence that begins at `begin` or before: those without tokens are passed over.
  size_t at = std::upper_bound(starts_.begin(), starts_.end(), begin) - starts_.begin() - 1;
  for (; count > 0; ++at) {
    const int64_t skip = begin - starts_[at], take = std::min(count, starts_[at + 1] - begin);
    CopyTokens(width_, tokens_->data() + places_[at] + skip * width_, take, out);
    begin += take;
    count -= take;
    out += take;
  }
}

TokenLook IndexedTokens::Look(int64_t limit) const {
  TokenLook look = LookAtTokens(path(), width_, tokens_->data(), tokens_->bytes(), 0, limit);
  look.hash += HashOf(index_->data(), index_->bytes(), PartsOf(index_->bytes(), limit));
  return look;
}

}  // namespace weft::data
