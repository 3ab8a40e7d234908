// A map from byte ranges to values: what lies where in an arena.
#ifndef WEFT_RUNTIME_PLAN_INTERVAL_MAP_H_
#define WEFT_RUNTIME_PLAN_INTERVAL_MAP_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

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
  using Pieces = std::map<int64_t, Piece>;

  // The value of exactly [begin, end) becomes `value`.
  void Assign(int64_t begin, int64_t end, T value) {
    Cut(begin);
    Cut(end);
    const auto first = pieces_.lower_bound(begin);
    const auto last = pieces_.lower_bound(end);
    if (first != last && first->first == begin) {
      pieces_.erase(std::next(first), last);
      first->second = {end, std::move(value)};
      return;
    }
    const auto hint = pieces_.erase(first, last);
    pieces_.emplace_hint(hint, begin, Piece{end, std::move(value)});
  }

  // No piece reaches over `at` any more.
  void Cut(int64_t at) {
    auto it = pieces_.lower_bound(at);
    if (it == pieces_.begin()) return;
    auto before = std::prev(it);
    if (before->second.end <= at) return;
    const int64_t end = std::exchange(before->second.end, at);
    pieces_.emplace_hint(it, at, Piece{end, before->second.value});
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

  const Pieces& pieces() const { return pieces_; }

 private:
  Pieces pieces_;
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_INTERVAL_MAP_H_
