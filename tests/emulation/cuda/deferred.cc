#include "tests/emulation/cuda/deferred.h"

#include <cstring>

#include "runtime/device/host/device.h"
#include "tests/emulation/cuda/stream.h"

namespace weft::device {
namespace {

constexpr int kMostDelayUs = 50;

class DeferredEvent : public Event {
 public:
  cuda::EmulatedEvent& point() { return point_; }
  absl::Status Synchronize() override {
    point_.Await(point_.noted());
    return absl::OkStatus();
  }

 private:
  cuda::EmulatedEvent point_;
};

cuda::EmulatedEvent* PointOf(Event& event) { return &static_cast<DeferredEvent&>(event).point(); }

class DeferredStream : public Stream {
 public:
  explicit DeferredStream(std::unique_ptr<Stream> host) : host_(std::move(host)) {}
  ~DeferredStream() override {
    host_.reset();  // its tasks may still enqueue
    queue_.Drain();
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
    cuda::EmulatedEvent* const it = PointOf(event);
    queue_.Add([it, point = it->Note()] { it->Reach(point, 0); });
    return absl::OkStatus();
  }
  absl::Status Wait(Event& event) override {
    cuda::EmulatedEvent* const it = PointOf(event);
    queue_.Add([it, point = it->noted()] { it->Await(point); });
    return absl::OkStatus();
  }
  void* handle() const override { return &queue_; }

 private:
  mutable cuda::EmulatedStream queue_{1, kMostDelayUs};
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
  static_cast<cuda::EmulatedStream*>(stream_handle)->Add(std::move(work));
}

}  // namespace weft::device
