"""The families that have GPU kernels; ops/cuda_kernels.cc lists them too."""

CUDA_FAMILIES = [
    "activation",
    "attention",
    "einsum",
    "elementwise",
    "embedding",
    "loss",
    "optimizer",
    "random",
    "reduce",
    "softmax",
]
