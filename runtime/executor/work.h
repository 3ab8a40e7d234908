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
#include "runtime/executor/probe.h"
#include "runtime/trace/timeline.h"

namespace weft::executor {

// Which actor a Work belongs to, and what it runs with. What it points to outlives it.
struct ActorContext {
  int32_t actor = 0;
  device::Stream* stream = nullptr;
  Fences* fences = nullptr;
  const Graphs* graphs = nullptr;
  uint64_t seed = 0;
};

// Runs what its subclass does between the fences, or the graph that it is part of.
class FencedWork : public actor::Work {
 public:
  explicit FencedWork(const ActorContext& context) : context_(context) {}
  absl::Status Run(const actor::ActIndex& act) final;

  // Without the fences, on the stream's thread.
  virtual absl::Status Do(const actor::ActIndex& act) = 0;

  // From now on the works are done under the eyes of `probe`; null: of nobody. Between steps.
  void Watch(Probe* probe) { probe_ = probe; }

 protected:
  const ActorContext context_;
  Probe* probe_ = nullptr;
};

// Where the acts of an actor find some of its operands: the addresses for each of a period of micro-batches, one
// period's micro-batch after another.
template <typename Pointer>
class Addresses {
 public:
  template <typename Buffers>
  Addresses(const RankPlace& place, int32_t actor, const Buffers& buffers)
      : count_(buffers.size()), period_(place.PeriodOf(actor, {buffers.begin(), buffers.end()})) {
    for (int64_t i = 0; i < period_; ++i) {
      for (int32_t b : buffers) addresses_.push_back(place.AddressOf(actor, b, i));
    }
  }
  absl::Span<const Pointer> Of(int64_t micro_batch) const {
    return absl::MakeConstSpan(addresses_).subspan(period_ == 1 ? 0 : micro_batch % period_ * count_, count_);
  }

 private:
  size_t count_;
  int64_t period_;
  std::vector<Pointer> addresses_;
};

class KernelWork : public FencedWork {
 public:
  // `steady`: the kernels are a GPU's and enqueue the same in every step, which they are not told. `arrived`: of the
  // host's kernels beside a GPU, which begin when the stream comes to them; else null.
  KernelWork(const ActorContext& context, bool steady, std::unique_ptr<device::Event> arrived)
      : FencedWork(context), steady_(steady), arrived_(std::move(arrived)) {}
  absl::Status Do(const actor::ActIndex& act) override;

  // `where` goes before the kernel's errors.
  void Add(const RankPlace& place, const plan::Kernel& kernel, std::unique_ptr<Kernel> made, std::string where);

  // From now on adds an event to the stream's track for every kernel of every
  // act. Kernel k has the name `first_name` + k of the track.
  void Trace(trace::Track* track, int first_name) {
    track_ = track;
    first_name_ = first_name;
  }

 private:
  struct Call {
    std::unique_ptr<Kernel> kernel;
    std::string where;
    const plan::Kernel* plan;
    Addresses<const void*> inputs;
    Addresses<void*> outputs;
  };

  const bool steady_;
  const std::unique_ptr<device::Event> arrived_;
  std::vector<Call> calls_;
  trace::Track* track_ = nullptr;
  int first_name_ = 0;
};

class OperationWork : public FencedWork {
 public:
  // The buffers that the operation takes, in its order.
  OperationWork(const ActorContext& context, const RankPlace& place, const std::vector<int32_t>& inputs,
                const std::vector<int32_t>& outputs, std::unique_ptr<collective::Operation> operation)
      : FencedWork(context),
        operation_(std::move(operation)),
        reads_(inputs),
        writes_(outputs),
        inputs_(place, context.actor, inputs),
        outputs_(place, context.actor, outputs) {}
  std::string Waiting() const override { return operation_->Waiting(); }
  std::string Left() const override { return operation_->Left(); }
  absl::Status Do(const actor::ActIndex& act) override;

 private:
  std::unique_ptr<collective::Operation> operation_;
  const std::vector<int32_t> reads_, writes_;
  const Addresses<const void*> inputs_;
  const Addresses<void*> outputs_;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_WORK_H_
