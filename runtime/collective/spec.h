// What a collective or a transfer is made for, known when a plan is loaded.
#ifndef WEFT_RUNTIME_COLLECTIVE_SPEC_H_
#define WEFT_RUNTIME_COLLECTIVE_SPEC_H_

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/dtype.h"
#include "runtime/plan/collective_kind.h"

namespace weft::collective {

// Members of a collective, in the order of their shares and of the summation.
struct Group {
  std::string name;        // "data[1]", for messages
  std::vector<int> ranks;  // without repetition
  // Operations of one group and channel meet in the order in which each member
  // issues them. Streams that issue independently of each other have channels of
  // their own, and so have groups that share two ranks or more: messages between
  // two ranks are told apart by the channel. Small numbers, from 0.
  int channel = 0;
};

// Member m of n keeps part m of what is cut; parts are joined in the order of the members.
using Kind = CollectiveKind;

enum class Reduction { kSum, kMax };

// All tensors are dense and row-major.
struct CollectiveSpec {
  Kind kind = Kind::kAllReduce;
  Reduction reduction = Reduction::kSum;
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;  // of one member's input
  int dim = 0;
  int split_dim = 0;
  int by = 0;         // of a kind that passes
  bool back = false;  // of a zigzag

  // The dim of the parts that members keep, of a kind that cuts.
  int cut_dim() const { return FactsOf(kind).has_split_dim() ? split_dim : dim; }

  // Of one member's input.
  int64_t bytes() const;

  bool operator==(const CollectiveSpec& other) const = default;
  // "all_gather f32[4,8] along dim 1".
  std::string ToString() const;
};

// What a bundle does: "all_gather", "all_reduce of 12 tensors", "all_reduce and
// all_gather of 3 tensors".
std::string NameOf(const std::vector<CollectiveSpec>& bundle);

// The same with every tensor: "all_gather f32[4,8] along dim 1", "all_reduce of
// 2 tensors: all_reduce f32[4], all_reduce f32[8]".
std::string Describe(const std::vector<CollectiveSpec>& bundle);

// kFailedPrecondition: `rank` and `other` issued, as their n-th operation of
// `group`, what Describe() says of each.
absl::Status Disagreement(const Group& group, int rank, const std::string& issued, int other,
                          const std::string& other_issued);

// The place of `rank` among the members of `group`, which do `bundle`. kInvalidArgument if it has none, if a member is
// no rank below `size`, or if there is nothing to do.
absl::StatusOr<int> MemberOf(const Group& group, const std::vector<CollectiveSpec>& bundle, int rank, int size);

// The dims of a member's output. kInvalidArgument if a dim does not exist, does
// not divide, or gather and split dim are one.
absl::StatusOr<std::vector<int64_t>> OutputDims(const CollectiveSpec& spec, int64_t members);

// The rectangle `dims` at `origin` of a dense tile `tile_dims`.
struct TensorBlock {
  std::vector<int64_t> tile_dims;
  std::vector<int64_t> origin;
  std::vector<int64_t> dims;
};

// One end of a way between two ranks. Both ends name the other one, the same
// tag, and blocks of equal dims.
struct Link {
  int peer = 0;
  int tag = 0;
  TensorBlock block;
};

// kInvalidArgument unless every link leads from `rank` to another rank below `size`.
absl::Status CheckPeers(const std::vector<Link>& links, int rank, int size);

// The ends of transfers that a rank has: whether it sends, the peer and the tag.
using LinkEnds = std::set<std::tuple<bool, int, int>>;

// Adds links to them. kInvalidArgument as CheckPeers(), or if one is there already.
absl::Status AddLinks(bool sends, const std::vector<Link>& links, int rank, int size, LinkEnds& ends);

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_SPEC_H_
