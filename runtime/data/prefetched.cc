#include "runtime/data/prefetched.h"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace weft::data {
namespace {

struct Place {
  int64_t step = -1;  // none
  int64_t micro_batch = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

class Field : public executor::BatchField {
 public:
  Field(std::unique_ptr<executor::BatchField> field, int64_t bytes, int64_t micro_batches)
      : field_(std::move(field)), micro_batches_(micro_batches), ahead_(bytes), thread_([this] { Run(); }) {}

  ~Field() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  absl::Status Fill(int64_t step, int64_t micro_batch, void* tile) override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !wanted_; });
    // Between orders the thread touches nothing.
    absl::Status status;
    if (place_ == Place{step, micro_batch}) {
      status = status_;
      if (status.ok()) std::memcpy(tile, ahead_.data(), ahead_.size());
    } else {
      status = field_->Fill(step, micro_batch, tile);
    }
    place_ = micro_batch + 1 < micro_batches_ ? Place{step, micro_batch + 1} : Place{step + 1, 0};
    wanted_ = status.ok();
    if (!wanted_) place_ = {};
    lock.unlock();
    changed_.notify_all();
    return status;
  }

 private:
  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return wanted_ || ended_; });
      if (ended_) return;
      const Place place = place_;
      lock.unlock();
      absl::Status status = field_->Fill(place.step, place.micro_batch, ahead_.data());
      lock.lock();
      status_ = std::move(status);
      wanted_ = false;
      changed_.notify_all();
    }
  }

  const std::unique_ptr<executor::BatchField> field_;
  const int64_t micro_batches_;
  std::vector<char> ahead_;  // the thread's while `wanted_`
  std::mutex mutex_;
  std::condition_variable changed_;
  Place place_;          // what is, or will be, in `ahead_`
  absl::Status status_;  // of filling it
  bool wanted_ = false;  // the thread is to fill it
  bool ended_ = false;
  std::thread thread_;  // begins when all above is there
};

}  // namespace

absl::StatusOr<std::unique_ptr<executor::BatchField>> Prefetched::Bind(const executor::Port& port) {
  absl::StatusOr<std::unique_ptr<executor::BatchField>> field = source_->Bind(port);
  if (!field.ok()) return field.status();
  return std::make_unique<Field>(*std::move(field), static_cast<int64_t>(port.spec.bytes()), micro_batches_);
}

}  // namespace weft::data
