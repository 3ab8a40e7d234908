// What every device must do. An implementation instantiates the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Host, DeviceConformance, testing::Values(&CreateHostDevice));
//
// Memory is looked at through copies alone, so that it may be out of the host's reach.
#ifndef WEFT_RUNTIME_DEVICE_CONFORMANCE_H_
#define WEFT_RUNTIME_DEVICE_CONFORMANCE_H_

#include <memory>

#include "gtest/gtest.h"
#include "runtime/device/device.h"

namespace weft::device {

using CreateDevice = std::unique_ptr<Device> (*)();

class DeviceConformance : public testing::TestWithParam<CreateDevice> {
 protected:
  DeviceConformance() : device_(GetParam()()) {}

  std::unique_ptr<Stream> NewStream() { return *device_->CreateStream("test"); }
  std::unique_ptr<Arena> NewArena(int64_t bytes) { return *device_->AllocateArena(bytes); }
  std::unique_ptr<Arena> NewHostMemory(int64_t bytes) { return *device_->AllocateHostMemory(bytes); }

  std::unique_ptr<Device> device_;
};

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_CONFORMANCE_H_
