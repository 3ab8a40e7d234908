#!/usr/bin/env python3
"""Pipelines that cannot be: stages, cuts and schedules."""
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import JOB, call, main  # noqa: E402

LAYERS = "wte, h.0, h.1, ln_f"  # of the job's model

# Overrides that the job itself refuses -> the error behind its path.
JOBS = [
    (["dist.pipeline=-2"], "dist.pipeline: expected 1 or more, got -2"),
    (["dist.pipeline=65"],
     "dist: expected at most 64 ranks on the local machine, got pipeline 65"),
    (["dist.pipeline=9999999"], "dist.pipeline: expected at most 1048576 ranks in all, got 9999999"),
    (["dist.pipeline=2", "batch.global=3"], "batch.global: expected at least batch.micro (4), got 3"),
    (["dist.pipeline=2", "dist.data=4", "batch.micro=2"],
     "batch.micro: expected at least dist.data (4), which splits each micro-batch, got 2"),
    (["dist.pipeline=2", "pipeline.chunks=-1"], "pipeline.chunks: expected 1 to 1024, got -1"),
    (["dist.pipeline=2", "pipeline={stages: {data: 2}}"],
     "pipeline.stages: expected 2, one a stage of dist.pipeline, got 1"),
    (["pipeline={stages: {data: 2} stages: {}}"],
     "dist.pipeline: expected 2 or more stages, which alone have pipeline.stages, got 1"),
    (["pipeline.schedule=ZERO_BUBBLE"],
     "dist.pipeline: expected 2 or more stages, which alone have pipeline.schedule ZERO_BUBBLE, got 1"),
    (["pipeline.cuts=h.1"], "dist.pipeline: expected 2 or more stages, which alone have pipeline.cuts, got 1"),
    (["dist.pipeline=2", "pipeline={stages: {} stages: {pipeline: 2}}"],
     "pipeline.stages[1].pipeline: expected none, as a stage is not cut again, got 2"),
    (["dist.pipeline=2", "pipeline={stages: {data: 5} stages: {}}"],
     "pipeline.stages[0].data: expected at most batch.micro (4), got 5"),
    (["dist.pipeline=2", "pipeline={stages: {tensor: -1} stages: {}}"],
     "pipeline.stages[0].tensor: expected 1 or more, got -1"),
    (["dist.pipeline=2", "pipeline={stages: {tensor: 64} stages: {}}"],
     "pipeline.stages: expected at most 64 ranks on the local machine, got 65"),
]

# Overrides that no plan can be made of -> the error behind its place in the model file.
MODELS = [
    (["dist.pipeline=6"],
     f"dist.pipeline: expected at most 4 stages, as the model may be cut into {LAYERS}, got 6"),
    (["dist.pipeline=2", "pipeline={schedule: INTERLEAVED chunks: 4}"],
     f"pipeline.chunks: expected at most 4 chunks, as the model may be cut into {LAYERS}, got 2 x 4"),
    # Chunks that a schedule does not have.
    (["dist.pipeline=2", "pipeline={chunks: 2}"], "pipeline.chunks of ONE_F_ONE_B: expected 1, got 2"),
    (["dist.pipeline=2", "pipeline={schedule: GPIPE chunks: 2}"], "pipeline.chunks of GPIPE: expected 1, got 2"),
    (["dist.pipeline=2", "pipeline={schedule: INTERLEAVED chunks: 1}"],
     "pipeline.chunks of INTERLEAVED: expected 2 or more, got 1"),
    (["dist.pipeline=2", "pipeline={schedule: ZERO_BUBBLE chunks: 2}"],
     "pipeline.chunks of ZERO_BUBBLE form H1: expected 1, got 2"),
    (["dist.pipeline=2", "pipeline={schedule: ZERO_BUBBLE form: V chunks: 1}"],
     "pipeline.chunks of ZERO_BUBBLE form V: expected 2, got 1"),
    # Cuts.
    (["dist.pipeline=2", "pipeline.cuts=h.1.attn"],
     f"pipeline.cuts: expected a layer, one of {LAYERS}, got h.1.attn, which is inside h.1"),
    (["dist.pipeline=2", "pipeline.cuts=h.7"], f"pipeline.cuts: expected a layer, one of {LAYERS}, got h.7"),
    (["dist.pipeline=2", "pipeline.cuts=wte"],
     "pipeline.cuts: expected layers in the order of the model, none the first, got wte after wte"),
    (["dist.pipeline=3", 'pipeline={cuts: ["h.1", "h.0"]}'],
     "pipeline.cuts: expected layers in the order of the model, none the first, got h.0 after h.1"),
    (["dist.pipeline=3", "pipeline.cuts=h.1"], "pipeline.cuts: expected 2 for 3 chunks, got 1"),
]

# Schedule files for two stages and two micro-batches -> the error; {file} is the file's path.
FILES = [
    ("F0 Q0\n", "{file}:1:4: expected F, B or W with a micro-batch, such as B3, or B3.1 of the second chunk, got Q0"),
    ("F0 F1 B0 B1\n", "{file}: expected 2 lines, one a stage, got 1"),
    ("F0 F1 B0 B1\n" * 3, "{file}:3:1: expected 2 lines, one a stage, got another"),
    ("", "{file}: expected 2 lines, one a stage, got 0"),
    ("F0 B0 F1 B1\nF0 B0 F1\n", "{file}:2:9: stage 1: expected B1, got the end"),
    ("F0 B0 F1 B1\nF0 B0 F1 B1 F2 B2\n", "{file}:2:13: stage 1: expected a micro-batch below 2, got F2"),
    ("F0 B0 F1 B1\nF0 F1 B0 B1\n",
     "{file}:1:4: stage 0: expected a unit that can run, got B0, which waits for B0 of stage 1; stage 1 waits at F1 for "
     "F1 of stage 0"),
    ("1F1B\n", "{file}:1:1: expected F, B or W with a micro-batch, such as B3, or B3.1 of the second chunk, got 1F1B"),
]

MODEL = """\
model.layer @block(%x) {
  %w = weft.parameter "weight" [8, 8] init(normal 0.02)
  %y = weft.einsum "bi,io->bo" %x, %w
  model.return %y
}
model.graph @f(%x [batch, 8] f32) {
  %0 = model.call @block "h.0.attn" (%x)
  model.stage 1
  %1 = model.call @block "h.0.mlp" (%0)
  %2 = model.call @block "h.2" (%1)
  weft.output "y" %2
}
"""


class PipelineTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.plan_path = self.write("earlier.plan", "the plan of before")

    def refused_at(self, overrides, place, text, job=JOB):
        """One error that begins with its place, then a look at the source, if any; nothing is written."""
        before = self.files()
        result = call("weft-compile", job, *overrides, "-o", self.plan_path)
        self.assertEqual(result.status, 2, result.err)
        self.assertEqual(result.out, "")
        first = result.err.splitlines()[0]
        self.assertTrue(first.startswith(place + ": error: "), first)
        self.assertTrue(first.endswith(text), first)
        self.assertEqual(result.err.count("error:"), 1, result.err)
        self.assertEqual(self.files(), before)

    def test_jobs(self):
        for overrides, line in JOBS:
            with self.subTest(overrides=overrides):
                self.refused("weft-compile", JOB, *overrides, "-o", self.plan_path, line=f"{JOB}: {line}")

    def test_models(self):
        for overrides, text in MODELS:
            with self.subTest(overrides=overrides):
                self.refused_at(overrides, "models/gpt2/gpt2.mlir:44:1", text)

    def test_words_that_are_no_schedule(self):
        for override, line in (
                ("pipeline.schedule=2F2B",
                 'pipeline.schedule: expected ONE_F_ONE_B, GPIPE, INTERLEAVED, ZERO_BUBBLE, got "2F2B"'),
                ("pipeline.form=W", 'pipeline.form: expected H1, V, got "W"')):
            with self.subTest(override=override):
                self.refused("weft-compile", JOB, "dist.pipeline=2", override, "-o", self.plan_path, line=line)

    def test_schedule_files(self):
        for content, text in FILES:
            with self.subTest(content=content):
                path = self.write("schedule.txt", content)
                self.refused_at(["dist.pipeline=2", "batch.micro=2", f"pipeline.schedule_file={path}"],
                                "models/gpt2/gpt2.mlir:44:1", text.replace("{file}", path))

    def test_schedule_files_that_are_none(self):
        for path in (self.path("none.txt"), self.folder):
            with self.subTest(path=path):
                self.refused_at(["dist.pipeline=2", f"pipeline.schedule_file={path}"], "models/gpt2/gpt2.mlir:44:1",
                                f"pipeline.schedule_file: {path}: expected a schedule file, found none")

    def test_schedule_files_without_end(self):
        self.refused_at(["dist.pipeline=2", "pipeline.schedule_file=/dev/zero"], "models/gpt2/gpt2.mlir:44:1",
                        "pipeline.schedule_file: /dev/zero: expected at most 16777216 bytes, got more")

    def test_stages_of_a_model_file(self):
        """What `model.stage` may not be, first where stages are asked for, then wherever."""
        job = self.write("m.job", 'model { file: "m.mlir" }\n')
        model = self.path("m.mlir")
        self.write("m.mlir", MODEL)
        self.run_ok("weft-compile", job, "-o", self.plan_path, "--quiet")
        self.refused_at(["dist.pipeline=2"], model + ":3:8", "model.stage: expected 1 before a layer, got 1 inside h.0",
                        job)
        self.write("m.mlir", MODEL.replace("h.0.mlp", "h.1"))
        self.run_ok("weft-compile", job, "dist.pipeline=2", "-o", self.plan_path, "--quiet")
        self.refused_at(["dist.pipeline=3"], model + ":6:1", "model.stage: expected the model to begin 3 stages, got 2",
                        job)
        self.write("m.mlir", MODEL.replace("stage 1", "stage 2"))
        self.refused_at([], model + ":8:3", "stage: expected 1, the next, got 2", job)


if __name__ == "__main__":
    main()
