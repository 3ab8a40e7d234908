"""The families that have GPU kernels; ops/cuda_kernels.cc lists them too."""

CUDA_FAMILIES = [
    "activation",
    "attention",
    "dropout",
    "einsum",
    "elementwise",
    "embedding",
    "layout",
    "loss",
    "norm",
    "optimizer",
    "random",
    "reduce",
    "softmax",
]
