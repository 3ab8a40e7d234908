// Which messages a bundle of collectives is, worked out when it is made.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_EXCHANGE_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_EXCHANGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/collective/reduce.h"
#include "runtime/collective/spec.h"
#include "runtime/collective/tile_copy.h"

namespace weft::collective {

// Bytes of one of the operation's tensors, or of the staging memory beside them.
struct Location {
  enum Side : uint8_t { kInput, kOutput, kStaging };
  Side side = kStaging;
  int32_t tensor = 0;
  int64_t offset = 0;
};

struct Message {
  int32_t member = 0;
  Location location;
  int64_t bytes = 0;
};

struct Move {
  Location from, to;  // where the tiles of `copy` begin
  TileCopy copy;
};

// One exchange among all members. Between two members, messages go in the order
// of these lists, which both of them make alike.
struct Round {
  std::vector<Move> before;       // of what is sent, into staging
  std::vector<Message> sends;     // by member
  std::vector<Message> receives;  // by member
  std::vector<Move> after;        // of what was received, out of staging
};

// A member's share of a reduction, whose terms are there after the first round.
struct OwnShare {
  ReduceFunction reduce = nullptr;
  std::vector<Location> terms;  // by member
  Location result;
  int64_t elements = 0;
};

// A bundle as member `m` of `members` does it: first everybody gets the terms of
// its shares of the reductions, and what is gathered; then the results of
// all_reduce. Small pieces for one member travel in one message.
struct Exchange {
  Round first, second;
  std::vector<Move> own;         // from this member's inputs to its outputs
  std::vector<OwnShare> shares;  // of the reductions
  int64_t staging_bytes = 0;
};

// kInvalidArgument if a spec does not fit the group, kUnimplemented if its type
// has no arithmetic. No message is longer than `message_bytes`.
absl::StatusOr<Exchange> ExchangeOf(const std::vector<CollectiveSpec>& bundle, int members, int m,
                                    int64_t message_bytes);

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_EXCHANGE_H_
