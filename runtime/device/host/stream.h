// A stream of the host is a thread: its tasks do the work themselves.
#ifndef WEFT_RUNTIME_DEVICE_HOST_STREAM_H_
#define WEFT_RUNTIME_DEVICE_HOST_STREAM_H_

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/device/device.h"

namespace weft::device {

// Holds nothing: tasks do their work themselves, so that every point is reached
// when it is recorded. Whoever waits for another stream's point has made sure
// that it is recorded, as on a GPU.
class HostEvent : public Event {
 public:
  absl::Status Synchronize() override { return absl::OkStatus(); }
};

class HostStream : public Stream {
 public:
  // kResourceExhausted if the system gives no thread.
  static absl::StatusOr<std::unique_ptr<Stream>> Create(const std::string& name);
  ~HostStream() override;

  void Submit(std::function<void()> task) override;
  absl::Status Join() override;
  absl::Status Copy(void* to, const void* from, size_t bytes) override;
  absl::Status Record(Event& event) override { return absl::OkStatus(); }
  absl::Status Wait(Event& event) override { return absl::OkStatus(); }
  void* handle() const override { return nullptr; }

 private:
  HostStream() = default;
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<std::function<void()>, kMaxTasks> tasks_;  // a ring
  size_t submitted_ = 0;
  size_t done_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_HOST_STREAM_H_
