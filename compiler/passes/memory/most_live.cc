#include "compiler/passes/memory/placement.h"

namespace weft::compiler {
namespace {

// Blocks that may share bytes with some of the others although their lives meet.
class Loose {
public:
  Loose(llvm::ArrayRef<Block> blocks, llvm::ArrayRef<int32_t> members) : blocks_(blocks) {
    llvm::copy_if(members, std::back_inserter(members_), [&](int32_t it) { return !blocks[it].apart.empty(); });
    llvm::sort(members_,
               [&](int32_t a, int32_t b) { return std::pair(-blocks[a].bytes, a) < std::pair(-blocks[b].bytes, b); });
    llvm::DenseMap<int32_t, int32_t> placeOf;
    for (auto [place, member] : llvm::enumerate(members_)) {
      placeOf[member] = int32_t(place);
    }
    for (int32_t member : members_) {
      llvm::BitVector &apart = apart_.emplace_back(members_.size());
      for (int32_t other : blocks[member].apart) {
        if (auto it = placeOf.find(other); it != placeOf.end()) {
          apart.set(it->second);
        }
      }
    }
  }

  llvm::BitVector at(int64_t position) const {
    llvm::BitVector here(members_.size());
    for (auto [place, member] : llvm::enumerate(members_)) {
      if (llvm::any_of(blocks_[member].life, [&](Span it) { return it.first <= position && position <= it.last; })) {
        here.set(place);
      }
    }
    return here;
  }

  int64_t bytesOf(const llvm::BitVector &some) const {
    int64_t bytes = 0;
    for (unsigned place : some.set_bits()) {
      bytes += bytesAt(place);
    }
    return bytes;
  }

  // The most bytes of those among them of which no two are apart. Of many, a part: one of the largest, the next one
  // that goes with it, the next one that goes with both and so on, as long as there are many; by any of the largest.
  int64_t mostTogether(const llvm::BitVector &some) const {
    constexpr size_t kFew = 20;
    constexpr int kBegun = 40;
    if (some.count() <= kFew) {
      return mostOfFew(some);
    }
    int64_t most = 0;
    int begun = 0;
    for (unsigned first : some.set_bits()) {
      if (++begun > kBegun) {
        break;
      }
      llvm::BitVector left = some;
      int64_t bytes = take(first, left);
      while (left.count() > kFew) {
        bytes += take(left.find_first(), left);
      }
      most = std::max(most, bytes + mostOfFew(left));
    }
    return most;
  }

private:
  int64_t bytesAt(unsigned place) const { return blocks_[members_[place]].bytes; }

  // Leaves those that go with it.
  int64_t take(unsigned place, llvm::BitVector &left) const {
    left.reset(place);
    left.reset(apart_[place]);
    return bytesAt(place);
  }

  int64_t mostOfFew(llvm::BitVector some) const {
    int first = some.find_first();
    if (first < 0) {
      return 0;
    }
    llvm::BitVector with = some;
    int64_t most = take(first, with);
    some.reset(first);
    most += mostOfFew(with);
    return with == some ? most : std::max(most, mostOfFew(some));
  }

  llvm::ArrayRef<Block> blocks_;
  std::vector<int32_t> members_; // the largest first
  std::vector<llvm::BitVector> apart_;
};

} // namespace

int64_t mostLive(llvm::ArrayRef<Block> blocks, llvm::ArrayRef<int32_t> members, int64_t positions) {
  std::vector<int64_t> change(positions + 1, 0);
  llvm::BitVector begins(positions);
  for (int32_t member : members) {
    for (Span span : blocks[member].life) {
      begins.set(span.first);
      change[span.first] += blocks[member].bytes;
      change[span.last + 1] -= blocks[member].bytes;
    }
  }
  std::vector<std::pair<int64_t, int64_t>> live; // and the position, where something begins
  int64_t bytes = 0;
  for (int64_t at = 0; at < positions; ++at) {
    bytes += change[at];
    if (begins.test(at)) {
      live.push_back({bytes, at});
    }
  }
  llvm::sort(live, std::greater<>());
  const Loose loose(blocks, members);
  int64_t most = 0;
  for (auto [bytes, at] : live) {
    if (bytes <= most) {
      break;
    }
    llvm::BitVector here = loose.at(at);
    most = std::max(most, bytes - loose.bytesOf(here) + loose.mostTogether(here));
  }
  return most;
}

int64_t mostLive(llvm::ArrayRef<Block> blocks, int64_t positions) {
  auto all = llvm::to_vector(llvm::seq<int32_t>(0, int32_t(blocks.size())));
  return mostLive(blocks, all, positions);
}

} // namespace weft::compiler
