// Keeps snapshots of each rank's state in the memory of hosts: of its own, and of the next one where there are several.
//
//   Begin()      the state is copied into the host's memory ─▶ a thread of each process seals the copy,   the steps
//                                                              and takes it to the next host              go on
//   Advance()    all have them: the snapshots of the step before may be written over
//
// Two steps are kept: whenever a rank or a host is lost, the snapshots of one of them are whole.
#ifndef WEFT_TOOLS_RUN_SNAPSHOTS_H_
#define WEFT_TOOLS_RUN_SNAPSHOTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/snapshot_file.h"
#include "runtime/executor/cluster.h"
#include "runtime/trace/metrics.h"
#include "tools/run/aside.h"
#include "tools/run/hosts_of_run.h"
#include "tools/run/memory.h"
#include "tools/run/record.h"
#include "tools/run/snapshot_choice.h"
#include "tools/run/train.h"

namespace weft::run {

// One thread, but for its own. What returns a status is a rendezvous: all processes come, and get the same error.
class Snapshots {
 public:
  // `context` and `cluster` outlive it. `folders`: of snapshots of before, which --checkpoint-dir names.
  Snapshots(const Context& context, executor::Cluster& cluster, std::vector<std::string> folders)
      : context_(context), cluster_(cluster), before_(std::move(folders)), hosts_(HostsOfRun::Of(context.processes)) {}
  // What is not whole stays as it is.
  ~Snapshots();
  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;

  // Takes the memory of hosts, if the request asks for snapshots, beside what this process has already;
  // kResourceExhausted if that does not fit. Those of before go, unless the run goes on from them: then they stay until
  // others are whole.
  absl::Status Prepare(const RankMemory& own, const Record& record, bool goes_on);
  // Of the host's memory, for this process.
  int64_t bytes() const { return bytes_; }
  // For people; "" without snapshots.
  std::string Text() const;

  struct State {
    int64_t step = 0;  // steps that are done
    uint64_t seed = 0;
    Record record;
  };
  // What has become whole meanwhile, in that order.
  using Done = std::vector<trace::TakenSnapshot>;

  // The state as it is, behind the one that is still under way. Prepare() has taken memory.
  absl::StatusOr<Done> Begin(State state);
  // Whether this process has nothing under way.
  bool at_rest() const { return !under_way_ || aside_.at_rest(); }
  // `all_at_rest`: whether all processes have said so, after the same step.
  absl::StatusOr<Done> Advance(bool all_at_rest);
  // Until what is under way is whole.
  absl::StatusOr<Done> Wait();
  // The end: they are removed, those of before too.
  absl::Status Remove();

 private:
  // The snapshots of one rank in this host's memory.
  struct Kept {
    int rank = 0;
    int64_t file_bytes = 0;
    std::vector<std::unique_ptr<checkpoint::SnapshotFile>> files;  // of the steps that are kept
    size_t next = 0;                                               // that is written next
    checkpoint::SnapshotFile& file() { return *files[next]; }
  };
  // Of a rank of this process: where its tiles lie.
  struct Own {
    Kept kept;
    std::vector<std::pair<const executor::StateTile*, int64_t>> tiles;
    int64_t bytes = 0;
    checkpoint::SnapshotHead head;
  };

  void LayOut(const Record& record);
  absl::Status MakeFolder(const RankMemory& own, bool goes_on);
  absl::Status AddFiles();
  absl::Status ForgetBefore();
  absl::Status RemoveOnHost(const std::vector<std::string>& folders);
  std::string PartialOf(int rank, size_t file) const;
  std::vector<Kept*> All();
  absl::Status Copy();
  absl::Status Keep();
  absl::Status Seal(Own& own);

  const Context& context_;
  executor::Cluster& cluster_;
  std::vector<std::string> before_;
  const HostsOfRun hosts_;
  SnapshotNeighbours neighbours_;
  std::string folder_;  // "": none are taken
  std::vector<Own> own_;
  std::vector<Kept> others_;  // of the host before
  int64_t bytes_ = 0;
  int64_t all_bytes_ = 0;  // of the tiles of all ranks
  State state_;            // that is under way
  bool under_way_ = false;
  int64_t begin_ns_ = 0, stood_ns_ = 0;
  std::atomic<bool> given_up_{false};
  Aside aside_;
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_SNAPSHOTS_H_
