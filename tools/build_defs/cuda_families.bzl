"""The families that have GPU kernels; ops/cuda_kernels.cc lists them too."""

CUDA_FAMILIES = [
    "elementwise",
]
