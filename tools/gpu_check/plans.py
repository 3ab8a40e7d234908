"""The plans of a pack: what is compiled for which check. A name is that of a file in the pack's folder `plans`."""

ORACLE = "tests/oracle/tiny.job"
GPU = ["cluster={root}/tools/gpu_check/any_gpu.cluster"]
MICRO = ["batch.micro=2"]

# Of the oracle's model, in two micro-batches, as virtual ranks of one GPU.
LAYOUTS = {
    "one": [],
    "data-2": ["dist.data=2"],
    "tensor-2": ["dist.tensor=2"],
    "context-2": ["dist.context=2"],
    "pipeline-2": ["dist.pipeline=2"],
    "zero-1": ["dist.data=2", "zero.stage=1"],
    "zero-2": ["dist.data=2", "zero.stage=2"],
    "zero-3": ["dist.data=2", "zero.stage=3"],
    "data-2-tensor-2-pipeline-2": ["dist.data=2", "dist.tensor=2", "dist.pipeline=2"],
}

# What is trained on text.
DRY = ["model.set=dropout=0.0"]
TRAINED = ["data.format=TEXT"] + DRY
# Llama 3.2 1B, on sequences of 1,024.
LLAMA_1B = ["model.file=llama_tied.mlir", "model.graph=train_tied",
            *("model.set=" + it for it in ("layers=16", "hidden=2048", "heads=32", "kv_heads=8", "inner=8192", "seq=1024"))]

# Models of the speed tables: their job, its overrides, the micro-batches of a step, and the sizes of a micro-batch of which the
# largest that fits is found. The first is that of the table. The tiny one measures nothing: with it the checks themselves are
# checked.
SPEED = {
    "tiny": (ORACLE, DRY, 1, [4, 2]),
    "345m": ("models/gpt2/345m.job", DRY, 1, [6, 48, 40, 32, 24, 16, 12, 8]),
    "124m": ("models/gpt2/124m.job", DRY, 1, [8, 96, 64, 48, 32, 16]),
    "124m-4x8": ("models/gpt2/124m.job", DRY, 4, [8]),
    "llama-1b": ("models/llama/8b.job", LLAMA_1B, 1, [4, 32, 24, 16, 8]),
    "1.5b": ("models/gpt2/1.5b.job", DRY, 1, [4, 24, 16, 12, 8]),
}
# 200 steps of real text: 4 sequences of 1,024 bytes a step, a learning rate that warms up within them.
CURVE = TRAINED + ["batch={{global: 4 micro: 4}}", "optimizer.schedule={{warmup_cosine {{warmup: 50 total: 200 min_ratio: 0.1}}}}"]


def batch(sequences, micro_batches=1):
    return ["batch={{global: %d micro: %d}}" % (micro_batches * sequences, sequences)]


def all_plans():
    """{name: (job, overrides)}; `{root}` in an override is the checkout."""
    plans = {"oracle-cpu": (ORACLE, []), "oracle": (ORACLE, GPU),
             "dropout": (ORACLE, GPU + MICRO + ["model.set=dropout=0.1", "precision.compute=BF16"]),
             "misfit": ("models/gpt2/1.5b.job", GPU + TRAINED + batch(1024))}
    for name, layout in LAYOUTS.items():
        plans["ranks-" + name] = (ORACLE, GPU + MICRO + layout)
    plans["ranks-cpu"] = (ORACLE, MICRO + LAYOUTS["data-2-tensor-2-pipeline-2"])
    for precision in ("F32", "BF16"):
        plans["curve-" + precision] = ("models/gpt2/124m.job", GPU + CURVE + ["precision.compute=" + precision])
    for model, (job, overrides, micro_batches, sizes) in SPEED.items():
        for size in sizes:
            plans["speed-%s-%d" % (model, size)] = (job, GPU + ["data.format=TEXT", "precision.compute=BF16"] + overrides +
                                                    batch(size, micro_batches))
    return {name: (job, [it.replace("{{", "{").replace("}}", "}") for it in overrides])
            for name, (job, overrides) in plans.items()}
