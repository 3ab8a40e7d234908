// The processes of a run: this one alone, or the ranks that an MPI launcher has started.
#ifndef WEFT_TOOLS_RUN_PROCESSES_H_
#define WEFT_TOOLS_RUN_PROCESSES_H_

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/collective/mpi/world.h"

namespace weft::run {

// Rendezvous are called by one thread, on all processes in the same order. Of all
// processes one tells of an error: the one that met it.
class Processes {
 public:
  // Joins the processes of an MPI launcher (see runtime/collective/mpi/launch.h),
  // or stays alone. `options` are theirs. kUnimplemented if there is a launcher but
  // no MPI in this build.
  static absl::StatusOr<std::unique_ptr<Processes>> Create(const collective::WorldOptions& options);
  // This one, whoever has started it.
  static std::unique_ptr<Processes> Alone();

  bool alone() const { return world_ == nullptr; }
  int rank() const { return alone() ? 0 : world_->rank(); }
  int size() const { return alone() ? 1 : world_->size(); }
  // The one that reports progress and writes what there is one of.
  bool first() const { return rank() == 0; }
  collective::World* world() { return world_.get(); }
  // What tells the host of each process from others; people call it what is in front of a `/`.
  std::vector<std::string> hosts() const;

  // The bytes of every process, by rank.
  absl::StatusOr<std::vector<std::string>> AllGather(const std::string& bytes);
  // Returns the error of the lowest process that has one, to all.
  absl::Status Agree(const absl::Status& own);
  // kFailedPrecondition unless all come with the same facts: "rank 1: --seed: expected 1, as on rank 0, got 2", and
  // what else differs on that rank. A fact is a name and a value, neither with a 0 in it.
  using Facts = std::vector<std::pair<std::string, std::string>>;
  absl::Status CheckSame(const Facts& facts);

  // What all end with: `own` if this process is alone or all agree on it, else the
  // first error of any, which the others now have too.
  absl::Status Conclude(const absl::Status& own);
  // Why the processes have aborted, if they have. Any thread.
  absl::Status failure() const { return alone() ? absl::OkStatus() : world_->failure(); }
  // Whether this process is the one that tells of the error that Conclude() or
  // the world has returned. Any thread.
  bool tells() const;

  // The orderly end, unless something has failed. Nothing else is called then.
  absl::Status Finish();

 private:
  explicit Processes(std::unique_ptr<collective::World> world) : world_(std::move(world)) {}

  std::unique_ptr<collective::World> world_;
  int agreed_ = -1;  // the process whose error all have
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_PROCESSES_H_
