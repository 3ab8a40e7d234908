// A map from byte ranges to values: what lies where in an arena.
#ifndef WEFT_RUNTIME_SEMANTICS_INTERVAL_MAP_H_
#define WEFT_RUNTIME_SEMANTICS_INTERVAL_MAP_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/container/btree_map.h"

namespace weft::plan {

// Disjoint ranges with a value each; what no range covers is a gap. One thread.
// Assigning costs O(log n) amortised, as ranges that are written over vanish.
template <typename T>
class IntervalMap {
 public:
  struct Piece {
    int64_t end = 0;
    T value;
  };
  using Pieces = absl::btree_map<int64_t, Piece>;

  // The value of exactly [begin, end) becomes `value`.
  void Assign(int64_t begin, int64_t end, T value) {
    Cut(end);
    const auto first = Cut(begin);
    auto last = first;
    while (last != pieces_.end() && last->first < end) ++last;
    if (first != last && first->first == begin) {
      first->second = {end, std::move(value)};
      if (std::next(first) != last) pieces_.erase(std::next(first), last);
      return;
    }
    const auto hint = pieces_.erase(first, last);
    pieces_.emplace_hint(hint, begin, Piece{end, std::move(value)});
  }

  // Calls visit(begin, end, value) for each piece and each gap (value null) of
  // [begin, end), clipped to it, until it returns false; returns whether all
  // were visited.
  template <typename F>
  bool ForEach(int64_t begin, int64_t end, F visit) {
    auto it = pieces_.upper_bound(begin);
    if (it != pieces_.begin() && std::prev(it)->second.end > begin) --it;
    for (; begin < end; ++it) {
      const int64_t next = it == pieces_.end() ? end : std::min(end, it->first);
      if (next > begin && !visit(begin, next, static_cast<T*>(nullptr))) return false;
      begin = std::max(begin, next);
      if (begin >= end) return true;
      const int64_t stop = std::min(end, it->second.end);
      if (!visit(begin, stop, &it->second.value)) return false;
      begin = stop;
    }
    return true;
  }

  // The same, and what the visit changes of a value holds for [begin, end) alone.
  template <typename F>
  bool ForEachWithin(int64_t begin, int64_t end, F visit) {
    if (begin >= end) return true;
    Cut(end);
    for (auto it = Cut(begin); begin < end; ++it) {
      const int64_t next = it == pieces_.end() ? end : std::min(end, it->first);
      if (next > begin && !visit(begin, next, static_cast<T*>(nullptr))) return false;
      begin = std::max(begin, next);
      if (begin >= end) return true;
      if (!visit(begin, it->second.end, &it->second.value)) return false;
      begin = it->second.end;
    }
    return true;
  }

  const Pieces& pieces() const { return pieces_; }

 private:
  using Place = typename Pieces::iterator;

  // No piece reaches over `at` any more; the first that begins there or behind.
  // Places that were looked up before are void.
  Place Cut(int64_t at) {
    const Place it = pieces_.lower_bound(at);
    if (it == pieces_.begin() || (it != pieces_.end() && it->first == at)) return it;
    const Place before = std::prev(it);
    if (before->second.end <= at) return it;
    const Piece behind{before->second.end, before->second.value};
    before->second.end = at;
    return pieces_.emplace_hint(it, at, behind);
  }

  Pieces pieces_;
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SEMANTICS_INTERVAL_MAP_H_
