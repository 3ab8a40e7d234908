// One rank's share of a plan, ready to step.
//
//   plan (protobuf)                  Executor of rank 3                             while it steps
//   stage 1 ─ arena size ──────────► arena      one block of the device's memory
//     streams ─────────────────────► streams    a queue of the device, and a thread ► a RunLoop on each
//     buffers ── base + offset ───┐
//     actors                      ▼
//       kernels ───────────────► works_     calls with raw addresses         ◄─ Run() of each act
//       collectives, transfers ► operations of the communicator               ◄─ the same
//     registers ─────────────────► RankProgram  who waits for whom             ─ tokens, credits
//
// Create() does all that may allocate, look up a name or fail for what the plan asks for; a step only calls. Of a
// cluster's ranks each has an Executor: threads of one process have several (LocalCluster), a process under MPI
// has one (ProcessCluster). The owner's thread begins and ends a step; between them each stream's own thread runs its
// acts. The first error of any rank raises the fault that all share: every stream leaves its step with it.
#ifndef WEFT_RUNTIME_EXECUTOR_EXECUTOR_H_
#define WEFT_RUNTIME_EXECUTOR_EXECUTOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/abi/registry.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/actor/fault.h"
#include "runtime/actor/rank_program.h"
#include "runtime/code/code.h"
#include "runtime/collective/communicator.h"
#include "runtime/device/device.h"
#include "runtime/executor/binding.h"
#include "runtime/executor/fences.h"
#include "runtime/executor/graphs.h"
#include "runtime/executor/ports.h"
#include "runtime/executor/probe.h"
#include "runtime/executor/step_upload.h"
#include "runtime/executor/tier_store.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/plan/program.h"
#include "runtime/trace/timeline.h"

namespace weft::executor {

// A rank's, one a tier of the cluster; null: not used.
using TierStores = std::vector<std::shared_ptr<TierStore>>;

// What an executor is given to work with. All of it outlives the executor.
struct Services {
  const KernelRegistry* kernels = nullptr;
  const KernelRegistry* host_kernels = nullptr;  // of what the host does beside a GPU; null: `kernels`
  device::Device* device = nullptr;
  collective::Communicator* communicator = nullptr;
  BatchSource* source = nullptr;  // may be null if the plan has no `input`
  ResultSink* sink = nullptr;     // null: results are dropped
  actor::Fault* fault = nullptr;
  std::shared_ptr<const code::Code> code;              // of the plan's generated kernels, if it has some
  std::shared_ptr<const code::Code> host_code;         // of those that the host runs beside a GPU
  std::shared_ptr<device::Arena> arena;                // of another executor of this rank; null: one of its own
  int64_t least_arena_bytes = 0;                       // of one of its own
  TierStores tiers;                                    // of the other executor, if `arena` is its
  std::vector<int64_t> least_tier_bytes;               // of its own, by tier
  std::string tier_folder;                             // of the files of tiers on disks
  int first_channel = 0, first_transfer = 0;           // the numbers before are another executor's of this communicator
  uint64_t seed = 0;                                   // of the run
  int threads = 1;                                     // that a kernel may use
  int spins = 0;                                       // how often a waiting stream looks before it sleeps
  bool graphs = true;                                  // record and replay what a device can, see Graphs
  absl::Span<std::atomic<int64_t>> status_words = {};  // see actor::ProgramSpec
};

// A rank's tile of a parameter or of optimizer state, as checkpoints have it: of a stacked one (runtime/plan/stored.h)
// a tile of one of its tensors.
struct StateTile {
  std::string name;
  TensorSpec spec;                    // with the element type of checkpoint files
  std::vector<int64_t> stored_shape;  // in checkpoint files
  DType in_memory = spec.dtype;       // narrower where only that is read of it
  bool optimizer = false;
  bool primary = true;  // of the ranks that hold this tile, the one that saves it
  int saved_by = 0;     // that one
  int tier = -1;        // of the cluster, in which it lies; -1: the device
  int64_t offset = 0;   // in the arena, or in the rank's part of the tier
};

// Called by one thread at a time. After an error of a step it does not step
// again.
class Executor {
 public:
  // `plan` is verified, has `rank` in one of its stages, and outlives the
  // executor. Makes the arena, kernels and operations. Errors name what could
  // not be made: an unknown kernel, an input that the source lacks, memory.
  static absl::StatusOr<std::unique_ptr<Executor>> Create(const plan::Plan& plan, int rank, const Services& services);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Gives parameters and optimizer state their initial values. Not parameters of which LoadTile() fills all: `loaded`
  // has the names of their tiles.
  absl::Status Initialize(const std::set<std::string>& loaded = {});

  // Starts a step on the rank's streams; `step` counts from 0 over the whole
  // training. Then EndStep() waits for it and returns the first error of any
  // rank that shares the fault. Neither allocates unless it fails, or records graphs. Narrow copies of parameters are
  // made first where Initialize() or LoadTile() has written since the step before.
  void BeginStep(int64_t step);
  absl::Status EndStep();

  // The plan's metric of this name, after EndStep() and before the next BeginStep(); kNotFound if this rank's
  // stage does not have it. Asks nothing of the device: the step itself has left it to the host.
  absl::StatusOr<float> Metric(const std::string& name) const;

  // Between steps. The callback gets the tile's bytes in host memory, elements of the type that files have.
  const std::vector<StateTile>& state() const { return state_; }
  absl::Status LoadTile(const StateTile& tile, const std::function<absl::Status(void*)>& fill);
  absl::Status SaveTile(const StateTile& tile, const std::function<absl::Status(const void*)>& take);

  int rank() const { return rank_; }
  int stage() const { return program_.index; }
  int64_t arena_bytes() const { return arena_->bytes(); }
  const std::shared_ptr<device::Arena>& arena() const { return arena_; }
  const TierStores& tiers() const { return tiers_; }
  // The first numbers that are free behind its own.
  int next_channel() const;
  int next_transfer() const { return services_.first_transfer + program_.plan->transfers_size(); }
  // That this rank has taken of a tier of the cluster.
  absl::StatusOr<int64_t> TakenBytesOf(int tier) const;
  // Why it reads and writes one request at a time, see TierStore; empty: it does not.
  std::string RefusalOf(int tier) const;
  // Of the GPU's memory, beside the arena: what the kernels of each stream share. 0 on the host.
  int64_t workspace_bytes() const;
  actor::RankProgram& actors() { return *actors_; }
  // What is replayed from the second step on, which begins with recording it. Not while a step runs.
  const Graphs& graphs() const { return graphs_; }

  // Adds a track for every stream that has kernels, with an event for each one
  // that runs: "h.0.forward/3 einsum" is kernel 3 of actor h.0.forward. Before
  // the first step, without graphs, where kernels do not run one by one. On a device that queues work
  // an event is its enqueueing.
  void TraceKernels(trace::Timeline& timeline);

  // From now on every kernel and operation is shown to `probe`; null: to nobody. Between steps, without graphs.
  void Watch(Probe* probe);

  const plan::Program& program() const { return program_; }
  // This rank's tile of a buffer.
  TensorSpec SpecOf(int32_t buffer) const;
  device::Device& device() const { return *services_.device; }

 private:
  struct Builder;
  Executor(plan::Program program, int rank, const Services& services);
  absl::Status CreateTiers();
  TierStore& StoreOf(int32_t buffer) const;  // of a buffer in a tier
  RankPlace Place() const;
  void CollectState();
  int SaverOf(const plan::Buffer& buffer) const;
  absl::Status PrepareMetrics();
  absl::Status OnStream(const std::function<absl::Status(device::Stream&)>& task);
  // What kernels are made with: the device's, or the host's on a tier.
  KernelSpec SpecFor(const plan::Kernel& kernel, bool on_host) const;
  const KernelRegistry& KernelsFor(bool on_host) const;
  // The kernel of a buffer's initial value.
  absl::StatusOr<std::unique_ptr<Kernel>> InitialiserOf(int32_t buffer, bool on_host, StepUpload* upload);
  absl::StatusOr<std::unique_ptr<Kernel>> PaddingOf(const TensorSpec& tile, bool on_host) const;
  std::string InitialValueOf(int32_t buffer) const;  // for errors
  // Of a parameter that is narrower in memory.
  absl::Status InitializeNarrow(int32_t buffer);
  // The narrow copies of parameters that are kept: their casts, and that these run.
  absl::Status PrepareCopies();
  absl::Status MakeCopies();
  // Elements of one type as those of another, both in host memory.
  absl::Status Cast(const TensorSpec& from, const void* input, DType to, void* output) const;
  void RecordGraphs();
  // A step's share of a stream, on its thread.
  void RunStream(int stream);

  const plan::Program program_;
  const int rank_;
  const Services services_;
  int64_t index_ = 0;  // within the placement
  std::vector<int64_t> coordinates_;
  std::shared_ptr<device::Arena> arena_;
  TierStores tiers_;
  std::vector<std::unique_ptr<device::Stream>> streams_;
  std::unique_ptr<Fences> fences_;
  std::vector<std::unique_ptr<StepUpload>> uploads_;       // by stream; null: not on a GPU
  std::vector<std::shared_ptr<GpuWorkspace>> workspaces_;  // by stream, of those that have one
  Graphs graphs_;
  std::vector<std::unique_ptr<class FencedWork>> works_;
  std::unique_ptr<actor::RankProgram> actors_;
  std::vector<StateTile> state_;
  struct Copy {
    std::unique_ptr<Kernel> kernel;
    const void* input = nullptr;
    void* output = nullptr;
  };
  std::vector<Copy> copies_;
  bool copies_are_stale_ = true;  // something other than a step has written parameters
  // Where a metric is, and the host memory to which its stream copies it at the end of a step; the same where the host
  // addresses the device's.
  struct MetricWord {
    std::string name;
    int stream = 0;
    char* address = nullptr;
    char* word = nullptr;
  };
  std::unique_ptr<device::Arena> metric_memory_;
  std::vector<MetricWord> metrics_;
  int64_t step_ = 0;
  int64_t begun_ = 0;  // steps
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_EXECUTOR_H_
