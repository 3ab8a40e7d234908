// Memory of the host that this process can still take.
#ifndef WEFT_RUNTIME_DEVICE_HOST_AVAILABLE_H_
#define WEFT_RUNTIME_DEVICE_HOST_AVAILABLE_H_

#include <cstdint>
#include <string>

namespace weft::device {

// In bytes, without swapping: what the kernel calls available, or less where a control group of this process, or one
// that it lies in, has a limit (`memory.max` of version 2, `memory.limit_in_bytes` of version 1). Pages of files that a
// group holds are given back as it needs them, and count as free. -1: not known. `root`: in front of /proc and /sys, of
// tests.
int64_t AvailableBytes(const std::string& root);
int64_t AvailableBytes();

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_HOST_AVAILABLE_H_
