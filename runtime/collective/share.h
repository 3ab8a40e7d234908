// Which bytes of a collective go from which member to which: what every
// implementation has to agree with the others on.
#ifndef WEFT_RUNTIME_COLLECTIVE_SHARE_H_
#define WEFT_RUNTIME_COLLECTIVE_SHARE_H_

#include <cstdint>
#include <vector>

#include "runtime/collective/spec.h"

namespace weft::collective {

// Whole cache lines that hold so many bytes; a line is a multiple of every element's size.
int64_t WholeLines(int64_t bytes);

// Bytes [begin, end) of a tensor.
struct Share {
  int64_t begin = 0;
  int64_t end = 0;
};

// The bytes that member `m` of `members` reduces, one entry a spec; empty where
// the spec is no all_reduce. The all_reduces of a bundle, one after another and
// each padded to whole cache lines, are cut in equal parts of whole cache lines.
std::vector<Share> SharesOf(const std::vector<CollectiveSpec>& bundle, int64_t members, int64_t m);

// Which halves of its part a member of a zigzag keeps and gives to its mirror, the member that lies as far from the
// other end: the first (0) or the second (1) of its input, and as which half of whose output. The one in the middle
// keeps all.
struct ZigzagMoves {
  struct Half {
    int from = 0, to = 0;
  };
  bool mirrors = false;
  Half kept, given;
};
ZigzagMoves ZigzagMovesOf(int64_t member, int64_t members, bool back);

// A rectangle of `dims` that goes from one member to another: from the origin `from` in the input of the one to the
// origin `to` in the output of the other.
struct BlockMove {
  std::vector<int64_t> dims;
  std::vector<int64_t> from;
  std::vector<int64_t> to;
};

// From the input of member `source` to the output of member `target`, for all
// kinds but all_reduce; no elements where nothing goes that way. Of a reduce_scatter:
// the part that is reduced there. `output_dims` as OutputDims() says.
BlockMove BlockMoveOf(const CollectiveSpec& spec, const std::vector<int64_t>& output_dims, int64_t members,
                      int64_t source, int64_t target);

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_SHARE_H_
