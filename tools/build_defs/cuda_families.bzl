"""The families that have GPU kernels; ops/cuda_kernels.cc lists them too."""

CUDA_FAMILIES = [
    "activation",
    "einsum",
    "elementwise",
    "embedding",
    "loss",
    "optimizer",
    "random",
    "reduce",
    "softmax",
]
