"""Pipelines for tests: the schedules, and runs of tests/pipeline/deep.job cut into stages."""
import os
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, losses, raw_safetensors, relative  # noqa: E402

DEEP = "tests/pipeline/deep.job"
GLOBAL = 16  # sequences a step
STEPS = 6
SCHEDULES = {
    "gpipe": ("pipeline.schedule=GPIPE",),
    "1f1b": ("pipeline.schedule=ONE_F_ONE_B",),
    "interleaved": ("pipeline={schedule: INTERLEAVED chunks: 2}",),
    "h1": ("pipeline={schedule: ZERO_BUBBLE form: H1}",),
    "v": ("pipeline={schedule: ZERO_BUBBLE form: V}",),
}


def order_in_waves(stages, micro_batches):
    """A schedule of no name: pairs of micro-batches go to the last stage and back, the next pair behind them."""
    waves = [range(first, first + 2) for first in range(0, micro_batches, 2)]
    line = [f"{kind}{i}" for wave in waves for kind in "FB" for i in wave]
    return "# pairs\n" + (" ".join(line) + "\n") * stages


def cut(stages, micro_batches, data=1, tensor=1):
    """The overrides of a mesh of so many stages and ranks a stage."""
    return (f"dist.pipeline={stages}", f"dist.data={data}", f"dist.tensor={tensor}",
            f"batch.micro={GLOBAL // micro_batches}")


def meshes():
    """(stages, data, tensor) of every mesh that fits eight ranks."""
    return [(stages, data, tensor) for stages in (2, 4) for data in (1, 2) for tensor in (1, 2)
            if stages * data * tensor <= 8]


class PipelineTest(ProgramTest):
    runs = {}

    def outcome(self, *overrides, steps=STEPS):
        """The losses of a run and the parameters at its end, {name: (dtype, shape, bytes)}; run once a script."""
        key = (overrides, steps)
        if key not in self.runs:
            name = f"run{len(self.runs)}"
            self.train(self.plan(*overrides, job=DEEP), steps, "--metrics", self.path(name + ".jsonl"),
                       "--checkpoint-dir", self.path(name))
            saved = f"{self.path(name)}/step-{steps:08d}"
            tensors = {}
            for file in sorted(os.listdir(saved)):
                if file.startswith("model") and file.endswith(".safetensors"):
                    tensors.update(raw_safetensors(f"{saved}/{file}"))
            self.runs[key] = losses(self.path(name + ".jsonl")), tensors
        return self.runs[key]

    def one_rank(self, micro_batches, steps=STEPS):
        return self.outcome(f"batch.micro={GLOBAL // micro_batches}", steps=steps)

    def compare(self, got, expected):
        """Losses within 2e-5, parameters within what that leaves."""
        (many, parameters), (one, wanted) = got, expected
        self.assertEqual(len(many), len(one))
        for step, (a, b) in enumerate(zip(many, one)):
            self.assertLess(relative(a, b), 2e-5, f"step {step}: {many} {one}")
        self.assertEqual(set(parameters), set(wanted))
        for name in wanted:
            self.near(name, parameters[name], wanted[name])

    def near(self, name, got, expected):
        (dtype, shape, a), (_, _, b) = got, expected
        self.assertEqual((got[0], got[1]), (expected[0], expected[1]), name)
        self.assertEqual(dtype, "F32")
        a, b = memoryview(a).cast("f"), memoryview(b).cast("f")
        worst = max(abs(x - y) for x, y in zip(a, b))
        self.assertLess(worst, 2e-5, name)
