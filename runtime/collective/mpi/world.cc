#include "runtime/collective/mpi/world.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/collective/mpi/communicator.h"
#include "runtime/collective/mpi/courier.h"
#include "runtime/collective/mpi/heartbeat.h"
#include "runtime/collective/mpi/library.h"
#include "runtime/collective/mpi/process_watch.h"
#include "runtime/collective/mpi/rendezvous.h"
#include "runtime/collective/mpi/status_board.h"
#include "runtime/collective/mpi/wire.h"

namespace weft::collective {
namespace {

// Looks of a waiting thread, some 20 microseconds, where every rank has at
// least two cores.
constexpr int kSpinsAlone = 200;

// A rank that fails says why before it ends: how long that may take to come.
constexpr std::chrono::milliseconds kLastWords(50);
// How long a rank that notices a loss may still compute before it waits for
// something that it can name.
constexpr std::chrono::milliseconds kUntilItWaits(150);
// How long the end of the last rendezvous may take to come.
constexpr std::chrono::milliseconds kUntilFinished(300);
// What a rank leaves to a lower one on its host to tell of a loss.
constexpr std::chrono::milliseconds kTurn(400);

absl::Status Initialize() {
  if (absl::Status status = OpenMpi(); !status.ok()) return status;
  int initialized = 0, level = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) return absl::FailedPreconditionError("mpi: expected one world a process, got two");
  if (absl::Status status = MpiStatus("starting", MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level));
      !status.ok()) {
    return status;
  }
  if (level == MPI_THREAD_MULTIPLE) return absl::OkStatus();
  return absl::UnimplementedError("mpi: expected a library that any thread may call, got one that none but the first");
}

class MpiWorld : public World {
 public:
  MpiWorld(std::unique_ptr<Wire> wire, const WorldOptions& options)
      : rank_(wire->rank()),
        size_(wire->size()),
        wire_(std::move(wire)),
        options_(options),
        rendezvous_(wire_.get(), options.time_out),
        courier_(wire_.get(), options.time_out) {}

  // Learns who runs on this host, and watches them.
  absl::Status Start() {
    ProcessName own = ProcessName::Own();
    own.board = board_.descriptor();
    if (!options_.host.empty()) own.host = options_.host;
    absl::StatusOr<std::vector<std::string>> names = rendezvous_.Hold("start", own.ToString());
    if (!names.ok()) return names.status();
    for (int r = 0; r < size_; ++r) {
      const ProcessName name = ProcessName::Parse((*names)[r]);
      hosts_.push_back(name.host);
      if (r == rank_ || name.host != own.host) continue;
      on_host_.push_back({r, name.process});
      boards_.emplace(r, StatusBoard(name.process, name.board));
    }
    communicator_ = std::make_unique<MpiCommunicator>(wire_.get(), hosts_);
    // No board is opened once its process may have gone.
    if (absl::Status status = rendezvous_.Hold("boards", "").status(); !status.ok()) return status;
    const HeartbeatPeers heartbeat_peers = HeartbeatPeers::Of(hosts_, rank_);
    if (options_.silence.count() > 0 && board_.words() != nullptr && hosts() > 1) {
      heartbeat_ = std::make_unique<Heartbeat>(wire_.get(), heartbeat_peers, board_.words(), options_.silence,
                                               [this, heartbeat_peers] { LoseHost(heartbeat_peers); });
      heartbeat_->Start();
    }
    process_watch_ = std::make_unique<ProcessWatch>(on_host_, [this](const ProcessWatch::Peer& peer) { Lose(peer); });
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<std::string>> AllGather(const std::string& bytes) override {
    absl::StatusOr<std::vector<std::string>> all = rendezvous_.Hold("all_gather", bytes);
    if (!absl::IsDeadlineExceeded(all.status())) return all;
    const std::string stopped = Stopped();
    return absl::DeadlineExceededError(absl::StrCat(all.status().message(), stopped.empty() ? "" : ": ", stopped));
  }

  absl::Status Carry(const std::vector<OutParcel>& out, const std::vector<InParcel>& in,
                     const std::function<bool()>& given_up) override {
    return courier_.Carry(out, in, given_up);
  }

  absl::Status Finish() override {
    if (wire_->stopped()) return wire_->reason();
    finishing_ = true;
    if (absl::Status status = rendezvous_.Hold("finish", "").status(); !status.ok()) return status;
    finished_ = true;
    StopWatching();
    heartbeat_.reset();
    wire_.reset();
    return MpiStatus("ending", MPI_Finalize());
  }

  ~MpiWorld() override {
    StopWatching();
    if (finished_) return;
    wire_->Abort(absl::UnavailableError(absl::StrCat("rank ", rank_, " has left")));
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Communicator& communicator() override { return *communicator_; }
  void SetLevels(PartsBetweenHosts parts) override { communicator_->SetLevels(std::move(parts)); }
  std::string Waiting() const override { return rendezvous_.Waiting(); }
  int ranks_on_host() const override { return static_cast<int>(on_host_.size()) + 1; }
  int place_on_host() const override {
    return static_cast<int>(std::count_if(on_host_.begin(), on_host_.end(),
                                          [&](const ProcessWatch::Peer& peer) { return peer.rank < rank_; }));
  }
  int hosts() const override { return static_cast<int>(std::set<std::string>(hosts_.begin(), hosts_.end()).size()); }
  const std::vector<std::string>& host_of_ranks() const override { return hosts_; }
  absl::Span<std::atomic<int64_t>> board() override {
    return absl::MakeSpan(board_.words(), board_.words() == nullptr ? 0 : StatusBoard::kWords);
  }
  absl::Status failure() const override { return wire_->stopped() ? wire_->reason() : absl::OkStatus(); }
  int failed_by() const override { return wire_->stopped() ? wire_->stopped_by() : -1; }

  void SetWaits(std::function<std::string()> waits) override {
    std::lock_guard<std::mutex> lock(waits_mutex_);
    waits_ = std::move(waits);
  }

  void SetReader(Reader read) override {
    std::lock_guard<std::mutex> lock(waits_mutex_);
    read_ = std::move(read);
  }

  std::string Stopped() const override {
    std::string text;
    for (const ProcessWatch::Peer& peer : on_host_) {
      if (!IsStopped(peer.process)) continue;
      absl::StrAppend(&text, text.empty() ? "" : "; ", "rank ", peer.rank, " is stopped: its process ", peer.process,
                      " does not run", StandsIn(peer.rank, " and stands in "));
    }
    return text;
  }

 private:
  // Both threads look at what both have seen.
  void StopWatching() {
    process_watch_.reset();
    if (heartbeat_ != nullptr) heartbeat_->Stop();
  }

  // Sleeps until `done()` or an abort, at most for `time`.
  template <typename Done>
  void Await(std::chrono::milliseconds time, Done&& done) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!wire_->stopped() && !done() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  // By the thread that watches.
  void Lose(const ProcessWatch::Peer& peer) {
    lost_.insert(peer.rank);
    if (finishing_) {  // a rank for which the last rendezvous is over may end
      Await(kUntilFinished, [this] { return finished_.load(); });
      if (finished_) return;
    }
    Await(kLastWords, [] { return false; });
    const auto lower = [&](const ProcessWatch::Peer& peer) { return peer.rank < rank_ && lost_.count(peer.rank) == 0; };
    const int64_t turn = std::count_if(on_host_.begin(), on_host_.end(), lower);
    Await(kTurn * std::min<int64_t>(turn, 2), [] { return false; });
    std::string waits;
    Await(kUntilItWaits, [&] { return !(waits = Waits()).empty(); });
    wire_->Abort(
        absl::UnavailableError(absl::StrCat("rank ", peer.rank, " is lost: its process ", peer.process, " has ended",
                                            StandsIn(peer.rank, " in "), waits.empty() ? "" : "; ", waits)));
  }

  // By the thread that listens to the ranks of another host.
  void LoseHost(const HeartbeatPeers& peers) {
    Await(kTurn * std::min(peers.turn, 2), [] { return false; });
    std::string waits;
    Await(kUntilItWaits, [&] { return !(waits = Waits()).empty(); });
    const std::string& host = hosts_[peers.from[0]];
    std::vector<int> ranks;
    for (int r = 0; r < size_; ++r) {
      if (hosts_[r] == host) ranks.push_back(r);
    }
    std::string text = absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ", absl::StrJoin(ranks, ", "),
                                    ranks.size() == 1 ? " is" : " are", " lost: nothing was heard of host ",
                                    ProcessName{.host = host}.HostName(), " for ",
                                    absl::StrFormat("%.3g", options_.silence.count() / 1000.0), " s");
    for (int rank : peers.from) absl::StrAppend(&text, StandsIn(rank, absl::StrCat("; rank ", rank, " was last in ")));
    wire_->Abort(absl::UnavailableError(absl::StrCat(text, waits.empty() ? "" : "; ", waits)));
  }

  // What a rank's board says, behind `words`; "" if it says nothing.
  std::string StandsIn(int rank, const std::string& words) const {
    std::vector<int64_t> board;
    if (const auto it = boards_.find(rank); it != boards_.end()) {
      board = it->second.Read();
    } else if (heartbeat_ != nullptr) {
      board = heartbeat_->BoardOf(rank);
    }
    std::lock_guard<std::mutex> lock(waits_mutex_);
    const std::string text = read_ && !board.empty() ? read_(rank, board) : "";
    return text.empty() ? "" : absl::StrCat(words, text);
  }

  std::string Waits() {
    if (const std::string rendezvous = rendezvous_.Waiting(); !rendezvous.empty()) {
      return absl::StrCat("rank ", rank_, " waits for ", rendezvous);
    }
    std::lock_guard<std::mutex> lock(waits_mutex_);
    return waits_ ? waits_() : "";
  }

  const int rank_, size_;
  std::unique_ptr<Wire> wire_;
  const WorldOptions options_;
  std::unique_ptr<MpiCommunicator> communicator_;  // once it is known who is where
  Rendezvous rendezvous_;
  Courier courier_;
  StatusBoard board_;
  std::vector<std::string> hosts_;           // by rank
  std::vector<ProcessWatch::Peer> on_host_;  // but this one
  std::map<int, StatusBoard> boards_;        // of these
  std::set<int> lost_;
  mutable std::mutex waits_mutex_;
  std::function<std::string()> waits_;
  Reader read_;
  std::atomic<bool> finishing_{false}, finished_{false};
  std::unique_ptr<ProcessWatch> process_watch_;
  std::unique_ptr<Heartbeat> heartbeat_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<World>> World::Create(const WorldOptions& options) {
  if (absl::Status status = Initialize(); !status.ok()) return status;
  int spins = options.spins;
  if (spins < 0) {
    MPI_Comm host = MPI_COMM_NULL;
    int ranks = 1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &ranks);
    MPI_Comm_free(&host);
    spins = 2 * ranks <= static_cast<int>(std::thread::hardware_concurrency()) ? kSpinsAlone : 0;
  }
  absl::StatusOr<std::unique_ptr<Wire>> wire =
      Wire::Create(MPI_COMM_WORLD, {.spins = spins, .on_abort = options.on_abort});
  if (!wire.ok()) return wire.status();
  auto world = std::make_unique<MpiWorld>(*std::move(wire), options);
  if (absl::Status status = world->Start(); !status.ok()) return status;
  return world;
}

}  // namespace weft::collective
