#include "runtime/device/deferred.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "runtime/device/host/device.h"

namespace weft::device {
namespace {

// Work in order, on a thread of its own.
class Queue {
 public:
  Queue() : thread_([this] { Loop(); }) {}
  ~Queue() {
    Drain();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void Add(std::function<void()> work) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      work_.push_back(std::move(work));
    }
    changed_.notify_all();
  }
  void Drain() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return work_.empty(); });
  }

 private:
  void Loop() {
    std::minstd_rand random(1);
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !work_.empty() || stop_; });
      if (work_.empty()) return;
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 50));
      work_.front()();  // references into a deque survive push_back
      lock.lock();
      work_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool stop_ = false;
  std::thread thread_;
};

class DeferredEvent : public Event {
 public:
  // The host notes a recording at once; the device reaches it later.
  int64_t Note() {
    std::lock_guard<std::mutex> lock(mutex_);
    return ++noted_;
  }
  int64_t noted() {
    std::lock_guard<std::mutex> lock(mutex_);
    return noted_;
  }
  void Reach(int64_t point) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      reached_ = point;
    }
    changed_.notify_all();
  }
  void Await(int64_t point) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= point; });
  }
  absl::Status Synchronize() override {
    Await(noted());
    return absl::OkStatus();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t noted_ = 0;
  int64_t reached_ = 0;
};

class DeferredStream : public Stream {
 public:
  explicit DeferredStream(std::unique_ptr<Stream> host) : host_(std::move(host)) {}
  ~DeferredStream() override {
    host_.reset();  // its tasks may still enqueue
  }
  void Submit(std::function<void()> task) override { host_->Submit(std::move(task)); }
  absl::Status Join() override {
    const absl::Status status = host_->Join();
    queue_.Drain();
    return status;
  }
  absl::Status Copy(void* to, const void* from, size_t bytes) override {
    queue_.Add([=] { std::memcpy(to, from, bytes); });
    return absl::OkStatus();
  }
  absl::Status Record(Event& event) override {
    auto* it = static_cast<DeferredEvent*>(&event);
    queue_.Add([it, point = it->Note()] { it->Reach(point); });
    return absl::OkStatus();
  }
  absl::Status Wait(Event& event) override {
    auto* it = static_cast<DeferredEvent*>(&event);
    queue_.Add([it, point = it->noted()] { it->Await(point); });
    return absl::OkStatus();
  }
  void* handle() const override { return &queue_; }

 private:
  mutable Queue queue_;
  std::unique_ptr<Stream> host_;
};

class DeferredDevice : public Device {
 public:
  std::string name() const override { return "deferred"; }
  bool host_addressable() const override { return false; }
  absl::StatusOr<std::unique_ptr<Arena>> AllocateArena(int64_t bytes) override { return host_->AllocateArena(bytes); }
  absl::StatusOr<std::unique_ptr<Arena>> AllocateHostMemory(int64_t bytes) override {
    return host_->AllocateHostMemory(bytes);
  }
  absl::StatusOr<std::unique_ptr<Stream>> CreateStream(const std::string& name) override {
    absl::StatusOr<std::unique_ptr<Stream>> host = host_->CreateStream(name);
    if (!host.ok()) return host.status();
    return std::make_unique<DeferredStream>(*std::move(host));
  }
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override { return std::make_unique<DeferredEvent>(); }

 private:
  const std::unique_ptr<Device> host_ = CreateHostDevice();
};

}  // namespace

std::unique_ptr<Device> CreateDeferredDevice() { return std::make_unique<DeferredDevice>(); }

void Enqueue(void* stream_handle, std::function<void()> work) {
  static_cast<Queue*>(stream_handle)->Add(std::move(work));
}

}  // namespace weft::device
