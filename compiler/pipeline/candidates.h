// Variants of a job, compiled to see what they would need and take.
//
//   parsed ─ elaborate ─ ... ─ precision ─●─ zero ─ shard ─ box ─●─ recompute ─ ... ─ memory ─▶ Summary
//
// Two variants share all phases in front of the first one that they ask something else of. In front of the phases at ●,
// a copy of the module is kept, from which later variants go on: one that differs in `recompute` alone runs the last
// five phases.
#ifndef WEFT_COMPILER_PIPELINE_CANDIDATES_H_
#define WEFT_COMPILER_PIPELINE_CANDIDATES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/pipeline/lowering.h"

namespace weft::compiler {

/// What a variant comes to.
struct Summary {
  std::vector<int64_t> stageBytes; // of a rank of each stage
  // Predicted; 0 if nobody asked.
  double step_s = 0;
  double compute_s = 0; // means over ranks
  double exposed_comm_s = 0;
  double waiting_s = 0;
};

/// What is known of a stage that may fit some memory.
struct Fit {
  bool fits = false;
  bool tiersFit = true;   // what lies below the device
  int64_t leastBytes = 0; // of a rank: most that are live at a time
  int64_t bytes = 0;      // of a rank: as it was laid out; leastBytes where those are too many already
};

/// A plan that nobody has verified.
struct Unplaced {
  plan::Plan plan; // every offset is 0
  // The same as layOut() lays it out in the memory of a device, where AUTO has done that.
  std::optional<plan::Plan> placed = {};
};

/// Owns the modules that it keeps, in the context of the first. For one thread. Prints nothing.
class Candidates {
public:
  /// `parsed` is the model as its file says it, for any variant. `cluster` outlives this.
  Candidates(mlir::ModuleOp parsed, const Cluster &cluster);

  /// Lets compile() do about so much from now on: an operation that a phase is handed counts as one. So what is tried
  /// does not depend on how fast a machine is. GPT-2 with 345M parameters is some 60,000. 0: no limit.
  void limit(int64_t work);

  /// True if compile() has refused something for want of work.
  bool exhausted() const { return exhausted_; }

  /// Keeps a copy of `module`, which is what `job` has come to in front of `phase`.
  void keep(const Job &job, Phase phase, mlir::ModuleOp module);

  /// Compiles a resolved job, with paths as seen from here, and predicts its step if asked to. Verifies nothing. An
  /// error says why there is no such plan: kResourceExhausted if the work is done, otherwise the first error of a
  /// phase.
  absl::StatusOr<Summary> compile(const Job &job, bool predict);

  /// The same, as a plan that nobody has verified; `offsets`: whether its memory is laid out.
  absl::StatusOr<plan::Plan> planFor(const Job &job, bool offsets = true);

  /// The same before memory is laid out.
  absl::StatusOr<Unplaced> unplacedFor(const Job &job);

  /// Whether each stage fits so many bytes, as compile() would find it, in less time.
  absl::StatusOr<std::vector<Fit>> fit(const Job &job, int64_t bytes);

  /// The predicted step of a job, in seconds; of what fit() has just found to fit without compiling it again.
  absl::StatusOr<double> secondsOf(const Job &job);

private:
  struct Kept {
    std::string prefix; // see prefixOf
    Phase phase;
    mlir::OwningOpRef<mlir::ModuleOp> module;
  };

  // The last variant all of whose stages fit what fit() was asked for: often it is what AUTO becomes.
  struct Fitting {
    std::string job; // its text
    Unplaced found;
    int64_t work = 0; // behind `recompute`
  };

  // What decides over the module in front of `phase`: its inputs, and the passes until there with their options.
  std::string prefixOf(const Job &job, Phase phase) const;
  const Kept *find(const Job &job, Phase phase) const;
  // A copy of the module that is furthest on the way of `job`, and the phase that comes next.
  std::pair<Lowering, Phase> begin(const Job &job) const;
  // What `job` comes to; adds what is spent behind `recompute` to `work`.
  absl::StatusOr<Unplaced> lower(const Job &job, int64_t &work);
  // If `job`, with a policy for each layer, is what fitted last: that, as a plan of `asked`.
  std::optional<Unplaced> fitted(const Job &job, const Job &asked) const;
  // False if the work is done.
  bool spend(int64_t work);

  const Cluster &cluster_;
  std::vector<Kept> kept_;
  std::optional<Fitting> fitting_;
  int64_t left_ = 0;
  bool limited_ = false;
  bool exhausted_ = false;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_CANDIDATES_H_
