#!/usr/bin/env python3
"""Training in float16: near float32, the same in every layout, and an end for a run that never makes a step."""
import sys

sys.path.insert(0, "tests/support")
from programs import TOKENS, ProgramTest, call, main, metrics, relative  # noqa: E402

# A scale with which no step is skipped: where gradients overflow depends on how they are summed, and so on the layout.
HALF = ("precision={compute: F16 loss_scale { initial: 64 }}",)
LAYOUTS = {
    "2x2": ("dist.data=2", "dist.tensor=2"),
    "pipeline 2": ("dist.pipeline=2",),
    "2 x 2 x 2, zero 1": ("dist={data: 2 tensor: 2 pipeline: 2}", "zero.stage=1"),
    "zero 2": ("dist.data=2", "zero.stage=2"),
    "zero 3": ("dist.data=4", "zero.stage=3"),
}


class Float16Test(ProgramTest):
    def run_lines(self, *overrides, steps=12):
        self.train(self.plan(*overrides), steps, "--metrics", self.path("m.jsonl"))
        return metrics(self.path("m.jsonl"))

    def test_is_near_float32(self):
        wide = self.run_lines(steps=40)
        self.assertNotIn("loss_scale", wide[0])
        half = self.run_lines(*HALF, steps=40)
        self.assertEqual(half[-1]["skipped_steps"], 0)
        differences = [relative(a["loss"], b["loss"]) for a, b in zip(half, wide)]
        self.assertEqual(len(differences), 40)
        self.assertLess(max(differences), 5e-4)
        self.assertGreater(max(differences), 1e-6)

    def test_finds_its_scale(self):
        lines = self.run_lines("precision.compute=F16", steps=40)
        self.assertEqual(lines[0]["loss_scale"], 32768)
        skipped = lines[-1]["skipped_steps"]
        self.assertEqual(lines[-1]["loss_scale"], 65536 / 2 ** skipped)
        self.assertLess(lines[-1]["loss"], lines[0]["loss"] - 0.5)

    def test_layouts_agree(self):
        # A sum that is added in another order moves last bits, which round activations the other way. A gradient of one
        # micro-batch is float16 itself, and the first step of Adam takes nothing of it but its sign: where it is nearly 0,
        # an element moves by 2 lr = 2e-3 to the other side. In the row of a frequent token one alone is 2e-5 of the loss.
        for batch, bound in (("batch={global: 8 micro: 4}", 5e-5), ("batch={global: 4 micro: 4}", 1e-4)):
            one = self.run_lines(*HALF, batch)
            for name, layout in LAYOUTS.items():
                with self.subTest(layout=name, batch=batch):
                    many = self.run_lines(*HALF, batch, *layout)
                    for a, b in zip(many, one):
                        self.assertLess(relative(a["loss"], b["loss"]), bound, b["step"])
                        self.assertEqual(a["loss_scale"], b["loss_scale"])

    def test_a_run_that_only_skips_ends(self):
        plan = self.plan("precision={compute: F16 loss_scale { initial: 1e30 min: 1e29 }}")
        run = (plan, "--data", TOKENS, "--steps", 40, "--threads", 1)
        result = call("weft-run", *run, "--metrics", self.path("m.jsonl"))
        self.assertEqual(result.status, 1, result.err)
        lines = metrics(self.path("m.jsonl"))
        self.assertEqual([line["skipped_steps"] for line in lines], [1, 2, 3, 4, 5])
        self.assertIn("step 5: expected finite gradients with the least loss scale, 1e+29 "
                      "(precision.loss_scale.min), got ", result.err)
        self.assertIn("after 5 skipped steps; nothing was saved (--debug-nan says which kernel made it, --allow-nonfinite goes on)", result.err)
        self.assertIn("  scale 5e+29  1 skipped  ", result.err)
        result = call("weft-run", *run, "--allow-nonfinite", "--quiet", "--metrics", self.path("m.jsonl"))
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual(metrics(self.path("m.jsonl"))[-1]["skipped_steps"], 40)

    def test_goes_on_from_another_precision(self):
        """Four steps in float32, four in float16, four in float32 again."""
        half = self.plan(*HALF)
        for stop, plan in ((4, self.plan()), (8, half), (12, self.plan())):
            self.train(plan, stop, "--checkpoint-dir", self.path("parts"), "--resume", "--metrics",
                       self.path("parts.jsonl"))
        parts = metrics(self.path("parts.jsonl"))
        self.assertEqual([line.get("loss_scale") for line in parts], [None] * 4 + [64] * 4 + [None] * 4)
        for a, b in zip(parts, self.run_lines()):
            self.assertLess(relative(a["loss"], b["loss"]), 1e-4, b["step"])

    def test_tf32_is_of_cuda(self):
        note = "precision.float32: cpu has no TF32: contractions read float32 as it is\n"
        result = self.run_ok("weft-compile", "tests/oracle/tiny.job", "precision.float32=TF32", "-o", self.path("a.plan"))
        self.assertIn(note, result.out)
        cuda = self.run_ok("weft-compile", "tests/oracle/tiny.job", "precision.float32=TF32", "cluster.device.kind=cuda",
                           *(f"cluster.{key}=1e12" for key in ("device.contraction_flops", "device.other_flops",
                                                               "device.memory_bytes_s", "node.link_bytes_s",
                                                               "network.link_bytes_s")),
                           "cluster.device.launch_s=1e-6", "cluster.node.latency_s=1e-6",
                           "cluster.network.latency_s=1e-6", "--stop-after=localize", "-o", "-")
        products = [line for line in cuda.out.split("\n") if 'task.kernel "einsum"' in line]
        self.assertTrue(products and all("tf32 = 1" in line for line in products), products[:1])


if __name__ == "__main__":
    main()
