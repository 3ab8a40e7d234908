// Fork-join over the threads a kernel was given.
//
// Each thread that calls, as a stream's does, has helpers of its own: they begin with its first call
// that wants them and end with it. The caller does the first share itself. Between calls the helpers
// wait at a Bell (bell.h): they look for the next call for some 100 microseconds, and then sleep.
#ifndef WEFT_OPS_ABI_PARALLEL_H_
#define WEFT_OPS_ABI_PARALLEL_H_

#include <cstdint>
#include <memory>
#include <type_traits>

namespace weft {

namespace parallel_internal {
using RangeFunction = void (*)(void* body, int64_t begin, int64_t end);
void ParallelRanges(int threads, int64_t count, int64_t grain, RangeFunction function, void* body);
}  // namespace parallel_internal

// Calls body(begin, end) over disjoint ranges that cover [0, count), on up to
// `threads` threads; each range has at least `grain` items unless it is the
// only one. Which thread gets which range depends only on the arguments. Does
// not allocate, once the caller has had as many threads. `body` must not throw;
// a ParallelFor within it runs on one thread.
template <typename Body>
void ParallelFor(int threads, int64_t count, int64_t grain, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  parallel_internal::ParallelRanges(
      threads, count, grain, [](void* b, int64_t begin, int64_t end) { (*static_cast<Plain*>(b))(begin, end); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_PARALLEL_H_
