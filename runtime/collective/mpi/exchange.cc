#include "runtime/collective/mpi/exchange.h"

#include <algorithm>

#include "runtime/collective/share.h"

namespace weft::collective {
namespace {

// Pieces up to this many bytes travel together; longer ones are sent from where
// they lie.
constexpr int64_t kSmall = 4096;
constexpr int64_t kLine = 64;

int64_t RoundUp(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

int64_t ElementsOf(const std::vector<int64_t>& dims) {
  int64_t elements = 1;
  for (int64_t d : dims) elements *= d;
  return elements;
}

bool Reduces(const CollectiveSpec& spec) { return FactsOf(spec.kind).reduces; }

// What goes between two members, of one tensor: its place in the tensor and the
// copy between there and dense staging.
struct Piece {
  int64_t bytes = 0;
  Location location;
  TileCopy copy;
};

class Compiler {
 public:
  Compiler(const std::vector<CollectiveSpec>& bundle, int members, int m, int64_t message_bytes)
      : bundle_(bundle), members_(members), m_(m), message_bytes_(message_bytes) {
    for (int k = 0; k < members; ++k) shares_.push_back(SharesOf(bundle, members, k));
  }

  absl::StatusOr<Exchange> Compile() {
    for (size_t i = 0; i < bundle_.size(); ++i) {
      absl::StatusOr<std::vector<int64_t>> dims = OutputDims(bundle_[i], members_);
      if (!dims.ok()) return dims.status();
      output_dims_.push_back(*std::move(dims));
      if (absl::Status status = AddOwn(i); !status.ok()) return status;
    }
    for (int k = 0; k < members_; ++k) {
      if (k == m_) continue;
      AddPieces(result_.first, true, k, [&](size_t i) { return FirstPiece(i, m_, k, true); });
      AddPieces(result_.first, false, k, [&](size_t i) { return FirstPiece(i, k, m_, false); }, true);
      AddPieces(result_.second, true, k, [&](size_t i) { return SecondPiece(i, m_); });
      AddPieces(result_.second, false, k, [&](size_t i) { return SecondPiece(i, k); });
    }
    return std::move(result_);
  }

 private:
  int64_t ElementBytes(size_t i) const { return static_cast<int64_t>(SizeOf(bundle_[i].dtype)); }
  int64_t Allocate(int64_t bytes) {
    const int64_t at = result_.staging_bytes;
    result_.staging_bytes += RoundUp(bytes);
    return at;
  }

  // A run of bytes as it lies.
  static Piece RangeOf(Location::Side side, size_t i, const Share& share) {
    const int64_t bytes = share.end - share.begin;
    return {bytes, {side, static_cast<int32_t>(i), share.begin}, TileCopy({bytes}, {bytes}, {0}, {bytes}, {0}, 1)};
  }

  // The first exchange: from an input to an output, or to the terms of a
  // reduction, which are dense. `sends`: as the sender sees it.
  Piece FirstPiece(size_t i, int source, int target, bool sends) const {
    const CollectiveSpec& spec = bundle_[i];
    if (!FactsOf(spec.kind).has_parts()) return RangeOf(Location::kInput, i, shares_[target][i]);
    const BlockMove move = BlockMoveOf(spec, output_dims_[i], members_, source, target);
    const std::vector<int64_t> zero(move.dims.size(), 0);
    const int64_t bytes = ElementsOf(move.dims) * ElementBytes(i);
    if (sends) {
      TileCopy pack(move.dims, spec.dims, move.from, move.dims, zero, ElementBytes(i));
      return {bytes, {Location::kInput, static_cast<int32_t>(i), 0}, std::move(pack)};
    }
    TileCopy unpack(move.dims, move.dims, zero, output_dims_[i], move.to, ElementBytes(i));
    return {bytes, {Location::kOutput, static_cast<int32_t>(i), 0}, std::move(unpack)};
  }

  // The second: the source's share of an all_reduce, which lies alike in all outputs.
  Piece SecondPiece(size_t i, int source) const { return RangeOf(Location::kOutput, i, shares_[source][i]); }

  void AddMessages(std::vector<Message>& messages, int member, Location location, int64_t bytes) const {
    for (int64_t begin = 0; begin < bytes; begin += message_bytes_) {
      Location at = location;
      at.offset += begin;
      messages.push_back({member, at, std::min(message_bytes_, bytes - begin)});
    }
  }

  // Bytes of the message that small pieces share.
  template <typename PieceAt>
  int64_t SmallBytes(const PieceAt& piece_at) const {
    int64_t bytes = 0;
    for (size_t i = 0; i < bundle_.size(); ++i) {
      const int64_t piece = piece_at(i).bytes;
      if (piece <= kSmall) bytes += RoundUp(piece);
    }
    return bytes;
  }

  // `terms`: what is received for reducing collectives stays in staging, as terms.
  template <typename PieceAt>
  void AddPieces(Round& round, bool sends, int member, const PieceAt& piece_at, bool terms = false) {
    std::vector<Message>& messages = sends ? round.sends : round.receives;
    const int64_t small = SmallBytes(piece_at);
    int64_t at = Allocate(small);
    AddMessages(messages, member, {Location::kStaging, 0, at}, small);
    for (size_t i = 0; i < bundle_.size(); ++i) {
      Piece piece = piece_at(i);
      if (piece.bytes == 0) continue;
      const bool term = terms && Reduces(bundle_[i]);
      Location staged{Location::kStaging, 0, at};
      if (piece.bytes <= kSmall) {
        at += RoundUp(piece.bytes);
      } else if (piece.copy.contiguous() && !term) {
        piece.location.offset += sends ? piece.copy.from_offset() : piece.copy.to_offset();
        AddMessages(messages, member, piece.location, piece.bytes);
        continue;
      } else {
        staged.offset = Allocate(piece.bytes);
        AddMessages(messages, member, staged, piece.bytes);
      }
      if (sends) {
        round.before.push_back({piece.location, staged, std::move(piece.copy)});
      } else if (term) {
        result_.shares[share_of_[i]].terms[member] = staged;
      } else {
        round.after.push_back({staged, piece.location, std::move(piece.copy)});
      }
    }
  }

  // What this member does of collective `i` by itself.
  absl::Status AddOwn(size_t i) {
    const CollectiveSpec& spec = bundle_[i];
    const int32_t tensor = static_cast<int32_t>(i);
    share_of_.push_back(result_.shares.size());
    if (!Reduces(spec)) {
      const BlockMove move = BlockMoveOf(spec, output_dims_[i], members_, m_, m_);
      result_.own.push_back({{Location::kInput, tensor, 0},
                             {Location::kOutput, tensor, 0},
                             TileCopy(move.dims, spec.dims, move.from, output_dims_[i], move.to, ElementBytes(i))});
      return absl::OkStatus();
    }
    absl::StatusOr<ReduceFunction> reduce = ReducerFor(spec.dtype, spec.reduction);
    if (!reduce.ok()) return reduce.status();
    Piece piece = FirstPiece(i, m_, m_, true);
    if (piece.bytes == 0) return absl::OkStatus();
    OwnShare share{.reduce = *reduce,
                   .terms = std::vector<Location>(members_),
                   .result = {Location::kOutput, tensor, 0},
                   .elements = piece.bytes / ElementBytes(i)};
    if (!FactsOf(spec.kind).has_parts()) share.result.offset = piece.location.offset;
    if (piece.copy.contiguous()) {
      piece.location.offset += piece.copy.from_offset();
      share.terms[m_] = piece.location;
    } else {
      share.terms[m_] = {Location::kStaging, 0, Allocate(piece.bytes)};
      result_.own.push_back({piece.location, share.terms[m_], std::move(piece.copy)});
    }
    result_.shares.push_back(std::move(share));
    return absl::OkStatus();
  }

  const std::vector<CollectiveSpec>& bundle_;
  const int members_, m_;
  const int64_t message_bytes_;
  std::vector<std::vector<Share>> shares_;  // by member, then by tensor
  std::vector<std::vector<int64_t>> output_dims_;
  std::vector<size_t> share_of_;
  Exchange result_;
};

}  // namespace

absl::StatusOr<Exchange> ExchangeOf(const std::vector<CollectiveSpec>& bundle, int members, int m,
                                    int64_t message_bytes) {
  return Compiler(bundle, members, m, message_bytes).Compile();
}

}  // namespace weft::collective
