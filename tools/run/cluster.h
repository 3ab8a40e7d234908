// Makes the cluster that a request asks for, and says what it is.
#ifndef WEFT_TOOLS_RUN_CLUSTER_H_
#define WEFT_TOOLS_RUN_CLUSTER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/executor/local_cluster.h"
#include "runtime/executor/ports.h"
#include "runtime/trace/timeline.h"
#include "tools/run/train.h"

namespace weft::run {

// Loads the plan's ranks and gives their state its initial values. `timeline`
// may be null.
absl::StatusOr<std::unique_ptr<executor::LocalCluster>> StartCluster(const Context& context, uint64_t seed,
                                                                     executor::BatchSource* source,
                                                                     executor::ResultSink* sink,
                                                                     trace::Timeline* timeline);

// Threads that a rank's kernels use.
int ThreadsOf(const Context& context);
// Cores that the run can use.
int CoresOf(const Context& context);
int RankCountOf(const plan::Plan& plan);

// Bytes of all ranks' arenas.
int64_t ArenaBytesOf(const plan::Plan& plan);
// Most bytes that were resident in this process at a time.
int64_t PeakResidentBytes();

// A timeline if the request has --trace, else null.
std::unique_ptr<trace::Timeline> TimelineFor(const Request& request);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_CLUSTER_H_
