// What a plan's target asks for: kernels, and a device.
#ifndef WEFT_TOOLS_RUN_TARGET_H_
#define WEFT_TOOLS_RUN_TARGET_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ops/abi/registry.h"
#include "runtime/device/cuda/cublaslt.h"
#include "runtime/device/cuda/cudnn.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/device.h"
#include "runtime/plan/plan.pb.h"
#include "tools/run/gpus.h"
#include "tools/run/processes.h"
#include "tools/run/request.h"

namespace weft::run {

struct Target {
  KernelRegistry kernels, host_kernels;          // the second of what the host does beside a GPU
  std::unique_ptr<cuda::Driver> driver;          // null on the host
  std::unique_ptr<cuda::lt::CublasLt> cublaslt;  // null on the host, or if there is none
  std::unique_ptr<cuda::dnn::Cudnn> cudnn;       // null on the host, or if there is none
  std::unique_ptr<device::Device> device;        // null: the host
  NcclRank nccl;                                 // of several processes with a GPU each
  std::string found;                             // what there is, for people; on the host what is missed, or ""
};

// Of a plan for cuda all ranks of a lone process run on GPU 0; several processes have
// a GPU each, by their number on the host. kUnavailable if there is no driver or, for
// several, no NCCL; kInvalidArgument if two would have one GPU. All processes come.
// `note` gets lines for people while the target is used; it outlives the target.
absl::StatusOr<std::unique_ptr<Target>> OpenTarget(const plan::Plan& plan, const Request& request, Processes& processes,
                                                   std::function<void(const std::string&)> note);

// The text of --devices: this machine's cores, GPUs, and the libraries for both, or why it has none.
std::string DescribeDevices(const Request& request);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_TARGET_H_
