// Writes the checkpoints of a training: while it goes on, where the host has memory for a copy of the state.
//
//   Begin()      the state is copied ─▶ a thread of each process writes its tiles           the steps
//   Advance()    all have written    ─▶ a thread of the first process gives it its name     go on
//   Advance()    that is done
//
// Processes agree between steps and in no other place: each tells with its word after a step whether its thread has
// ended, and all move on where all have.
#ifndef WEFT_TOOLS_RUN_SAVER_H_
#define WEFT_TOOLS_RUN_SAVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/executor/cluster.h"
#include "runtime/trace/metrics.h"
#include "tools/run/aside.h"
#include "tools/run/memory.h"
#include "tools/run/save.h"
#include "tools/run/state_copy.h"
#include "tools/run/train.h"

namespace weft::run {

// One thread, but for its own. What returns a status is a rendezvous: all processes come, and get the same error.
// At most one checkpoint is being written.
class Saver {
 public:
  // `context` and `cluster` outlive it.
  Saver(const Context& context, executor::Cluster& cluster) : context_(context), cluster_(cluster) {}
  // Of a checkpoint that is not written yet nothing is left; one that lacks no more than its name gets it.
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Takes the memory of the copy beside what this process has already. Where that does not fit, for one process, it is
  // an error with --checkpoint-async on, and else all checkpoints are written while the run stands.
  absl::Status Prepare(const RankMemory& own);
  // Of the copy; 0 without one.
  int64_t bytes() const { return copy_ == nullptr ? 0 : copy_->bytes(); }
  // Why there is no copy, for people; "" if there is one, or nobody asked for it.
  const std::string& note() const { return note_; }

  // What has been written meanwhile, in that order.
  using Done = std::vector<trace::SavedCheckpoint>;

  // The state as it is: written aside if there is a copy, behind the one that is still being written.
  absl::StatusOr<Done> Begin(Save::Options options);
  // The state as it is, written before it returns, as the one is that was being written.
  absl::StatusOr<Done> SaveNow(Save::Options options);
  // Whether this process has nothing left to write.
  bool at_rest() const { return save_ == nullptr || aside_.at_rest(); }
  // `all_at_rest`: whether all processes have said so, after the same step.
  absl::StatusOr<Done> Advance(bool all_at_rest);
  // Until what is being written is written.
  absl::StatusOr<Done> Wait();

  // The step whose checkpoint is being written; -1: none is.
  int64_t writing() const { return save_ == nullptr ? -1 : save_->step(); }

 private:
  // kAborted names the step.
  absl::Status Named(const absl::Status& status, int64_t step) const;
  void Drop();

  const Context& context_;
  executor::Cluster& cluster_;
  std::unique_ptr<StateCopy> copy_;  // null: none
  std::string note_;
  std::unique_ptr<Save> save_;  // that is being written
  bool committing_ = false;     // all have written
  int64_t begin_ns_ = 0, stood_ns_ = 0;
  std::atomic<bool> given_up_{false};
  Aside aside_;
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_SAVER_H_
