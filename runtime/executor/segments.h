// Which acts of a step a device can be told to repeat as one piece of work.
#ifndef WEFT_RUNTIME_EXECUTOR_SEGMENTS_H_
#define WEFT_RUNTIME_EXECUTOR_SEGMENTS_H_

#include <cstdint>
#include <vector>

#include "runtime/actor/spec.h"
#include "runtime/executor/fences.h"

namespace weft::executor {

// Acts that follow each other on one stream, in its order. Only the first may wait for an act of
// another stream, and only the last may be waited for.
struct Segment {
  struct Act {
    int32_t actor = 0;
    int64_t micro_batch = 0;
  };
  std::vector<Act> acts;
  int64_t launches = 0;
};

// A segment of fewer launches is not worth one of its own, and of all streams together more are not
// worth their memory: acts behind those are left out. Neither has been measured.
inline constexpr int64_t kLeastLaunches = 2;
inline constexpr int64_t kMostLaunches = 1 << 14;

// Of all streams. `launches`: how many kernels an act of an actor launches; 0 where it does something
// else too, or where it need not be the same in every step.
std::vector<std::vector<Segment>> SegmentsOf(const actor::ProgramSpec& spec, const Fences& fences,
                                             const std::vector<int>& launches);

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_SEGMENTS_H_
