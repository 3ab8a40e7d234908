// What a plan says that its acts read, worked out one act after another with all
// the memory in the world: no two tensors share bytes, and no register's slot is
// used twice. A run of a stamped plan reads the same, or the plan is wrong.
#ifndef WEFT_TESTS_PLANS_IDEAL_H_
#define WEFT_TESTS_PLANS_IDEAL_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/plan/program.h"
#include "runtime/semantics/execution.h"
#include "tests/plans/stamps.h"

namespace weft::plan {

class IdealCluster {
 public:
  // The plan is verified and stamped with the log; both outlive this.
  IdealCluster(const Plan& plan, const Log& log);

  // Works out a step. kInternal: an act reads bytes that hold something other
  // than what its registers say.
  absl::Status Step(int64_t step);

  // What the kernels of the step read, in the log's places.
  const std::vector<uint64_t>& read() const { return read_; }
  // A rank's bytes of state, or of a metric's buffer after a step.
  std::vector<char> BytesOf(int stage, int64_t rank, int32_t buffer);

 private:
  // Who wrote a byte; nobody: actor -1. kInitial: the initial value.
  static constexpr int32_t kNobody = -1, kInitial = -2;
  struct Byte {
    char value = 0;
    int32_t actor = kNobody;
    int64_t micro_batch = 0;
  };
  using Cell = std::vector<Byte>;
  // Of a root: of a micro-batch, of what is made once a step, or of state.
  static constexpr int64_t kStep = -1, kState = -2;
  using Key = std::pair<int32_t, int64_t>;

  // One rank.
  struct Rank {
    int64_t index = 0;  // in its placement
    int rank = 0;
    std::map<Key, Cell> cells;
    std::map<int32_t, Cell> fresh;  // what the act under way has written, by root
  };
  struct View {
    int64_t begin = 0, bytes = 0;  // within the root
  };

  absl::Status Perform(const Act& act, int64_t step);
  absl::Status RunKernel(const Act& act, int work, int64_t step, Rank& rank);
  absl::Status RunBundle(const Act& act);
  absl::Status Send(const Act& act);
  void Receive(const Act& act);
  // The bytes of a buffer as an act sees them.
  absl::Status Read(const Act& act, int work, int32_t buffer, Rank& rank, std::vector<char>& bytes);
  void Write(const Act& act, int32_t buffer, Rank& rank, const std::vector<char>& bytes);
  void Publish(const Act& act, Rank& rank);
  // The registers whose contents the act is meant to find in a buffer.
  std::vector<int32_t> SourcesOf(const Act& act, int32_t buffer) const;
  Cell& CellOf(int stage, Rank& rank, int32_t root, int64_t space);
  View ViewOf(int stage, int32_t buffer) const;
  int64_t SpaceOf(int stage, int32_t actor, int64_t micro_batch) const;

  const Plan& plan_;
  const Log& log_;
  std::vector<Program> programs_;
  std::vector<Act> acts_;                                   // of a step, in an order that the plan permits
  std::vector<std::vector<Rank>> ranks_;                    // by stage
  std::map<int32_t, std::vector<std::vector<char>>> sent_;  // by transfer, a source rank each
  std::vector<uint64_t> read_;
};

}  // namespace weft::plan

#endif  // WEFT_TESTS_PLANS_IDEAL_H_
