// How operands that broadcast are walked: worked out once, when a kernel is
// created.
#ifndef WEFT_OPS_ABI_BROADCAST_H_
#define WEFT_OPS_ABI_BROADCAST_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/tensor_spec.h"

namespace weft {

// The dims of a result, with neighbours merged wherever every one of the N
// operands runs through them alike. So [b, s, h] + [h] becomes (b s) rows of h
// elements, and operands of one shape a single row.
//
// Within a row, operand i advances by step(i) elements: 1, or 0 if the row
// reads one element of it. Immutable, hence thread-safe.
template <int N>
class BroadcastPlan {
 public:
  using Offsets = std::array<int64_t, N>;

  // Aligns operands with `result` at the last dim; an extent must be the
  // result's or 1. kInvalidArgument names the operand that does not fit.
  static absl::StatusOr<BroadcastPlan> Create(const std::array<const TensorSpec*, N>& operands,
                                              const TensorSpec& result) {
    std::vector<Dim> dims(result.dims.size());
    for (size_t d = 0; d < dims.size(); ++d) dims[d].extent = result.dims[d];
    for (int i = 0; i < N; ++i) {
      if (!SetStrides(*operands[i], result, i, dims)) {
        return absl::InvalidArgumentError(absl::StrCat("input ", i, ": expected a shape that broadcasts to ",
                                                       result.ToString(), ", got ", operands[i]->ToString()));
      }
    }
    return BroadcastPlan(dims);
  }

  // A merged dim: its extent, and each operand's stride, 0 where it repeats.
  struct Dim {
    int64_t extent = 1;
    Offsets stride{};
  };

  int64_t elements() const { return elements_; }
  // Innermost first; the first is the row.
  std::vector<Dim> dims() const {
    std::vector<Dim> all = {row_};
    all.insert(all.end(), outer_.begin(), outer_.end());
    return all;
  }
  int64_t step(int operand) const { return row_.stride[operand]; }
  // Whether the rows read one element of every operand, though they have more.
  bool repeats_all() const { return row_.extent > 1 && row_.stride == Offsets{}; }

  // Calls body(result, operands, count) for the pieces of rows that make up
  // the result's elements [begin, end): index of the first element in the
  // result, and in every operand.
  template <typename Body>
  void ForRange(int64_t begin, int64_t end, Body&& body) const {
    while (begin < end) {
      const int64_t within = begin % row_.extent;
      const int64_t count = std::min(row_.extent - within, end - begin);
      Offsets offsets = RowStart(begin / row_.extent);
      for (int i = 0; i < N; ++i) offsets[i] += within * row_.stride[i];
      body(begin, offsets, count);
      begin += count;
    }
  }

 private:
  explicit BroadcastPlan(const std::vector<Dim>& dims) {
    for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
      elements_ *= dim->extent;
      if (dim->extent == 1) continue;
      Dim& last = outer_.empty() ? row_ : outer_.back();
      if (last.extent == 1) {
        last = *dim;
      } else if (Continues(last, *dim)) {
        last.extent *= dim->extent;
      } else {
        outer_.push_back(*dim);
      }
    }
  }

  static bool SetStrides(const TensorSpec& operand, const TensorSpec& result, int index, std::vector<Dim>& dims) {
    if (operand.rank() > result.rank()) return false;
    const int64_t missing = result.rank() - operand.rank();
    int64_t stride = 1;
    for (int64_t d = operand.rank() - 1; d >= 0; --d) {
      const int64_t extent = operand.dims[d];
      if (extent != 1 && extent != result.dims[missing + d]) return false;
      dims[missing + d].stride[index] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
    return true;
  }

  // Whether a step of `outer` is, for every operand, a walk through `inner`.
  static bool Continues(const Dim& inner, const Dim& outer) {
    for (int i = 0; i < N; ++i) {
      if (outer.stride[i] != inner.stride[i] * inner.extent) return false;
    }
    return true;
  }

  Offsets RowStart(int64_t row) const {
    Offsets offsets{};
    for (const Dim& dim : outer_) {  // innermost first
      const int64_t index = row % dim.extent;
      row /= dim.extent;
      for (int i = 0; i < N; ++i) offsets[i] += index * dim.stride[i];
    }
    return offsets;
  }

  Dim row_;
  std::vector<Dim> outer_;
  int64_t elements_ = 1;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_BROADCAST_H_
