#include "compiler/passes/memory/placement.h"

namespace weft::compiler {
namespace {

// Finds the blocks that live at a time, among those added: a segment tree over positions.
class Index {
public:
  explicit Index(int64_t positions, size_t blocks) : seen_(blocks, 0) {
    while (leaves_ < positions) {
      leaves_ *= 2;
    }
    nodes_.resize(2 * leaves_);
  }

  void add(int32_t block, const Life &life) {
    for (Span span : life) {
      visit(1, 0, leaves_ - 1, span,
            [&](Node &node, bool whole) { (whole ? node.here : node.below).push_back(block); });
    }
  }

  void find(const Life &life, std::vector<int32_t> &found) {
    ++turn_;
    auto take = [&](const std::vector<int32_t> &blocks) {
      for (int32_t block : blocks) {
        if (seen_[block] != turn_) {
          seen_[block] = turn_;
          found.push_back(block);
        }
      }
    };
    for (Span span : life) {
      visit(1, 0, leaves_ - 1, span, [&](Node &node, bool whole) {
        take(node.here);
        if (whole) {
          take(node.below);
        }
      });
    }
  }

private:
  struct Node {
    std::vector<int32_t> here;  // live at all positions of the node
    std::vector<int32_t> below; // at some
  };

  template <typename Do> void visit(int64_t node, int64_t first, int64_t last, Span span, Do &&act) {
    if (span.last < first || last < span.first) {
      return;
    }
    bool whole = span.first <= first && last <= span.last;
    act(nodes_[node], whole);
    if (whole) {
      return;
    }
    int64_t middle = (first + last) / 2;
    visit(2 * node, first, middle, span, act);
    visit(2 * node + 1, middle + 1, last, span, act);
  }

  int64_t leaves_ = 1;
  std::vector<Node> nodes_;
  std::vector<int32_t> seen_;
  int32_t turn_ = 0;
};

// Of what is live, a block of more than this part is a giant.
constexpr int64_t kGiant = 16;

// So often an order is changed, until the arena is at most so much larger than what is live.
constexpr int kRounds = 12;
constexpr double kEnough = 1.01;

int64_t lengthOf(const Block &block) {
  int64_t length = 0;
  for (Span span : block.life) {
    length += span.last - span.first + 1;
  }
  return length;
}

// The lowest offset, or that of the tightest gap, where a block fits beside those at `found`.
int64_t gapFor(int64_t bytes, llvm::ArrayRef<Block> blocks, llvm::ArrayRef<int32_t> found, int64_t bottom,
               bool tightest) {
  int64_t best = -1, bestGap = 0, end = bottom;
  for (int32_t other : found) {
    int64_t gap = blocks[other].offset - end;
    if (gap >= bytes && (best < 0 || gap < bestGap)) {
      best = end;
      bestGap = gap;
      if (!tightest) {
        break;
      }
    }
    end = std::max(end, blocks[other].offset + blocks[other].bytes);
  }
  return best >= 0 ? best : end;
}

int64_t placeInOrder(std::vector<Block> &blocks, llvm::ArrayRef<int32_t> order, int64_t positions, int64_t bottom,
                     bool tightest) {
  Index index(positions, blocks.size());
  int64_t arena = bottom;
  std::vector<int32_t> found;
  for (int32_t block : order) {
    found.clear();
    index.find(blocks[block].life, found);
    if (!blocks[block].apart.empty()) {
      llvm::erase_if(found, [&](int32_t other) { return std::binary_search(blocks[block].apart.begin(), blocks[block].apart.end(), other); });
    }
    llvm::sort(found,
               [&](int32_t a, int32_t b) { return std::pair(blocks[a].offset, a) < std::pair(blocks[b].offset, b); });
    blocks[block].offset = gapFor(blocks[block].bytes, blocks, found, bottom, tightest);
    arena = std::max(arena, blocks[block].offset + blocks[block].bytes);
    index.add(block, blocks[block].life);
  }
  return arena;
}

} // namespace

int64_t mostLive(llvm::ArrayRef<Block> blocks, int64_t positions) {
  std::vector<int64_t> change(positions + 1, 0);
  for (const Block &block : blocks) {
    for (Span span : block.life) {
      change[span.first] += block.bytes;
      change[span.last + 1] -= block.bytes;
    }
  }
  int64_t live = 0, most = 0;
  for (int64_t delta : change) {
    live += delta;
    most = std::max(most, live);
  }
  return most;
}

int64_t place(std::vector<Block> &blocks, int64_t positions) {
  int64_t bottom = 0, least = mostLive(blocks, positions);
  std::vector<int32_t> order;
  std::vector<int64_t> length;
  for (auto [i, block] : llvm::enumerate(blocks)) {
    length.push_back(lengthOf(block));
    if (length.back() == positions) {
      block.offset = bottom;
      bottom += block.bytes;
    } else {
      order.push_back(int32_t(i));
    }
  }
  using Key = std::tuple<int64_t, int64_t, int64_t>;
  auto bySize = [&](int32_t i) { return Key(-blocks[i].bytes, 0, 0); };
  auto byLength = [&](int32_t i) { return Key(-length[i], -blocks[i].bytes, 0); };
  auto byArea = [&](int32_t i) { return Key(-blocks[i].bytes / 64 * length[i], 0, 0); };
  auto byTime = [&](int32_t i) {
    const Block &it = blocks[i];
    return it.kept ? Key(0, it.start.instance, it.start.position) : Key(1, -it.bytes, 0);
  };
  auto byUnit = [&](int32_t i) {
    const Block &it = blocks[i];
    return it.kept ? Key(0, it.start.instance, -it.bytes) : Key(1, -it.bytes, 0);
  };
  // The few that leave holes which nothing fills, such as logits, before all.
  auto giantsFirst = [&](int32_t i) {
    return blocks[i].bytes > least / kGiant ? Key(-1, -blocks[i].bytes, 0) : byTime(i);
  };
  int64_t best = -1;
  std::vector<int64_t> offsets(blocks.size());
  std::vector<int32_t> bestOrder;
  auto keep = [&](int64_t arena) {
    if (best < 0 || arena < best) {
      best = arena;
      bestOrder = order;
      for (auto [i, block] : llvm::enumerate(blocks)) {
        offsets[i] = block.offset;
      }
    }
  };
  auto attempt = [&](auto key, bool tightest) {
    if (best < 0 || best > least) {
      llvm::sort(order, [&](int32_t a, int32_t b) { return std::pair(key(a), a) < std::pair(key(b), b); });
      keep(placeInOrder(blocks, order, positions, bottom, tightest));
    }
  };
  attempt(bySize, true);
  attempt(byLength, false);
  attempt(byArea, false);
  attempt(bySize, false);
  attempt(byTime, false);
  attempt(giantsFirst, false);
  attempt(byUnit, false);
  attempt(byUnit, true);
  attempt(byLength, true);
  // What ends above the least that is possible goes first, again and again.
  order = bestOrder;
  for (auto [i, block] : llvm::enumerate(blocks)) {
    block.offset = offsets[i];
  }
  for (int round = 0; round<kRounds &&double(best)> kEnough * double(least); ++round) {
    auto tooHigh = [&](int32_t i) { return blocks[i].offset + blocks[i].bytes > least; };
    std::vector<int32_t> first, rest;
    for (int32_t i : order) {
      (tooHigh(i) ? first : rest).push_back(i);
    }
    order = std::move(first);
    order.insert(order.end(), rest.begin(), rest.end());
    keep(placeInOrder(blocks, order, positions, bottom, false));
  }
  for (auto [i, block] : llvm::enumerate(blocks)) {
    block.offset = offsets[i];
  }
  return best;
}

} // namespace weft::compiler
