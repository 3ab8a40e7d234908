// What a plan's target asks for: kernels, and a device.
#ifndef WEFT_TOOLS_RUN_TARGET_H_
#define WEFT_TOOLS_RUN_TARGET_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ops/abi/registry.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/device.h"
#include "runtime/plan/plan.pb.h"
#include "tools/run/processes.h"

namespace weft::run {

struct Target {
  KernelRegistry kernels;
  std::unique_ptr<cuda::Driver> driver;    // null on the host
  std::unique_ptr<device::Device> device;  // null: the host
  std::string found;                       // what there is, for people; "" on the host
};

// Of a plan for cuda all ranks of this process run on GPU 0. kUnavailable if there
// is no driver, kUnimplemented for several processes.
absl::StatusOr<std::unique_ptr<Target>> OpenTarget(const plan::Plan& plan, const Processes& processes);

// The text of --devices: this machine's cores and GPUs, or why it has none.
std::string DescribeDevices();

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_TARGET_H_
