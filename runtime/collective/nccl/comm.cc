#include "runtime/collective/nccl/comm.h"

#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::collective {
namespace {

// Groups that are told apart while they run; the last place stands for all later ones.
constexpr size_t kFlights = 16;
// How long an orderly end may take before it is an abort.
constexpr std::chrono::seconds kUntilEnded(5);

}  // namespace

std::string NcclName::Key() const { return absl::StrCat(title, " ", channel, " ", absl::StrJoin(ranks, ",")); }

NcclComm::NcclComm(const nccl::Nccl* nccl, Gpu* gpu, actor::Fault* fault, NcclName name, int member, int most_ctas)
    : nccl_(*nccl), gpu_(*gpu), fault_(*fault), name_(std::move(name)), member_(member), most_ctas_(most_ctas) {}

NcclComm::~NcclComm() {
  if (comm_ == nullptr) return;
  gpu_.Enter().IgnoreError();
  const auto end = std::chrono::steady_clock::now() + kUntilEnded;
  nccl::Result result = fault_.raised() ? nccl::kInvalidUsage : nccl_.CommFinalize(comm_);
  while (result == nccl::kInProgress && std::chrono::steady_clock::now() < end) {
    if (nccl_.CommGetAsyncError(comm_, &result) != nccl::kSuccess) break;
    std::this_thread::yield();
  }
  result == nccl::kSuccess ? nccl_.CommDestroy(comm_) : nccl_.CommAbort(comm_);
}

std::string NcclComm::Where(const char* call) const { return absl::StrCat(name_.title, ": ", call); }

// NCCL says kInProgress and goes on by itself; its work is in the stream when it
// says another thing.
absl::Status NcclComm::Settle(const char* call, nccl::Result result) const {
  while (true) {
    if (fault_.raised()) return fault_.status();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (comm_ == nullptr) return absl::CancelledError(Where("aborted"));
      if (result == nccl::kInProgress) {
        const nccl::Result asked = nccl_.CommGetAsyncError(comm_, &result);
        if (asked != nccl::kSuccess) result = asked;
      }
      if (result == nccl::kSuccess) return absl::OkStatus();
      if (result != nccl::kInProgress) return nccl_.Check(result, Where(call), comm_);
    }
    std::this_thread::yield();
  }
}

absl::Status NcclComm::Connect(const nccl::UniqueId& id) {
  if (fault_.raised()) return fault_.status();
  absl::Status status = gpu_.Enter();
  if (!status.ok()) return status;
  for (size_t i = 0; i < kFlights; ++i) {
    absl::StatusOr<std::shared_ptr<void>> event = gpu_.CreateEvent();
    if (!event.ok()) return event.status();
    flights_.push_back({*std::move(event)});
  }
  nccl::Config config;
  config.max_ctas = most_ctas_;
  nccl::Result result = nccl::kSuccess;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    nccl::Comm made = nullptr;
    result = nccl_.CommInitRankConfig(&made, static_cast<int>(name_.ranks.size()), id, member_, &config);
    comm_ = made;
    if (made == nullptr) return nccl_.Check(result, Where("ncclCommInitRankConfig"), nullptr);
  }
  status = Settle("ncclCommInitRankConfig", result);
  if (status.ok()) connected_.store(true, std::memory_order_release);
  return status;
}

absl::Status NcclComm::Issue(const void* owner, Calls calls, void* stream) {
  if (fault_.raised()) return fault_.status();
  if (!connected()) return absl::FailedPreconditionError(Where("expected Connect() before it is used"));
  nccl::Result result = nccl::kSuccess;
  const char* call = "a call";
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (comm_ == nullptr) return absl::CancelledError(Where("aborted"));
    result = nccl_.GroupStart();
    if (result == nccl::kSuccess) {
      const nccl::Result called = calls(comm_);
      result = nccl_.GroupEnd();
      if (called != nccl::kSuccess) {
        result = called;
      } else {
        call = "ncclGroupEnd";
      }
    }
  }
  absl::Status status = Settle(call, result);
  return status.ok() ? Mark(owner, stream) : status;
}

absl::Status NcclComm::Mark(const void* owner, void* stream) {
  std::lock_guard<std::mutex> lock(flights_mutex_);
  if (count_ == kFlights) DropEnded();
  if (count_ < kFlights) ++count_;
  Flight& flight = flights_[(first_ + count_ - 1) % kFlights];
  flight.owner = owner;
  flight.number = ++issued_;
  return gpu_.Record(flight.event.get(), stream);
}

void NcclComm::DropEnded() const {
  while (count_ > 0) {
    const absl::StatusOr<bool> reached = gpu_.Reached(flights_[first_].event.get());
    if (!reached.ok() || !*reached) return;
    first_ = (first_ + 1) % kFlights;
    --count_;
  }
}

uint64_t NcclComm::Pending(const void* owner) const {
  std::lock_guard<std::mutex> lock(flights_mutex_);
  DropEnded();
  return count_ > 0 && flights_[first_].owner == owner ? flights_[first_].number : 0;
}

absl::Status NcclComm::Check() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (comm_ == nullptr || !connected()) return absl::OkStatus();
  nccl::Result error = nccl::kSuccess;
  const nccl::Result asked = nccl_.CommGetAsyncError(comm_, &error);
  if (asked != nccl::kSuccess) error = asked;
  return error == nccl::kInProgress ? absl::OkStatus() : nccl_.Check(error, name_.title, comm_);
}

nccl::Comm NcclComm::Release() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(comm_, nullptr);
}

}  // namespace weft::collective
