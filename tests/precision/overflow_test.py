#!/usr/bin/env python3
"""A token that one rank sees once, and whose row is beyond float16: the step is skipped, by all."""
import os
import struct
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, contents, corpus, main, metrics, raw_safetensors, relative, write_safetensors  # noqa: E402

JOB = "tests/precision/untied.job"
SEQ, GLOBAL, STEPS = 16, 8, 12
BAD_STEP, BAD_SEQUENCE = 5, 7  # of the step: the last one, which the last data rank reads
TOKEN = 255
LAYOUTS = {
    "data 2": ("dist.data=2",),
    "2x2": ("dist.data=2", "dist.tensor=2"),
    "pipeline 2": ("dist.pipeline=2",),
    "pipeline 2, data 2, zero 1": ("dist.pipeline=2", "dist.data=2", "zero.stage=1"),
    "pipeline in a v": ("dist.pipeline=2", "pipeline={schedule: ZERO_BUBBLE form: V}", "recompute.policy=FULL"),
    "zero 2": ("dist.data=4", "zero.stage=2"),
    "zero 3": ("dist.data=2", "zero.stage=3"),
}


class OverflowTest(ProgramTest):
    def setUp(self):
        super().setUp()
        text = bytearray(corpus(STEPS * GLOBAL, SEQ))
        self.assertNotIn(TOKEN, text)
        text[(BAD_STEP * GLOBAL + BAD_SEQUENCE) * SEQ + 3] = TOKEN
        self.data = self.write("corpus.txt", text)
        self.init = self.initial()

    def initial(self):
        """The initial parameters, with a row of the table that float16 has no number for."""
        self.train(self.plan(job=JOB), 0, "--checkpoint-dir", self.path("zero"), data=self.data)
        tensors = raw_safetensors(self.path("zero/step-00000000/model.safetensors"))
        dtype, shape, table = tensors["wte.weight"]
        row = shape[1] * 4
        table = table[:TOKEN * row] + struct.pack("<f", 1e6) * shape[1] + table[(TOKEN + 1) * row:]
        write_safetensors(self.path("init.safetensors"), {**tensors, "wte.weight": (dtype, shape, table)})
        return self.path("init.safetensors")

    def run_lines(self, name, layout, steps=STEPS, *flags):
        self.train(self.plan(*layout, job=JOB), steps, "--init", self.init, "--metrics", self.path(name + ".jsonl"),
                   "--checkpoint-dir", self.path(name), *flags, data=self.data)
        return metrics(self.path(name + ".jsonl"))

    def test_all_ranks_skip_the_step_that_one_cannot_do(self):
        one = self.run_lines("one", ())
        # Five steps grow the scale once; from the overflow on it takes four good ones again.
        self.assertEqual([line["loss_scale"] for line in one],
                         [1024] * 3 + [2048] * 2 + [1024] * 4 + [2048] * 3)
        self.assertEqual([line["skipped_steps"] for line in one], [0] * BAD_STEP + [1] * (STEPS - BAD_STEP))
        self.assertIsNone(one[BAD_STEP]["loss"])
        self.assertIsNone(one[BAD_STEP]["grad_norm"])
        for name, layout in LAYOUTS.items():
            with self.subTest(layout=name):
                many = self.run_lines(name.replace(" ", "-"), layout)
                self.assertEqual(len(many), STEPS)
                for a, b in zip(many, one):
                    step = b["step"]
                    self.assertEqual((a["loss_scale"], a["skipped_steps"]), (b["loss_scale"], b["skipped_steps"]), step)
                    if step == BAD_STEP + 1:
                        self.assertIsNone(a["loss"])
                    else:
                        self.assertLess(relative(a["loss"], b["loss"]), 5e-5, f"step {step}")

    def saved(self, name, step):
        folder = f"{self.path(name)}/step-{step:08d}"
        return {file: contents(f"{folder}/{file}") for file in sorted(os.listdir(folder))
                if file.endswith(".safetensors")}

    def test_a_skipped_step_changes_the_scale_alone(self):
        self.run_lines("every", ("dist.data=2",), BAD_STEP + 1, "--checkpoint-every", 1, "--checkpoint-keep", 9)
        before, after = self.saved("every", BAD_STEP), self.saved("every", BAD_STEP + 1)
        self.assertEqual(before["model.safetensors"], after["model.safetensors"])
        states = [raw_safetensors(f"{self.path('every')}/step-{step:08d}/optimizer.safetensors")
                  for step in (BAD_STEP, BAD_STEP + 1)]
        changed = {name for name in states[0] if states[0][name] != states[1][name]}
        self.assertEqual(changed, {"loss_scale", "loss_scale.good_steps", "loss_scale.skipped_steps"})
        self.assertTrue(any(name.startswith("adam_v.") for name in states[0]))

    def test_stopped_and_resumed_is_bit_identical(self):
        layout = ("dist.data=2", "zero.stage=1")
        whole = self.run_lines("whole", layout)
        for stop in (3, BAD_STEP, BAD_STEP + 1, 9, STEPS):
            flags = ("--init", self.init) if stop == 3 else ("--resume",)
            self.train(self.plan(*layout, job=JOB), stop, *flags, "--metrics", self.path("parts.jsonl"),
                       "--checkpoint-dir", self.path("parts"), data=self.data)
        parts = metrics(self.path("parts.jsonl"))
        for key in ("loss", "grad_norm", "lr", "loss_scale", "skipped_steps"):
            self.assertEqual([line[key] for line in parts], [line[key] for line in whole], key)
        self.assertEqual(self.saved("parts", STEPS), self.saved("whole", STEPS))


if __name__ == "__main__":
    main()
