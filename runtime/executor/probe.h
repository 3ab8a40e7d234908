// Looks at what passes through the works of a rank, one after another: for faults that must be found, not for speed.
#ifndef WEFT_RUNTIME_EXECUTOR_PROBE_H_
#define WEFT_RUNTIME_EXECUTOR_PROBE_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/device/device.h"

namespace weft::executor {

// A kernel of an act, or the operation that an act is.
struct ProbeSite {
  int32_t actor = 0;
  int64_t micro_batch = 0;
  int32_t work = 0;  // among those of the actor
  // Buffers, and where they are: device addresses.
  absl::Span<const int32_t> reads = {}, writes = {};
  absl::Span<const void* const> inputs = {};
  absl::Span<void* const> outputs = {};
};

class Probe {
 public:
  virtual ~Probe() = default;
  // Calls `run`, which does the work, and returns its error. On the thread of `stream`; several streams at a time.
  virtual absl::Status Around(const ProbeSite& site, device::Stream& stream,
                              const std::function<absl::Status()>& run) = 0;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_PROBE_H_
