#include "runtime/collective/mpi/exchange_builder.h"

#include <algorithm>
#include <utility>

namespace weft::collective {
namespace {

// Pieces up to this many bytes travel together; longer ones are sent from where
// they lie.
constexpr int64_t kSmall = 4096;

}  // namespace

int64_t ElementsOf(const std::vector<int64_t>& dims) {
  int64_t elements = 1;
  for (int64_t d : dims) elements *= d;
  return elements;
}

absl::Status ExchangeBuilder::Check() {
  for (const CollectiveSpec& spec : bundle_) {
    absl::StatusOr<std::vector<int64_t>> dims = OutputDims(spec, members_);
    if (!dims.ok()) return dims.status();
    output_dims_.push_back(*std::move(dims));
  }
  At(0);  // in which members greet each other
  return absl::OkStatus();
}

Piece ExchangeBuilder::RangePiece(Location::Side side, size_t i, const Share& share) {
  const int64_t bytes = share.end - share.begin;
  return {bytes, {side, static_cast<int32_t>(i), share.begin}, TileCopy({bytes}, {bytes}, {0}, {bytes}, {0}, 1)};
}

Piece ExchangeBuilder::BlockPiece(size_t i, int source, int target, bool sends) const {
  const CollectiveSpec& spec = bundle_[i];
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

Piece ExchangeBuilder::ReceivedPiece(size_t i, int source) const {
  const BlockMove move = BlockMoveOf(bundle_[i], output_dims_[i], members_, source, m_);
  const std::vector<int64_t> zero(move.dims.size(), 0);
  TileCopy pack(move.dims, output_dims_[i], move.to, move.dims, zero, ElementBytes(i));
  return {ElementsOf(move.dims) * ElementBytes(i), {Location::kOutput, static_cast<int32_t>(i), 0}, std::move(pack)};
}

int64_t ExchangeBuilder::Allocate(int64_t bytes) {
  const int64_t at = result_.staging_bytes;
  result_.staging_bytes += WholeLines(bytes);
  return at;
}

Round& ExchangeBuilder::At(size_t round) {
  if (round >= result_.rounds.size()) result_.rounds.resize(round + 1);
  return result_.rounds[round];
}

void ExchangeBuilder::AddMessages(std::vector<Message>& messages, int member, Location location, int64_t bytes) const {
  for (int64_t begin = 0; begin < bytes; begin += message_bytes_) {
    Location at = location;
    at.offset += begin;
    messages.push_back({member, at, std::min(message_bytes_, bytes - begin)});
  }
}

void ExchangeBuilder::AddPieces(size_t round, bool sends, int member, std::vector<Piece> pieces) {
  if (pieces.empty()) return;
  Round& into = At(round);
  std::vector<Message>& messages = sends ? into.sends : into.receives;
  int64_t small = 0;
  for (const Piece& piece : pieces) {
    if (piece.bytes <= kSmall) small += WholeLines(piece.bytes);
  }
  int64_t at = Allocate(small);
  AddMessages(messages, member, {Location::kStaging, 0, at}, small);
  for (Piece& piece : pieces) {
    if (piece.bytes == 0) continue;
    Location staged{Location::kStaging, 0, at};
    if (piece.bytes <= kSmall) {
      at += WholeLines(piece.bytes);
    } else if (piece.copy.contiguous() && piece.staged == nullptr) {
      piece.location.offset += sends ? piece.copy.from_offset() : piece.copy.to_offset();
      AddMessages(messages, member, piece.location, piece.bytes);
      continue;
    } else {
      staged.offset = Allocate(piece.bytes);
      AddMessages(messages, member, staged, piece.bytes);
    }
    if (sends) {
      into.before.push_back({piece.location, staged, std::move(piece.copy)});
    } else if (piece.staged != nullptr) {
      *piece.staged = staged;
    } else {
      into.after.push_back({staged, piece.location, std::move(piece.copy)});
    }
  }
}

void ExchangeBuilder::AddOwnBlock(size_t i) {
  const BlockMove move = BlockMoveOf(bundle_[i], output_dims_[i], members_, m_, m_);
  const int32_t tensor = static_cast<int32_t>(i);
  At(0).meanwhile.push_back(
      {{Location::kInput, tensor, 0},
       {Location::kOutput, tensor, 0},
       TileCopy(move.dims, bundle_[i].dims, move.from, output_dims_[i], move.to, ElementBytes(i))});
}

Location ExchangeBuilder::DenseOf(Piece piece) {
  if (piece.copy.contiguous()) {
    piece.location.offset += piece.copy.from_offset();
    return piece.location;
  }
  const Location dense{Location::kStaging, 0, Allocate(piece.bytes)};
  At(0).meanwhile.push_back({piece.location, dense, std::move(piece.copy)});
  return dense;
}

}  // namespace weft::collective
