// Which messages a bundle of collectives is, worked out when it is made.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_EXCHANGE_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_EXCHANGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/collective/mpi/levels.h"
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

// Dense elements of several terms, put together in this order.
struct Fold {
  ReduceFunction reduce = nullptr;
  std::vector<Location> terms;
  Location result;  // may be the first term
  int64_t elements = 0;
};

// What a member does before it goes on to its next round. Between two members,
// messages go in the order of these lists, which both of them make alike.
struct Round {
  std::vector<Move> before;       // of what is sent, into staging
  std::vector<Message> sends;     // of the first round: by member
  std::vector<Message> receives;  // likewise
  std::vector<Move> meanwhile;    // while messages are on their way, of what they do not touch
  std::vector<Fold> folds;        // when they have come
  std::vector<Move> after;        // of what was received or folded
};

// A bundle as one member does it.
struct Exchange {
  std::vector<Round> rounds;
  int64_t staging_bytes = 0;
};

// As member `m` of `members` does it, with two rounds: first everybody gets the
// terms of its shares of the reductions, and what is gathered, from all others;
// then the results of all_reduce. Small pieces for one member travel in one
// message. kInvalidArgument if a spec does not fit the group, kUnimplemented if
// its type has no arithmetic. No message is longer than `message_bytes`.
absl::StatusOr<Exchange> ExchangeOf(const std::vector<CollectiveSpec>& bundle, int members, int m,
                                    int64_t message_bytes);

// The same bits with fewer bytes between hosts: members of one host put their terms together before these leave it,
// and what comes to a host comes once.
//
//   place 0     host 0 ──sum──▶ host 1 ──sum──▶ host 2      part after part; of each tensor the share of the place
//               host 0 ◀─total── host 1 ◀─total── host 2
//   place 1     the same, of the next share
//
// Sums go from host to host in the order of the members, so that every term is added where it is in ExchangeOf(); of
// bf16 and f16 they travel in f32. A part of a reduce_scatter goes from the last host straight to its member. What is
// gathered goes to one member of each host, which tells its host. Other kinds as in ExchangeOf(). Errors as there.
absl::StatusOr<Exchange> TwoLevelExchangeOf(const std::vector<CollectiveSpec>& bundle, int members, int m,
                                            const Levels& levels, int64_t message_bytes);

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_EXCHANGE_H_
