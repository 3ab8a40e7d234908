#include "runtime/device/host/device.h"

#include "runtime/device/host/arena.h"
#include "runtime/device/host/stream.h"

namespace weft::device {
namespace {

class HostDevice : public Device {
 public:
  std::string name() const override { return "cpu"; }
  bool host_addressable() const override { return true; }
  absl::StatusOr<std::unique_ptr<Arena>> AllocateArena(int64_t bytes) override {
    return HostArena::Create(bytes, promises_);
  }
  absl::StatusOr<std::unique_ptr<Arena>> AllocateHostMemory(int64_t bytes) override {
    return HostArena::Create(bytes, promises_);
  }
  absl::StatusOr<std::unique_ptr<Stream>> CreateStream(const std::string& name) override {
    return HostStream::Create(name);
  }
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override { return std::make_unique<HostEvent>(); }

 private:
  Promises promises_;
};

}  // namespace

std::unique_ptr<Device> CreateHostDevice() { return std::make_unique<HostDevice>(); }

}  // namespace weft::device
