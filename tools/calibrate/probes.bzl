"""probe_plans: plans whose kernels are measured, compiled when the program is built and put into it."""

# Overrides of models/gpt2/tiny.job, one set a plan. All but the first two are there for their kernels: sizes, element
# types, and what the passes make of micro-batches, ZeRO, split backwards, dropout and unfused graphs. The first two are
# run as steps: they differ in nothing but layers, and are so small that what a step takes beside its kernels shows.
_SMALL = "model.set=hidden=64 model.set=seq=16 batch.global=2 batch.micro=2"
_WIDE = "model.set=hidden=768 model.set=heads=12 model.set=vocab=8192 model.set=layers=1"
_SETS = [
    _SMALL + " model.set=layers=1",
    _SMALL + " model.set=layers=4",
    "",
    "model.set=hidden=256 model.set=seq=128 model.set=positions=128 batch.global=8 batch.micro=8",
    "model.set=hidden=384 model.set=heads=6 batch.global=4 batch.micro=4 model.set=layers=1",
    _WIDE + " model.set=seq=256 model.set=positions=256 batch.global=4 batch.micro=4",
    _WIDE + " model.set=seq=256 model.set=positions=256 batch.global=4 batch.micro=4 precision.compute=BF16",
    "precision.compute=BF16",
    "precision.compute=F16",
    "batch.global=128",
    "dist.data=2 dist.tensor=2 zero.stage=3 recompute.policy=FULL model.set=dropout=0.1",
    "dist.tensor=2 precision.compute=BF16 zero.stage=1",
    "dist.pipeline=2 pipeline.schedule=ZERO_BUBBLE batch.micro=8",
    "graph.fusion=false model.set=dropout=0.1",
    "graph.fusion=false precision.compute=BF16",
]

def probe_plans(name, kind, keys = "", sets = _SETS):
    """Declares :<name>, an object with the plan files one after another, from weft_probes_<kind> to weft_probes_<kind>_end.

    Args:
      name: of the library.
      kind: a word for the symbols.
      keys: overrides that all have.
      sets: those of each plan.
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
                "$(location %s) models/gpt2/tiny.job %s %s -o $$plan --quiet && cat $$plan >> $$out" % (compiler, set, keys)
                for set in sets
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
