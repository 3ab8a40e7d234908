// Contents that tell where they come from. In a stamped plan every kernel is the
// same one: what it writes is a hash of which kernel it is, its act, and all that it
// reads. It tells a Log the hashes of its inputs, so that a run can be compared with
// what the plan says that each act reads (tests/plans/ideal.h).
#ifndef WEFT_TESTS_PLANS_STAMPS_H_
#define WEFT_TESTS_PLANS_STAMPS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ops/abi/registry.h"
#include "runtime/executor/ports.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/plan/program.h"

namespace weft::plan {

uint64_t Mix(uint64_t a, uint64_t b);
uint64_t HashTile(const void* bytes, int64_t size);

// Fills a tile with numbers that follow from the key: floats in [1, 2), small integers.
void FillTile(uint64_t key, DType dtype, int64_t elements, void* tile);

// A kernel of a stamped plan, or the one that makes a buffer's initial value.
struct KernelSite {
  int stage = 0;
  int32_t actor = -1;        // -1: an initial value
  int work = 0;              // of the actor; the buffer of an initial value
  int32_t accumulator = -1;  // of its inputs: which one micro-batch 0 does not read
  int inputs = 0;
  int64_t first = 0;  // in the log
};

// What the kernels of one step read: an entry an input, micro-batch and rank.
class Log {
 public:
  // Replaces all kernels' attributes so that they find this log, which then stays where it is.
  explicit Log(Plan& plan);
  Log(const Log&) = delete;

  int SiteOf(int stage, int32_t actor, int work) const { return kernels_[stage][actor][work]; }
  int InitOf(int stage, int32_t buffer) const { return inits_[stage][buffer]; }
  const KernelSite& site(int i) const { return sites_[i]; }
  int64_t PlaceOf(int site, int64_t rank, int64_t micro_batch, int input) const {
    const KernelSite& it = sites_[site];
    return it.first + (rank * micro_batches_ + micro_batch) * it.inputs + input;
  }
  int64_t size() const { return size_; }
  // "rank 3 of stage 0: actor `h.5`: kernel 2 `einsum` (micro-batch 1): input 0".
  std::string Text(int64_t place) const;
  const Placement& placement(int stage) const { return *programs_[stage].placement; }

  std::vector<uint64_t> read;  // what Step() of the cluster read
  // Kernels that found their operands changed while they ran.
  std::atomic<int64_t> disturbed{0};
  // Of the delays that are put into some acts.
  uint64_t delays = 0;

 private:
  int Add(Kernel* kernel, KernelSite site);

  std::vector<Program> programs_;
  std::vector<KernelSite> sites_;
  std::vector<std::vector<std::vector<int>>> kernels_;
  std::vector<std::vector<int>> inits_;
  int64_t micro_batches_ = 1;
  int64_t size_ = 0;
};

// What a kernel writes follows from this and the hashes of what it reads.
uint64_t StampOf(int site, int64_t rank, int64_t step, int64_t micro_batch);
// The data of an input of a stamped plan; `name` is as the plan has it.
uint64_t StampOfInput(const std::string& name, int rank, int64_t step, int64_t micro_batch);

// Kernels for all names in the plan.
KernelRegistry StampKernels(const Plan& plan);

class StampSource : public executor::BatchSource {
 public:
  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override;
};

// Takes what `output` kernels give to the log.
class StampSink : public executor::ResultSink {
 public:
  explicit StampSink(Log& log) : log_(log) {}
  absl::StatusOr<std::unique_ptr<executor::ResultField>> Bind(const executor::Port& port) override;

 private:
  Log& log_;
};

}  // namespace weft::plan

#endif  // WEFT_TESTS_PLANS_STAMPS_H_
