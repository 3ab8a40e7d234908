"""probe_plans: plans whose kernels are measured, compiled when the program is built and put into it."""

# A job and overrides, a plan each. All but the first two are there for their kernels: sizes, element types, and what the
# passes make of micro-batches, ZeRO, split backwards, dropout and unfused graphs. The first two are run as steps: they
# differ in nothing but layers, and are so small that what a step takes beside its kernels shows.
_GPT2 = "models/gpt2/tiny.job "
_LLAMA = "models/llama/tiny.job "  # norms, activations and rotations that GPT-2 lacks
_SMALL = _GPT2 + "model.set=hidden=64 model.set=seq=16 batch.global=2 batch.micro=2"
_WIDE = "model.set=hidden=768 model.set=vocab=8192 model.set=layers=1 model.set=seq=256 batch.global=4 batch.micro=4"
_WIDE_GPT2 = _GPT2 + _WIDE + " model.set=heads=12 model.set=positions=256"
_WIDE_LLAMA = _LLAMA + _WIDE + " model.set=heads=12 model.set=kv_heads=4 model.set=inner=2048"
_SETS = [
    _SMALL + " model.set=layers=1",
    _SMALL + " model.set=layers=4",
    _GPT2 + "model.set=hidden=256 model.set=seq=128 model.set=positions=128 batch.global=8 batch.micro=8",
    _GPT2,
    _GPT2 + "model.set=hidden=384 model.set=heads=6 batch.global=4 batch.micro=4 model.set=layers=1",
    _WIDE_GPT2,
    _WIDE_GPT2 + " precision.compute=BF16",
    _GPT2 + "precision.compute=BF16",
    _GPT2 + "precision.compute=F16",
    _GPT2 + "batch.global=128",
    _GPT2 + "dist.data=2 dist.tensor=2 zero.stage=3 recompute.policy=FULL model.set=dropout=0.1",
    _GPT2 + "dist.tensor=2 precision.compute=BF16 zero.stage=1",
    _GPT2 + "dist.pipeline=2 pipeline.schedule=ZERO_BUBBLE batch.micro=8",
    _GPT2 + "graph.fusion=false model.set=dropout=0.1",
    _GPT2 + "graph.fusion=false precision.compute=BF16",
    _LLAMA,
    _LLAMA + "precision.compute=BF16",
    _WIDE_LLAMA,
    _WIDE_LLAMA + " precision.compute=BF16",
]

# A GPU's kernels are long enough to be seen where they are those of real models: one layer of each, with its head.
_LARGE = " model.set=layers=1 precision.compute=BF16"
_124M = "models/gpt2/124m.job model.set=dropout=0.0 batch.micro=8"
GPU_SETS = _SETS + [
    _124M + " batch.global=8" + _LARGE,
    _124M + " batch.global=16" + _LARGE,
    _124M + " batch.global=8 model.set=layers=1",
    _124M + " batch.global=8 graph.fusion=false" + _LARGE,
    "models/gpt2/1.5b.job model.set=dropout=0.0 batch.global=4 batch.micro=4" + _LARGE,
    "models/llama/8b.job model.set=hidden=2048 model.set=kv_heads=8 model.set=inner=8192 model.set=seq=1024" +
    " batch.global=4 batch.micro=4" + _LARGE,
]

# Those that are run as steps come as they are.
_STEPS = 3

def probe_plans(name, kind, keys = "", rest = "", sets = _SETS):
    """Declares :<name>, an object with the plan files one after another, from weft_probes_<kind> to weft_probes_<kind>_end.

    Args:
      name: of the library.
      kind: a word for the symbols.
      keys: overrides that all have.
      rest: overrides of those that are not run as steps.
      sets: the job and the overrides of each plan.
    """
    compiler = "//tools/compile:weft-compile"
    blob = name + ".plans"
    native.genrule(
        name = name + "_gen",
        srcs = ["//models", "//tools/gpu_check:any_gpu.cluster", compiler],
        outs = [blob, name + ".S"],
        cmd = "\n".join(
            ["set -e", "plan=$$(mktemp)", "out=$(location %s)" % blob, "> $$out"] +
            [
                "$(location %s) %s %s %s -o $$plan --quiet && cat $$plan >> $$out" %
                (compiler, set, keys, "" if i < _STEPS else rest)
                for i, set in enumerate(sets)
            ] +
            [
                "rm -f $$plan",
                "cat > $(location %s.S) <<END" % name,
                # The compiler does not tell Bazel of files that .incbin reads: the text changes with them.
                "/* $$(sha256sum < $$out) */",
                ".section .rodata",
                ".balign 64",
                ".globl weft_probes_%s, weft_probes_%s_end" % (kind, kind),
                "weft_probes_%s:" % kind,
                ".incbin \"$$out\"",
                "weft_probes_%s_end:" % kind,
                ".byte 0",
                ".section .note.GNU-stack,\"\",@progbits",
                "END",
            ],
        ),
    )
    native.cc_library(
        name = name,
        srcs = [name + ".S"],
        textual_hdrs = [blob],
        # The compiler links MLIR, which no sanitizer watches.
        tags = ["no-sanitizer"],
    )
