// Einsums with an epilogue on the host.
#ifndef WEFT_OPS_EINSUM_CPU_EPILOGUE_H_
#define WEFT_OPS_EINSUM_CPU_EPILOGUE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/einsum/epilogue.h"

namespace weft::einsum {

// Gives the bits of the einsum that `product` makes, followed by the kernels that `epilogue` stands for.
absl::StatusOr<std::unique_ptr<Kernel>> CreateWithEpilogue(const KernelSpec& spec, const Epilogue& epilogue,
                                                           KernelFactory product);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_EPILOGUE_H_
