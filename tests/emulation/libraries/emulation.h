// What the emulated libraries of a process share: one driver with all kernels.
#ifndef WEFT_TESTS_EMULATION_LIBRARIES_EMULATION_H_
#define WEFT_TESTS_EMULATION_LIBRARIES_EMULATION_H_

#include <functional>

#include "tests/emulation/cuda/driver.h"

namespace weft::tests {

// Made when it is first asked for; never goes, as a library does not.
cuda::EmulatedDriver& TheDriver();

// Launches a kernel, and notes when it runs if a profiler has asked for that.
cuda::Result RecordLaunch(const char* name, cuda::Handle stream, const std::function<cuda::Result()>& launch);

}  // namespace weft::tests

#endif  // WEFT_TESTS_EMULATION_LIBRARIES_EMULATION_H_
