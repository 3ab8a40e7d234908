#include "runtime/collective/mpi/wire.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"

namespace weft::collective {
namespace {

constexpr int kAbortTag = 0;
constexpr int kFirstTag = 4;

// Looks of a waiting thread that yields in between, before it sleeps.
constexpr int kYields = 200;
// The first sleep is short; the last is what an idle core costs little and a
// late message does not notice.
constexpr std::chrono::microseconds kShortSleep(20), kLongSleep(500);
// How long a rank that aborts helps its notices on their way.
constexpr std::chrono::milliseconds kFarewell(200);

// Gives the core away for longer and longer.
class Rest {
 public:
  explicit Rest(int spins) : spins_(spins) {}
  void Reset() {
    looks_ = 0;
    sleep_ = kShortSleep;
  }
  void Take(Wire::Patience patience) {
    if (++looks_ <= spins_) return;
    if (looks_ <= spins_ + kYields || patience == Wire::Patience::kForData) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min(sleep_ * 2, kLongSleep);
  }
  // True in every so many looks: what costs more than a look is done then.
  bool Due() const { return looks_ % 64 == 0 || looks_ > spins_ + kYields; }

 private:
  const int spins_;
  int64_t looks_ = 0;
  std::chrono::microseconds sleep_ = kShortSleep;
};

}  // namespace

absl::Status MpiStatus(const char* what, int code) {
  if (code == MPI_SUCCESS) return absl::OkStatus();
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return absl::InternalError(absl::StrCat("mpi: ", what, ": ", std::string(text, length)));
}

void Requests::Abandon() {
  for (MPI_Request& request : active) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
}

// What an aborting rank sends to all others.
struct Wire::Notice {
  int64_t code = 0;
  char message[2040] = "";
};

absl::StatusOr<std::unique_ptr<Wire>> Wire::Create(MPI_Comm parent, const Options& options) {
  MPI_Comm comm = MPI_COMM_NULL;
  if (absl::Status status = MpiStatus("duplicating a communicator", MPI_Comm_dup(parent, &comm)); !status.ok()) {
    return status;
  }
  std::unique_ptr<Wire> wire(new Wire(comm, options));
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &wire->rank_);
  MPI_Comm_size(comm, &wire->size_);
  int* highest = nullptr;
  int found = 0;
  MPI_Comm_get_attr(comm, MPI_TAG_UB, &highest, &found);
  wire->highest_tag_ = found != 0 ? *highest : 32767;  // what the standard promises
  wire->Listen();
  return wire;
}

Wire::Wire(MPI_Comm comm, const Options& options) : comm_(comm), options_(options) {}

Wire::~Wire() {
  if (notice_request_ != MPI_REQUEST_NULL) {
    MPI_Cancel(&notice_request_);
    MPI_Request_free(&notice_request_);
  }
  if (stopped_.load()) {
    // Others may be gone: nothing that all must do. A notice may be on its way.
    static_cast<void>(sent_.release());
    return;
  }
  MPI_Comm comm = comm_;
  MPI_Comm_free(&comm);
}

absl::StatusOr<int> Wire::TagOf(const char* what, int number, int odd) const {
  const int highest = (highest_tag_ - kFirstTag - 1) / 2;
  if (number >= 0 && number <= highest) return kFirstTag + 2 * number + odd;
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", number, ": expected a number from 0 to ", highest, ", as this MPI has no more tags"));
}

void Wire::Listen() {
  notice_ = std::make_unique<Notice>();
  MPI_Irecv(notice_.get(), sizeof(Notice), MPI_BYTE, MPI_ANY_SOURCE, kAbortTag, comm_, &notice_request_);
}

bool Wire::Stop(const absl::Status& reason, int by) {
  std::lock_guard<std::mutex> lock(reason_mutex_);
  if (stopped_.load(std::memory_order_relaxed)) return false;
  reason_ = reason;
  by_ = by;
  stopped_.store(true, std::memory_order_release);
  return true;
}

absl::Status Wire::reason() const {
  std::lock_guard<std::mutex> lock(reason_mutex_);
  return reason_;
}

int Wire::stopped_by() const {
  std::lock_guard<std::mutex> lock(reason_mutex_);
  return by_;
}

bool Wire::stopped() {
  if (stopped_.load(std::memory_order_acquire)) return true;
  std::unique_lock<std::mutex> lock(notice_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || notice_request_ == MPI_REQUEST_NULL) return stopped_.load(std::memory_order_acquire);
  int come = 0;
  MPI_Status from;
  if (MPI_Test(&notice_request_, &come, &from) != MPI_SUCCESS || come == 0) return false;
  Stop(absl::Status(static_cast<absl::StatusCode>(notice_->code), notice_->message), from.MPI_SOURCE);
  return true;
}

void Wire::Abort(const absl::Status& reason) {
  if (!Stop(reason, rank_)) return;
  if (options_.on_abort) options_.on_abort(reason);
  if (size_ == 1) return;
  sent_ = std::make_unique<Notice>();
  sent_->code = static_cast<int64_t>(reason.code());
  const size_t length = std::min(reason.message().size(), sizeof(sent_->message) - 1);
  std::memcpy(sent_->message, reason.message().data(), length);
  std::vector<MPI_Request> requests;
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    MPI_Isend(sent_.get(), sizeof(Notice), MPI_BYTE, r, kAbortTag, comm_, &requests.emplace_back());
  }
  const auto end = std::chrono::steady_clock::now() + kFarewell;
  int gone = 0;
  while (gone == 0 && std::chrono::steady_clock::now() < end) {
    if (MPI_Testall(static_cast<int>(requests.size()), requests.data(), &gone, MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
      break;
    }
    if (gone == 0) std::this_thread::sleep_for(kShortSleep);
  }
  for (MPI_Request& request : requests) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

absl::Status Wire::Await(Requests& requests, absl::FunctionRef<Patience()> patience, Ended ended, Deadline deadline) {
  Rest rest(options_.spins);
  while (true) {
    int count = 0;
    const int code = MPI_Testsome(static_cast<int>(requests.active.size()), requests.active.data(), &count,
                                  requests.indices.data(), requests.statuses.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return MpiStatus("waiting", code);
    if (count == MPI_UNDEFINED) return absl::OkStatus();
    for (int i = 0; i < count; ++i) {
      const MPI_Status& message = requests.statuses[i];
      if (code == MPI_ERR_IN_STATUS && message.MPI_ERROR != MPI_SUCCESS)
        return MpiStatus("a message", message.MPI_ERROR);
      int bytes = 0;
      MPI_Get_count(&message, MPI_BYTE, &bytes);
      if (absl::Status status = ended(requests.indices[i], bytes); !status.ok()) return status;
    }
    if (count > 0) {
      rest.Reset();
      continue;
    }
    if (rest.Due()) {
      if (stopped()) return reason();
      if (deadline != Deadline::max() && std::chrono::steady_clock::now() > deadline) {
        return absl::DeadlineExceededError("");
      }
    }
    rest.Take(patience());
  }
}

}  // namespace weft::collective
