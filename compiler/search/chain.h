// The fastest labels of a chain of blocks that fit into a memory, and a bound of how much faster others could be.
//
//   embedding ──[x, dx]── block ──[x, dx]── block ── ... ──[x, dx]── head        each ── is a border
//
// Most blocks of a network are copies of a few. A class of copies is one labelling problem; what it takes for each pair
// of states at its two borders is found once, and blocks are put together along the chain. Copies may get different
// labels.
//
// With one price for seconds and bytes, elimination finds the best labels (elimination.h). Over all prices of a byte
// that is Lagrange's bound (Everett, Operations Research 11, 1963). Its tables also say of every label what it costs at
// least to take it, so that Pareto frontiers can be put together of the few that may still be better than what is
// known; that closes the gap. A problem whose tables are too large is divided by the labels of one variable.
//
// Plain values; no state is kept; any thread. The result depends on nothing but the problem, the limit and the effort.
#ifndef WEFT_COMPILER_SEARCH_CHAIN_H_
#define WEFT_COMPILER_SEARCH_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/search/frontier.h"
#include "compiler/search/labelling.h"

namespace weft::search {

/// What all copies of a block are. A variable of `out` is the one at the same place of `in` of the block that comes
/// next: both have the same labels and get the same one, and both their own prices count. A variable may be in both
/// lists; then it is the same from block to block, as a parameter that several blocks share. With k joint labels at one
/// side and l at the other a block has tables of k x l entries.
struct Block {
  Labelling labelling;
  std::vector<int> in, out; // variables; the first block of a chain has no `in`, the last one no `out`
};

/// Blocks in order: copies of a class, then of another.
struct Chain {
  struct Run {
    int block = 0, copies = 1;
  };
  std::vector<Block> blocks;
  std::vector<Run> runs;
};

struct Effort {
  int64_t table = 1 << 20;      // entries of one table at most
  int64_t work = 2'000'000'000; // entries and points looked at, after which only what was begun ends: seconds of a core
  size_t points = 1 << 14;      // of a frontier at most
  int64_t enough = 0;           // a gap of so many millionths of the seconds need not be closed
};

struct Solution {
  bool fits = false;
  std::vector<std::vector<int>>
      labels;                // of each block in order, one a variable: the fastest ones found that fit. If none
                             // do, those of the fewest bytes found. Empty if none may be, or none were found
  Price price = kImpossible; // of these labels
  int64_t bound = 0;         // no labels that fit take fewer seconds; kNever: none fit
  int64_t leastBytes = 0;    // no labels have fewer; kNever: none may be

  /// How many seconds faster others could be. 0: `labels` are best.
  int64_t gap() const { return price.seconds - bound; }
  /// None fit, and `labels` have the fewest bytes of all.
  bool isInfeasible() const { return bound == kNever && (leastBytes == kNever || price.bytes == leastBytes); }
};

/// The fastest labels of at most `limit` bytes, or with too little effort good ones and a bound.
Solution solve(const Chain &chain, int64_t limit, const Effort &effort = {});
/// Of a single block.
Solution solve(const Labelling &problem, int64_t limit, const Effort &effort = {});

struct WholeFrontier {
  Frontier points; // each is the price of some labels
  int64_t error =
      0; // whatever labels there are, a point has no more bytes and at most so many more seconds; kNever: unknown
};

/// What can be had for all limits: all of it, or where that is too much, points for some limits.
WholeFrontier frontierOf(const Chain &chain, const Effort &effort = {});

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_CHAIN_H_
