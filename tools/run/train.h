// The two things that a plan can be run for.
#ifndef WEFT_TOOLS_RUN_TRAIN_H_
#define WEFT_TOOLS_RUN_TRAIN_H_

#include <cstdio>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "ops/abi/registry.h"
#include "runtime/collective/communicator.h"
#include "runtime/device/device.h"
#include "runtime/plan/plan.pb.h"
#include "tools/run/processes.h"
#include "tools/run/request.h"

namespace weft::run {

// What a run works with. `out` gets summaries and results, `err` the progress.
struct Context {
  const Request& request;
  const plan::Plan& plan;  // verified
  const KernelRegistry& kernels;
  const KernelRegistry& host_kernels;      // of what the host does beside a GPU
  device::Device* device;                  // of all ranks of this process; null: the host
  collective::Communicator* communicator;  // of this process's rank; null: that of the processes
  Processes& processes;
  std::FILE* out;
  std::FILE* err;
  // Called with the first error of a step, by any thread.
  std::function<void(const absl::Status&)> on_fault;

  // The same for another plan of the same run.
  Context With(const plan::Plan& other) const {
    return {request, other, kernels, host_kernels, device, communicator, processes, out, err, on_fault};
  }

  // A line for people, once; none if it is empty.
  void Tell(const std::string& line) const {
    if (!line.empty() && !request.quiet && processes.first()) std::fprintf(err, "%s\n", line.c_str());
  }
};

// Trains until the requested number of steps is done. SIGTERM, of any process,
// ends it after the step, with a checkpoint if there is a place for it. So does
// SIGINT, but with kCancelled. A step whose loss or gradient norm is not finite
// ends it without one: kAborted.
absl::Status Train(const Context& context);

// Evaluates a graph that does not train.
absl::Status Evaluate(const Context& context);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_TRAIN_H_
