"""The families of operators. A line here is all that a new folder of ops/ needs to be known: the dialect, the kernels of
the CPU and of GPUs, the tests of both and the reference follow it. `ops/families.inc` is the list of those with kernels
by hand for C++."""

# The folder, which is also the stem of what registers it, and its title in the reference.
FAMILIES = {
    "activation": "Activations",
    "attention": "Attention",
    "batch_norm": "Batch normalisation",
    "constant": "Constants",
    "dropout": "Dropout",
    "einsum": "Contractions",
    "elementwise": "Element-wise",
    "embedding": "Embedding",
    "gather": "Rows by number",
    "layout": "Layout",
    "logic": "Comparisons and choices",
    "loss": "Losses",
    "norm": "Normalisations",
    "optimizer": "Optimizers",
    "padding": "Padding",
    "random": "Random tensors",
    "reduce": "Reductions",
    "rope": "Rotary positions",
    "scan": "Scans",
    "softmax": "Softmax",
    "sort": "Sorting",
    "window": "Sliding windows",
}

# Of these, the ones whose operators say their computation (cells.cc).
DESCRIBED = [
    "activation",
    "dropout",
    "elementwise",
    "layout",
    "logic",
    "norm",
    "optimizer",
    "reduce",
    "softmax",
]

# Of these, the ones without kernels by hand: all of theirs are generated.
GENERATED = [
    "activation",
    "dropout",
    "logic",
    "norm",
    "softmax",
]

# The ones that have kernels by hand.
WRITTEN = [family for family in FAMILIES if family not in GENERATED]
