// What an actor of a plan does: its kernels in order, or one operation of the
// communicator. Everything is looked up when it is made.
#ifndef WEFT_RUNTIME_EXECUTOR_WORK_H_
#define WEFT_RUNTIME_EXECUTOR_WORK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ops/abi/kernel.h"
#include "runtime/actor/spec.h"
#include "runtime/collective/communicator.h"
#include "runtime/device/device.h"
#include "runtime/executor/binding.h"
#include "runtime/executor/fences.h"
#include "runtime/executor/graphs.h"
#include "runtime/trace/timeline.h"

namespace weft::executor {

// An actor's place: which it is and where it runs. What it points to outlives it.
struct Site {
  int32_t actor = 0;
  device::Stream* stream = nullptr;
  Fences* fences = nullptr;
  const Graphs* graphs = nullptr;
  uint64_t seed = 0;
};

// Runs what its subclass does between the fences, or the graph that it is part of.
class FencedWork : public actor::Work {
 public:
  explicit FencedWork(const Site& site) : site_(site) {}
  absl::Status Run(const actor::Act& act) final;

  // Without the fences, on the stream's thread.
  virtual absl::Status Do(const actor::Act& act) = 0;

 protected:
  const Site site_;
};

class KernelWork : public FencedWork {
 public:
  // `steady`: the kernels are a GPU's and enqueue the same in every step, which they are not told.
  KernelWork(const Site& site, bool steady) : FencedWork(site), steady_(steady) {}
  absl::Status Do(const actor::Act& act) override;

  // `where` goes before the kernel's errors.
  void Add(const Place& place, const plan::Kernel& kernel, std::unique_ptr<Kernel> made, std::string where);

  // From now on adds an event to the stream's track for every kernel of every
  // act. Kernel k has the name `first_name` + k of the track.
  void Trace(trace::Track* track, int first_name) {
    track_ = track;
    first_name_ = first_name;
  }

 private:
  // A kernel with its addresses for each of `period` micro-batches, one after
  // another.
  struct Call {
    std::unique_ptr<Kernel> kernel;
    std::string where;
    int64_t period = 1;
    size_t input_count = 0, output_count = 0;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
  };

  const bool steady_;
  std::vector<Call> calls_;
  trace::Track* track_ = nullptr;
  int first_name_ = 0;
};

class OperationWork : public FencedWork {
 public:
  // The buffers that the operation takes, in its order.
  OperationWork(const Site& site, const Place& place, const std::vector<int32_t>& inputs,
                const std::vector<int32_t>& outputs, std::unique_ptr<collective::Operation> operation);
  std::string Waiting() const override { return operation_->Waiting(); }
  std::string Left() const override { return operation_->Left(); }
  absl::Status Do(const actor::Act& act) override;

 private:
  std::unique_ptr<collective::Operation> operation_;
  // The addresses for each of `period_` micro-batches, one after another.
  int64_t period_ = 1;
  size_t input_count_ = 0, output_count_ = 0;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_WORK_H_
