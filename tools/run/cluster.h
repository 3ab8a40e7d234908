// Makes the cluster that a request asks for, and says what it is and does.
#ifndef WEFT_TOOLS_RUN_CLUSTER_H_
#define WEFT_TOOLS_RUN_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "ops/abi/dtype.h"
#include "runtime/executor/cluster.h"
#include "runtime/executor/ports.h"
#include "runtime/trace/timeline.h"
#include "tools/run/memory.h"
#include "tools/run/train.h"

namespace weft::run {

// The evaluation of a training, beside it.
struct Beside {
  const Context& context;  // of its plan
  executor::BatchSource* source = nullptr;
  executor::ResultSink* sink = nullptr;
  std::unique_ptr<executor::Cluster> cluster;  // which StartCluster has made
};

// One of two plans that take turns: see executor::ClusterOptions.
struct Turns {
  const plan::Plan* guest = nullptr;
  executor::Cluster* host = nullptr;
};

// Loads the ranks of this process and gives their state its initial values, but not the parameters `loaded`, which are
// loaded next (executor::Executor::Initialize). `timeline` and `beside` may be null. All processes come, and get the
// same error.
absl::StatusOr<std::unique_ptr<executor::Cluster>> StartCluster(const Context& context, uint64_t seed,
                                                                executor::BatchSource* source,
                                                                executor::ResultSink* sink, trace::Timeline* timeline,
                                                                const std::set<std::string>& loaded,
                                                                const Turns& turns = {}, Beside* beside = nullptr);

// Threads that a rank's kernels use.
int ThreadsOf(const Context& context);
// FLOPs a second that all processes could do at best, see MeasurePeak.
std::optional<double> PeakOf(const Context& context, DType dtype);
int RankCountOf(const plan::Plan& plan);

// Bytes of all ranks' arenas, for an evaluation too.
int64_t ArenaBytesOf(const plan::Plan& plan);
// The arenas of this process's ranks, and what its messages take beside them.
RankMemory MemoryOf(const Context& context, executor::Cluster& cluster);

// What of a step is replayed as CUDA graphs: a line for people, "" on the host. Of several processes, of this
// one's rank.
std::string TextOfGraphs(const Context& context, executor::Cluster& cluster);

// That a disk below the devices is slower than it might be, and why; empty: it is not.
std::string TextOfTiers(const Context& context, executor::Cluster& cluster);
// Once the second step is done: why some of it is not, "" if all is.
std::string TextOfUnrecorded(executor::Cluster& cluster);

// A timeline if the request has --trace, else null; its times count from the same
// moment on all processes.
absl::StatusOr<std::unique_ptr<trace::Timeline>> TimelineFor(const Context& context);
// Writes the timeline of all processes. If the run has failed, each leaves its
// own beside it.
absl::Status WriteTimeline(const Context& context, const trace::Timeline& timeline, bool failed);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_CLUSTER_H_
