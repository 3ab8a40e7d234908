// Puts the rounds of an exchange together from pieces of tensors.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_EXCHANGE_BUILDER_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_EXCHANGE_BUILDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/collective/mpi/exchange.h"
#include "runtime/collective/share.h"

namespace weft::collective {

// What goes between two members, of one tensor: its place in the tensor and the
// copy between there and dense staging.
struct Piece {
  int64_t bytes = 0;
  Location location;
  TileCopy copy;
  // Of what is received: stays in staging, and here is where. Null: goes to its place.
  Location* staged = nullptr;
};

// One thread.
class ExchangeBuilder {
 public:
  // `bundle` outlives it.
  ExchangeBuilder(const std::vector<CollectiveSpec>& bundle, int members, int m, int64_t message_bytes)
      : bundle_(bundle), members_(members), m_(m), message_bytes_(message_bytes) {}

  // First: kInvalidArgument if a spec does not fit the group.
  absl::Status Check();

  int64_t ElementBytes(size_t i) const { return static_cast<int64_t>(SizeOf(bundle_[i].dtype)); }
  const std::vector<int64_t>& OutputDimsOf(size_t i) const { return output_dims_[i]; }

  // Of tensor `i`: a run of bytes as it lies.
  static Piece RangePiece(Location::Side side, size_t i, const Share& share);
  // From the input of `source` to the output of `target`, as BlockMoveOf() says. `sends`: as the sender sees it.
  Piece BlockPiece(size_t i, int source, int target, bool sends) const;
  // The block that `source` has given to this member, from its output on to others.
  Piece ReceivedPiece(size_t i, int source) const;

  // Whole lines of staging memory.
  int64_t Allocate(int64_t bytes);
  // Rounds are there when they are asked for, until the next is.
  Round& At(size_t round);
  // Messages of at most `message_bytes`.
  void AddMessages(std::vector<Message>& messages, int member, Location location, int64_t bytes) const;
  // What a round sends to a member, or receives from it.
  void AddPieces(size_t round, bool sends, int member, std::vector<Piece> pieces);
  // What this member keeps of tensor `i`, from its input to its output, in the first round.
  void AddOwnBlock(size_t i);
  // Where a piece of this member's own input lies dense when the first round ends.
  Location DenseOf(Piece piece);

  Exchange Take() { return std::move(result_); }

 private:
  const std::vector<CollectiveSpec>& bundle_;
  const int members_, m_;
  const int64_t message_bytes_;
  std::vector<std::vector<int64_t>> output_dims_;
  Exchange result_;
};

// How many elements a tensor of these dims has.
int64_t ElementsOf(const std::vector<int64_t>& dims);

// Puts terms together rather than moving what it is given.
inline bool Reduces(const CollectiveSpec& spec) { return FactsOf(spec.kind).reduces; }

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_EXCHANGE_BUILDER_H_
