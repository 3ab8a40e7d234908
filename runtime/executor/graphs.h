// CUDA graphs of a rank: its segments (segments.h), each recorded once and replayed in every later step.
//
//   the run loop fires     a(0)               a(1)               b(0)
//   first step             its kernels        its kernels        its kernels
//   later steps            replays all three  nothing            nothing
//
// So the run loop knows nothing of graphs: it goes on firing each act by itself.
#ifndef WEFT_RUNTIME_EXECUTOR_GRAPHS_H_
#define WEFT_RUNTIME_EXECUTOR_GRAPHS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/actor/spec.h"
#include "runtime/device/device.h"
#include "runtime/executor/segments.h"

namespace weft::executor {

// For people.
struct GraphCounts {
  int64_t segments = 0;
  int64_t acts = 0;         // in them
  int64_t acts_a_step = 0;  // all
};

// What belongs to a stream is used by that stream's thread alone, the rest while nothing runs. The device outlives it.
class Graphs {
 public:
  // Without segments.
  Graphs() = default;

  void set_segments(const actor::ProgramSpec& spec, std::vector<std::vector<Segment>> segments);

  // Between steps, on the stream's thread: records the segments of a stream, once. `enqueue` does an act's work without
  // its fences. A segment that cannot be recorded stays as it is, and status() says why.
  void Capture(int stream, device::Stream& device, const std::function<absl::Status(const plan::StageAct&)>& enqueue);

  // What an act does in place of its work. It replays `graph` if it is the first act of it, and does nothing if it is
  // another one. Without a graph it does its work.
  struct Part {
    device::Graph* graph = nullptr;
    bool first = false;
  };
  Part PartOf(int32_t actor, int64_t micro_batch) const {
    return parts_.empty() || parts_[actor].empty() ? Part() : parts_[actor][micro_batch];
  }

  const GraphCounts& counts() const { return counts_; }
  // Of what was recorded so far: the first error.
  absl::Status status() const;

 private:
  struct OfStream {
    std::vector<Segment> segments;
    bool captured = false;
    absl::Status status;
    std::vector<std::unique_ptr<device::Graph>> graphs;
  };
  std::vector<OfStream> streams_;
  std::vector<std::vector<Part>> parts_;  // by actor and micro-batch; no entries: in no segment
  GraphCounts counts_;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_GRAPHS_H_
