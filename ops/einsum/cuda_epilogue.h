// Epilogues of einsums as our own GPU kernels are told.
#ifndef WEFT_OPS_EINSUM_CUDA_EPILOGUE_H_
#define WEFT_OPS_EINSUM_CUDA_EPILOGUE_H_

#include "ops/abi/gpu_launch.h"
#include "ops/einsum/cuda_arguments.h"
#include "ops/einsum/epilogue.h"

namespace weft::einsum {

// All but the addresses.
EpilogueArguments EpilogueOf(const KernelSpec& spec, const Epilogue& epilogue);
// The addresses of an act.
void BindEpilogue(const Epilogue& epilogue, GpuInputs inputs, GpuOutputs outputs, EpilogueArguments& arguments);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CUDA_EPILOGUE_H_
