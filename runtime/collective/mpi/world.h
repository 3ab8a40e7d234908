// The processes of one run under mpirun, each of them a rank, and how they hear of each other's end.
//
//   World::Create()   MPI starts; all ranks say on which host they are
//   AllGather()       a rendezvous of all ranks: a few bytes from each to all (rendezvous.h)
//   communicator()    collectives and transfers of the steps
//   Carry()           large parcels from one to another, beside the steps (courier.h)
//   Finish()          a rendezvous of all ranks; MPI ends
//
// While it lives, a world finds out who is lost, and aborts with a reason that says what each side was doing:
//
//   a process of this host ends    by a descriptor of the process (process_watch.h)
//   another host falls silent      by heartbeats (heartbeat.h)
//   what a lost rank did last      by a page of shared memory that it wrote (status_board.h)
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_WORLD_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_WORLD_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/collective/communicator.h"
#include "runtime/collective/mpi/levels.h"
#include "runtime/collective/mpi/parcel.h"

namespace weft::collective {

struct WorldOptions {
  // How often a waiting thread looks before it yields its core; -1: as suits a host whose ranks share its cores
  // equally.
  int spins = -1;
  // The longest that a rank waits for the others in a rendezvous: kDeadlineExceeded then; 0: for ever.
  std::chrono::milliseconds time_out{0};
  // A host is lost when nothing was heard of it for so long; 0: it may be silent for as long as it likes.
  std::chrono::milliseconds silence{5000};
  // Called once if this rank is the first that aborts. The others have not heard of it then: they, and mpirun, cannot
  // end this process before it has said why. By any thread.
  std::function<void(const absl::Status& reason)> on_abort = {};
  // What this rank's host is called instead of its name: for tests.
  std::string host;
};

// A process has one World, and makes it once. One thread calls Create(), AllGather() and Finish(), on all ranks in the
// same order; any thread calls the rest. After an abort, of this rank or another, everything returns the reason.
class World {
 public:
  // Initialises MPI; returns when all ranks have. kUnimplemented if this build
  // has no MPI.
  static absl::StatusOr<std::unique_ptr<World>> Create(const WorldOptions& options = {});
  // Without Finish(), the other ranks are told that this one has left.
  virtual ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Ranks that share this one's host, itself included.
  virtual int ranks_on_host() const = 0;
  // How many of these are lower than it.
  virtual int place_on_host() const = 0;
  virtual int hosts() const = 0;
  // What tells the host of a rank from others; people call it what is in front of the `/`.
  virtual const std::vector<std::string>& host_of_ranks() const = 0;
  // Owned by the world. It aborts with kUnavailable when a rank is lost. The reason, by the lowest rank that notices:
  // - a process of this host has ended: "rank 3 is lost: its process 4711 has ended in actor ...; rank 0: ... waits for
  //   all_reduce #8 of group data[1]; rank 3 has not issued it";
  // - another host is silent: "ranks 2, 3 are lost: nothing was heard of their host node02 for 5 s; rank 2 was last in
  //   actor ...; rank 0: ...".
  virtual Communicator& communicator() = 0;
  // Which collectives go on two levels; without it none does. All ranks call it alike, before operations are made.
  virtual void SetLevels(PartsBetweenHosts parts) = 0;

  // The words of this rank's status board; zeros at first. This rank writes them, and others can read them when it is
  // stopped or lost.
  virtual absl::Span<std::atomic<int64_t>> board() = 0;
  // Makes a text of a rank's words: "actor `h.5.bwd` (step 12)", or "" if they say nothing. Any thread calls it, until
  // it is replaced (null: none).
  using Reader = std::function<std::string(int rank, const std::vector<int64_t>& words)>;
  virtual void SetReader(Reader read) = 0;

  // Gives every rank the bytes of all, by rank. A few kilobytes.
  virtual absl::StatusOr<std::vector<std::string>> AllGather(const std::string& bytes) = 0;

  // See Courier. One thread at a time, which may be another than the one of AllGather().
  virtual absl::Status Carry(const std::vector<OutParcel>& out, const std::vector<InParcel>& in,
                             const std::function<bool()>& given_up) = 0;

  // While AllGather() or Finish() waits: "all_gather #3; rank 7 has not come". Otherwise "".
  virtual std::string Waiting() const = 0;

  // Why this world aborted, and which rank's abort it was: its own, or another's
  // that it has heard of. OK and -1 while it has not. Any thread.
  virtual absl::Status failure() const = 0;
  virtual int failed_by() const = 0;

  // `waits` tells what this rank waits for outside of a rendezvous, or "". The reason of an abort for a lost rank ends
  // with it. Any thread may call it, until it is replaced (null: none).
  virtual void SetWaits(std::function<std::string()> waits) = 0;

  // Ranks of this host whose processes are stopped, as by SIGSTOP: "rank 2 is
  // stopped: its process 4711 does not run and stands in actor ...". "" if none is. Any thread.
  virtual std::string Stopped() const = 0;

  // The orderly end: waits for all ranks and finalises MPI. No operation is
  // left. After an abort MPI is not finalised, as it would wait for ranks that
  // are gone: returns the reason, and the process should end.
  virtual absl::Status Finish() = 0;

 protected:
  World() = default;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_WORLD_H_
