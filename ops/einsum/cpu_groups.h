// Rows of several outer elements, brought together by group.
#ifndef WEFT_OPS_EINSUM_CPU_GROUPS_H_
#define WEFT_OPS_EINSUM_CPU_GROUPS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"
#include "ops/einsum/grouped.h"

namespace weft::einsum {

inline constexpr int64_t kGrain = 16384;  // elements that are worth another thread

// Which rows the groups of this rank have: those of group g are the places from first(g) on, size(g) of them. Every
// group begins at a multiple of `unit`.
class Groups {
 public:
  explicit Groups(const GroupedProblem& problem, int64_t unit = 1)
      : problem_(problem),
        unit_(unit),
        first_(static_cast<size_t>(problem.count) + 1),
        size_(static_cast<size_t>(problem.count)),
        place_of_(static_cast<size_t>(problem.all_rows())),
        row_of_(static_cast<size_t>(problem.all_rows() + problem.count * (unit - 1))) {}

  absl::Status Read(const int32_t* counts);

  int64_t first(int64_t g) const { return first_[g]; }
  int64_t size(int64_t g) const { return size_[g]; }
  int64_t places() const { return first_.back(); }
  int64_t most_places() const { return static_cast<int64_t>(row_of_.size()); }
  // -1: between two groups.
  int64_t row_of(int64_t place) const { return row_of_[place]; }
  // -1: another rank has the row's group, or none does.
  int64_t place_of(int64_t row) const { return place_of_[row]; }

 private:
  bool IsOwn(int64_t g) const { return g >= problem_.begin && g < problem_.begin + problem_.count; }

  const GroupedProblem problem_;
  const int64_t unit_;
  std::vector<int64_t> first_, size_, place_of_, row_of_;
};

template <typename From, typename To>
void Convert(const From* from, To* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = Narrow<To>(Widen(from[i]));
}

// The rows at their places, zeros between groups.
template <typename From, typename To>
void Gather(int threads, const Groups& groups, const From* rows, int64_t columns, To* to) {
  ParallelFor(threads, groups.places(), std::max<int64_t>(1, kGrain / columns), [&](int64_t begin, int64_t end) {
    for (int64_t place = begin; place < end; ++place) {
      const int64_t row = groups.row_of(place);
      if (row < 0) {
        std::fill_n(to + place * columns, columns, To{});
      } else {
        Convert(rows + row * columns, to + place * columns, columns);
      }
    }
  });
}

// The other way: rows without a place become zeros. With null places, those that have one are left as they are.
template <typename From, typename To>
void Scatter(int threads, const Groups& groups, int64_t all_rows, const From* places, int64_t columns, To* rows) {
  ParallelFor(threads, all_rows, std::max<int64_t>(1, kGrain / columns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t place = groups.place_of(row);
      if (place < 0) {
        std::fill_n(rows + row * columns, columns, To{});
      } else if (places != nullptr) {
        Convert(places + place * columns, rows + row * columns, columns);
      }
    }
  });
}

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_GROUPS_H_
