// The kernels that the runtime itself provides: `input` and `output`.
#ifndef WEFT_RUNTIME_EXECUTOR_PORT_KERNELS_H_
#define WEFT_RUNTIME_EXECUTOR_PORT_KERNELS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "runtime/device/device.h"
#include "runtime/executor/ports.h"

namespace weft::executor {

// The field of `source` for an input. Of a tile that reaches beyond its tensor, the source is asked for what is inside
// alone; beyond it there are zeros.
absl::StatusOr<std::unique_ptr<BatchField>> BindInput(BatchSource& source, const Port& port);

// Fills its one output from `field`; on a device that the host cannot address,
// through host memory and an asynchronous copy.
absl::StatusOr<std::unique_ptr<Kernel>> CreateInputKernel(std::unique_ptr<BatchField> field, const Port& port,
                                                          device::Device& device, device::Stream& stream);

// Gives its one input to `field`; on a device that the host cannot address,
// the host waits for the stream.
absl::StatusOr<std::unique_ptr<Kernel>> CreateOutputKernel(std::unique_ptr<ResultField> field, const Port& port,
                                                           device::Device& device, device::Stream& stream);

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_PORT_KERNELS_H_
