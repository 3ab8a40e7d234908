#include "runtime/collective/mpi/heartbeat.h"

#include <algorithm>

#include "runtime/collective/mpi/host_ring.h"
#include "runtime/collective/mpi/library.h"
#include "runtime/collective/mpi/status_board.h"
#include "runtime/collective/mpi/wire.h"

namespace weft::collective {
namespace {

// Heartbeats that are sent, and looks for those of others, in a time-out. Example: of 5 s, every 625 and every 125 ms.
constexpr int kBeats = 8, kLooks = 40;
// How many ranks of a host one listens to.
constexpr int kHeard = 2;

// The members of `before` that member `m` of the next host listens to.
std::vector<int> HeardBy(size_t m, const std::vector<int>& before) {
  std::vector<int> ranks;
  for (size_t i = 0; i < std::min<size_t>(kHeard, before.size()); ++i) {
    ranks.push_back(before[(m + i) % before.size()]);
  }
  return ranks;
}

}  // namespace

HeartbeatPeers HeartbeatPeers::Of(const std::vector<std::string>& hosts, int rank) {
  const HostRing ring(hosts);
  HeartbeatPeers peers;
  if (ring.size() < 2) return peers;
  const int own = ring.HostOf(rank);
  const std::vector<int>& mine = ring.RanksOf(own);
  peers.turn = static_cast<int>(std::find(mine.begin(), mine.end(), rank) - mine.begin());
  peers.from = HeardBy(peers.turn, ring.RanksOf(ring.Before(own)));
  const std::vector<int>& next = ring.RanksOf(ring.Next(own));
  for (size_t m = 0; m < next.size(); ++m) {
    const std::vector<int> heard = HeardBy(m, mine);
    if (std::find(heard.begin(), heard.end(), rank) != heard.end()) peers.to.push_back(next[m]);
  }
  return peers;
}

struct Heartbeat::Messages {
  Messages(size_t to, size_t from)
      : sent(to, std::vector<int64_t>(StatusBoard::kWords)),
        received(from, std::vector<int64_t>(StatusBoard::kWords)),
        sends(to),
        receives(from) {}
  std::vector<std::vector<int64_t>> sent, received;
  Requests sends, receives;
};

Heartbeat::Heartbeat(Wire* wire, const HeartbeatPeers& peers, const std::atomic<int64_t>* board,
                     std::chrono::milliseconds time_out, std::function<void()> silent)
    : wire_(*wire),
      peers_(peers),
      board_(board),
      time_out_(time_out),
      silent_(std::move(silent)),
      messages_(std::make_unique<Messages>(peers.to.size(), peers.from.size())),
      heard_(peers.from.size()) {}

void Heartbeat::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Heartbeat::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Heartbeat::~Heartbeat() {
  Stop();
  messages_->receives.Abandon();
  const std::vector<MPI_Request>& sends = messages_->sends.active;
  const bool all =
      std::all_of(sends.begin(), sends.end(), [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
  messages_->sends.Abandon();
  // To a host that is lost, they are on their way for ever.
  if (!all) static_cast<void>(messages_.release());
}

std::vector<int64_t> Heartbeat::BoardOf(int rank) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = std::find(peers_.from.begin(), peers_.from.end(), rank);
  return it == peers_.from.end() ? std::vector<int64_t>() : heard_[it - peers_.from.begin()];
}

void Heartbeat::Run() {
  const Clock::duration tick = time_out_ / kLooks;
  Clock::time_point looked = Clock::now(), heard = looked, sent = looked - time_out_;
  std::unique_lock<std::mutex> lock(mutex_);
  do {
    lock.unlock();
    const Clock::time_point now = Clock::now();
    if (now - looked > time_out_ / 4) heard += now - looked;
    looked = now;
    if (now - sent >= time_out_ / kBeats) {
      Send();
      sent = now;
    }
    if (Hear()) heard = now;
    if (!peers_.from.empty() && now - heard > time_out_) return silent_();
    lock.lock();
  } while (!wake_.wait_for(lock, tick, [this] { return stop_; }));
}

// Errors are those of ranks that are lost, which others notice.
void Heartbeat::Send() {
  for (size_t i = 0; i < peers_.to.size(); ++i) {
    MPI_Request& request = messages_->sends.active[i];
    int gone = 1;
    if (request != MPI_REQUEST_NULL) MPI_Test(&request, &gone, MPI_STATUS_IGNORE);
    if (gone == 0) continue;
    std::vector<int64_t>& words = messages_->sent[i];
    for (int w = 0; w < StatusBoard::kWords; ++w) words[w] = board_[w].load(std::memory_order_relaxed);
    MPI_Isend(words.data(), StatusBoard::kWords, MPI_INT64_T, peers_.to[i], Wire::kHeartbeatTag, wire_.comm(),
              &request);
  }
}

bool Heartbeat::Hear() {
  bool any = false;
  for (size_t i = 0; i < peers_.from.size(); ++i) {
    MPI_Request& request = messages_->receives.active[i];
    std::vector<int64_t>& words = messages_->received[i];
    for (int come = 1; come != 0;) {
      come = 0;
      if (request != MPI_REQUEST_NULL) MPI_Test(&request, &come, MPI_STATUS_IGNORE);
      if (come != 0) {
        std::lock_guard<std::mutex> lock(mutex_);
        heard_[i] = words;
        any = true;
      }
      if (request == MPI_REQUEST_NULL) {
        MPI_Irecv(words.data(), StatusBoard::kWords, MPI_INT64_T, peers_.from[i], Wire::kHeartbeatTag, wire_.comm(),
                  &request);
      }
    }
  }
  return any;
}

}  // namespace weft::collective
