// The CPU as a device.
#ifndef WEFT_RUNTIME_DEVICE_HOST_DEVICE_H_
#define WEFT_RUNTIME_DEVICE_HOST_DEVICE_H_

#include <memory>

#include "runtime/device/device.h"

namespace weft::device {

std::unique_ptr<Device> CreateHostDevice();

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_HOST_DEVICE_H_
