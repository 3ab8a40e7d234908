// Which acts of a step can be one CUDA graph: recorded together, and replayed by one call.
#ifndef WEFT_RUNTIME_EXECUTOR_SEGMENTS_H_
#define WEFT_RUNTIME_EXECUTOR_SEGMENTS_H_

#include <cstdint>
#include <vector>

#include "runtime/actor/spec.h"
#include "runtime/executor/fences.h"
#include "runtime/plan/program.h"

namespace weft::executor {

// Acts that follow each other on one stream, in its order. Only the first may wait for an act of
// another stream, and only the last may be waited for.
struct Segment {
  std::vector<plan::StageAct> acts;
  int64_t kernels = 0;
};

// Fewer kernels are not worth a segment, and all streams' segments together have no more, whose memory is
// not planned: what would take them beyond is left out. Neither has been measured.
inline constexpr int64_t kLeastKernels = 2;
inline constexpr int64_t kMostKernels = 1 << 14;

// Of all streams. `kernels`: how many an act of an actor launches; 0 where it does something else too, or
// where it need not be the same in every step.
std::vector<std::vector<Segment>> SegmentsOf(const actor::ProgramSpec& spec, const Fences& fences,
                                             const std::vector<int>& kernels);

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_SEGMENTS_H_
