// The host with arenas that end at a page which nobody may touch, and that are full
// of garbage whenever a step begins.
#ifndef WEFT_TESTS_PLANS_GUARDED_DEVICE_H_
#define WEFT_TESTS_PLANS_GUARDED_DEVICE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/device/device.h"

namespace weft::plan {

class GuardedDevice : public device::Device {
 public:
  static constexpr char kGarbage = static_cast<char>(0xa5);

  GuardedDevice();
  std::string name() const override { return "cpu"; }
  bool host_addressable() const override { return true; }
  absl::StatusOr<std::unique_ptr<device::Arena>> AllocateArena(int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<device::Arena>> AllocateHostMemory(int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<device::Stream>> CreateStream(const std::string& name) override;
  absl::StatusOr<std::unique_ptr<device::Event>> CreateEvent() override { return host_->CreateEvent(); }

  // The arena of a rank, once the rank has made a stream; null before.
  device::Arena* ArenaOf(int rank);

 private:
  const std::unique_ptr<device::Device> host_;
  std::mutex mutex_;
  // A rank makes its arena and then its streams, on one thread.
  std::map<std::thread::id, device::Arena*> made_;
  std::map<int, device::Arena*> arenas_;
};

}  // namespace weft::plan

#endif  // WEFT_TESTS_PLANS_GUARDED_DEVICE_H_
