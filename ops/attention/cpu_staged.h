// Rows of any floating-point type as the inner part of attention wants them.
#ifndef WEFT_OPS_ATTENTION_CPU_STAGED_H_
#define WEFT_OPS_ATTENTION_CPU_STAGED_H_

#include <cstdint>
#include <type_traits>

#include "ops/abi/float_types.h"
#include "ops/abi/vectorize.h"
#include "ops/attention/head.h"

namespace weft::attention {

inline int64_t AlignedFloats(int64_t floats) { return (floats + 15) / 16 * 16; }

// Rows of one head as the inner part wants them, in float: those of the tensor itself, or copies in scratch. Handed out
// by one thread, for one unit of work.
template <typename T>
class Staged {
 public:
  // Floats of copies of `rows` rows in sum.
  static int64_t Floats(int64_t rows, int64_t depth) {
    return std::is_same_v<T, float> ? 0 : AlignedFloats(rows * depth);
  }

  Staged(float* scratch, int64_t depth) : next_(scratch), depth_(depth) {}

  // Rows [begin, end) of those at `from`, at their places.
  ConstRows Load(const T* from, int64_t stride, int64_t rows, int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, float>) {
      return {from, stride};
    } else {
      float* copy = Take(rows);
      for (int64_t i = begin; i < end; ++i) {
        WEFT_INDEPENDENT
        for (int64_t c = 0; c < depth_; ++c) copy[i * depth_ + c] = Widen(from[i * stride + c]);
      }
      return {copy, depth_};
    }
  }
  ConstRows Load(const T* from, int64_t stride, int64_t rows) { return Load(from, stride, rows, 0, rows); }

  // Where rows that belong at `to` are written first.
  Rows Room(T* to, int64_t stride, int64_t rows) {
    if constexpr (std::is_same_v<T, float>) {
      return {to, stride};
    } else {
      return {Take(rows), depth_};
    }
  }
  // Writes rows [begin, end) of a Room.
  void Store(const Rows& room, T* to, int64_t stride, int64_t begin, int64_t end) const {
    if constexpr (!std::is_same_v<T, float>) {
      for (int64_t i = begin; i < end; ++i) {
        WEFT_INDEPENDENT
        for (int64_t c = 0; c < depth_; ++c) to[i * stride + c] = Narrow<T>(room.data[i * depth_ + c]);
      }
    }
  }

 private:
  float* Take(int64_t rows) {
    float* piece = next_;
    next_ += rows * depth_;
    return piece;
  }

  float* next_;
  const int64_t depth_;
};

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_CPU_STAGED_H_
