#include "runtime/collective/mpi/exchange.h"

#include <utility>

#include "runtime/collective/mpi/exchange_builder.h"
#include "runtime/collective/share.h"

namespace weft::collective {
namespace {

class Direct {
 public:
  Direct(const std::vector<CollectiveSpec>& bundle, int members, int m, int64_t message_bytes)
      : bundle_(bundle), members_(members), m_(m), builder_(bundle, members, m, message_bytes) {
    for (int k = 0; k < members; ++k) shares_.push_back(SharesOf(bundle, members, k));
  }

  absl::StatusOr<Exchange> Compile() {
    if (absl::Status status = builder_.Check(); !status.ok()) return status;
    for (size_t i = 0; i < bundle_.size(); ++i) {
      if (absl::Status status = AddOwn(i); !status.ok()) return status;
    }
    for (int k = 0; k < members_; ++k) {
      if (k == m_) continue;
      builder_.AddPieces(0, true, k, All([&](size_t i) { return FirstPiece(i, m_, k, true); }));
      builder_.AddPieces(0, false, k, All([&](size_t i) { return TermFrom(i, k); }));
      builder_.AddPieces(1, true, k, All([&](size_t i) { return SecondPiece(i, m_); }));
      builder_.AddPieces(1, false, k, All([&](size_t i) { return SecondPiece(i, k); }));
    }
    for (Fold& fold : folds_) {
      if (fold.elements > 0) builder_.At(0).folds.push_back(std::move(fold));
    }
    return builder_.Take();
  }

 private:
  template <typename PieceOf>
  std::vector<Piece> All(const PieceOf& piece_of) const {
    std::vector<Piece> pieces;
    for (size_t i = 0; i < bundle_.size(); ++i) pieces.push_back(piece_of(i));
    return pieces;
  }

  bool HasParts(size_t i) const { return FactsOf(bundle_[i].kind).has_parts(); }

  // The first round: from an input to an output, or to the terms of a
  // reduction, which are dense. `sends`: as the sender sees it.
  Piece FirstPiece(size_t i, int source, int target, bool sends) const {
    if (!HasParts(i)) return ExchangeBuilder::RangePiece(Location::kInput, i, shares_[target][i]);
    return builder_.BlockPiece(i, source, target, sends);
  }
  Piece TermFrom(size_t i, int source) {
    Piece piece = FirstPiece(i, source, m_, false);
    if (folds_[i].elements > 0) piece.staged = &folds_[i].terms[source];
    return piece;
  }
  // The second: the source's share of an all_reduce, which lies alike in all outputs.
  Piece SecondPiece(size_t i, int source) const {
    return ExchangeBuilder::RangePiece(Location::kOutput, i, shares_[source][i]);
  }

  // What this member does of collective `i` by itself.
  absl::Status AddOwn(size_t i) {
    const CollectiveSpec& spec = bundle_[i];
    folds_.emplace_back();
    if (!Reduces(spec)) {
      builder_.AddOwnBlock(i);
      return absl::OkStatus();
    }
    absl::StatusOr<ReduceFunction> reduce = ReducerFor(spec.dtype, spec.reduction);
    if (!reduce.ok()) return reduce.status();
    Piece piece = FirstPiece(i, m_, m_, true);
    if (piece.bytes == 0) return absl::OkStatus();
    Fold& fold = folds_.back();
    fold = {.reduce = *reduce,
            .terms = std::vector<Location>(members_),
            .result = {Location::kOutput, static_cast<int32_t>(i), HasParts(i) ? 0 : piece.location.offset},
            .elements = piece.bytes / builder_.ElementBytes(i)};
    fold.terms[m_] = builder_.DenseOf(std::move(piece));
    return absl::OkStatus();
  }

  const std::vector<CollectiveSpec>& bundle_;
  const int members_, m_;
  ExchangeBuilder builder_;
  std::vector<std::vector<Share>> shares_;  // by member, then by tensor
  std::vector<Fold> folds_;                 // by tensor
};

}  // namespace

absl::StatusOr<Exchange> ExchangeOf(const std::vector<CollectiveSpec>& bundle, int members, int m,
                                    int64_t message_bytes) {
  return Direct(bundle, members, m, message_bytes).Compile();
}

}  // namespace weft::collective
