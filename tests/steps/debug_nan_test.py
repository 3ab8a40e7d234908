#!/usr/bin/env python3
"""--debug-nan: the kernel, tensor, rank and line that made the first number that is not finite."""
import random
import re
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import call, contents, main, raw_safetensors, saved_step, write_safetensors  # noqa: E402

WIDTH, RECORDS, BATCH = 8, 64, 8
MODEL = """
model.layer @block(%x) {
  %w = weft.parameter "w" [8, 8] init(normal 0.3) sbp(tensor = S(1))
  %v = weft.parameter "v" [8, 8] init(normal 0.3) sbp(tensor = S(0))
  %0 = weft.einsum "bi,io->bo" %x, %w
  %1 = weft.exp %0
  %2 = weft.einsum "bo,oi->bi" %1, %v
  %3 = weft.scale %2 by(1)
  model.return %3
}
model.graph @train(%x [batch, 8] f32, %labels [batch] i32) {
  %0 = model.repeat 2 "h" @block(%x)
  %loss, %count = weft.cross_entropy %0, %labels
  weft.minimize %loss per %count
}
"""
LINES = {word: 1 + MODEL[:MODEL.index(word)].count("\n") for word in ("weft.exp", "bi,io->bo", "bo,oi->bi")}
JOB = """model { file: "planted.mlir" } batch { global: 8 micro: 2 } optimizer { sgd { lr: 0.1 } } seed: 3"""
SAME = "step 1 again, from its start: the same numbers, bit for bit\nfirst not finite\n"
# Layouts in which every rank has one block or both, and which rank holds column 5 of h.1's w.
LAYOUTS = (((), 0), (("dist.tensor=2",), 1), (("dist.pipeline=2",), 1), (("dist.pipeline=2", "dist.tensor=2"), 3))


class DebugNanTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.write("planted.mlir", MODEL)
        self.job = self.write("planted.job", JOB)
        self.data = self.records()
        self.run_ok("weft-run", self.made(), "--data", self.data, "--steps", 0, "--quiet", "--checkpoint-dir",
                    self.path("start"))
        self.weights = raw_safetensors(self.path("start/step-00000000/model.safetensors"))

    def made(self, *overrides):
        plan = self.path("plan")
        self.run_ok("weft-compile", self.job, *overrides, "-o", plan, "--quiet")
        return plan

    def records(self, change=lambda values: None):
        rng = random.Random(1)
        values = [rng.gauss(0, 1) for _ in range(RECORDS * WIDTH)]
        change(values)
        labels = [rng.randrange(WIDTH) for _ in range(RECORDS)]
        path = self.path("data.safetensors")
        write_safetensors(path, {"x": ("F32", [RECORDS, WIDTH], struct.pack(f"<{len(values)}f", *values)),
                                 "labels": ("I32", [RECORDS], struct.pack(f"<{RECORDS}i", *labels))})
        return path

    def plant(self, name, change):
        """The path of weights in which `change` has changed a list of the elements of one."""
        dtype, shape, content = self.weights[name]
        values = list(struct.unpack("<64f", content))
        change(values)
        path = self.path("planted.safetensors")
        write_safetensors(path, {**self.weights, name: (dtype, shape, struct.pack("<64f", *values))})
        return path

    def search(self, plan, init, *flags, data=None):
        return call("weft-run", plan, "--data", data or self.data, "--steps", 3, "--quiet", "--debug-nan", "--init", init,
                    *flags)

    def test_names_kernel_tensor_rank_and_line(self):
        def large_column(values):
            for row in range(WIDTH):
                values[row * WIDTH + 5] = 1000.0 * (-1) ** (row + 1)

        init = self.plant("h.1.w", large_column)
        for layout, rank in LAYOUTS:
            with self.subTest(layout=layout):
                result = self.search(self.made(*layout, "graph.fusion=false"), init)
                self.assertEqual(result.status, 1)
                self.assertTrue(result.err.startswith(SAME), result.err)
                # What overflows is in column 5 of the first sample for which it does.
                self.assertRegex(result.err, r"\n  tensor  `h\.1/[^`]+`, f32\[2,[48]\].* [12] of its \d+ elements not "
                                             r"finite, the first at \[[01],5\]: inf\n")
                self.assertIn(f"\n  made by kernel `exp` at planted.mlir:{LINES['weft.exp']}:8 in h.1\n", result.err)
                self.assertRegex(result.err, rf"\n  on      rank {rank}\b.*, actor `h\.1\.forward` \(micro-batch 0\)\n")
                # Larger than the logarithm of the largest float32, 88.7.
                largest = re.search(r"\n  of      `h\.1/einsum[^`]*`, f32.* to ([\d.]+)\n", result.err)
                self.assertGreater(float(largest[1]), 88.8)
                self.assertTrue(result.err.endswith("\nweft-run: step 1: loss: expected a finite number, got nan; "
                                                    "nothing was saved\n"), result.err)

    def test_names_a_sum_of_ranks(self):
        # Rows 0 and 4 are on ranks of their own, whose parts are finite.
        def large_rows(values):
            values[0] = values[4 * WIDTH] = 3e38

        def flat(values):
            values[:] = [0.0] * len(values)

        self.weights["h.0.w"] = raw_safetensors(self.plant("h.0.w", flat))["h.0.w"]
        init = self.plant("h.0.v", large_rows)
        alone = self.search(self.made(), init).err
        self.assertIn(f"made by kernel `einsum` at planted.mlir:{LINES['bo,oi->bi']}:8 in h.0\n", alone)
        for layout in (("dist.tensor=2",), ("dist.tensor=2", "dist.pipeline=2")):
            with self.subTest(layout=layout):
                err = self.search(self.made(*layout), init).err
                # Summed where it is read, by the next product.
                self.assertIn(f"made by all_reduce over (tensor) at planted.mlir:{LINES['bi,io->bo']}:8 in h.", err)
                self.assertRegex(err, r"\n  of      `h\.0/einsum[^`]*`, f32\[2,8\] from \S+ to 3e\+38\n")
                self.assertIn("rank 0 (tensor=0), stage 0, actor `", err)
                self.assertIn("          and on rank 1 too\n", err)

    def test_names_an_update(self):
        # What reaches no output, but has a gradient that a step of 3e38 cannot take.
        def large(values):
            for row in range(WIDTH):
                values[row * WIDTH + 5] = -3.0

        def unused(values):
            values[5 * WIDTH:6 * WIDTH] = [0.0] * WIDTH

        self.weights["h.1.w"] = raw_safetensors(self.plant("h.1.w", large))["h.1.w"]
        init = self.plant("h.1.v", unused)
        result = self.search(self.made("optimizer.sgd.lr=3e38"), init)
        self.assertTrue(result.err.startswith(SAME), result.err)
        self.assertRegex(result.err, r"\n  tensor  `h\.1\.[vw]`, f32\[8,8\], \d+ of its 64 elements not finite")
        self.assertRegex(result.err, r"\n  made by kernel `[^`]*sgd[^`]*`")
        # Of all parameters, which one kernel may update, what is shown is of this one.
        name = re.search(r"\n  tensor  `(h\.\d\.[vw])`", result.err)[1]
        shown = re.findall(r"\n  of      `([^`]*)`, f32\[8,8\]", result.err)
        self.assertIn(name, shown)
        self.assertFalse([it for it in shown if re.match(r"h\.\d\.[vw]$", it) and it != name], result.err)
        self.assertRegex(result.err, r"\nweft-run: step 1: `h\.[01]\.[vw]`: expected finite numbers, got others; "
                                     r"nothing was saved\n$")

    def test_names_data(self):
        def no_number(values):
            values[:] = [float("nan")] * len(values)

        result = self.search(self.made("dist.data=2"), self.plant("h.0.w", lambda values: None),
                             data=self.records(no_number))
        self.assertRegex(result.err, r"\n  tensor  `input/x`, f32\[1,8\] of \[2,8\], 8 of its 8 elements not finite, "
                                     r"the first at \[0,0\]: nan\n  made by kernel `input`.*\n"
                                     r"          as --data has it\n  on      rank 0 \(data=0\)")

    def test_a_state_that_begins_so(self):
        init = self.plant("h.1.v", lambda values: values.__setitem__(9, float("inf")))
        result = self.search(self.made(), init)
        self.assertEqual((result.status, result.err),
                         (1, "weft-run: before step 1: `h.1.v`: expected finite numbers, got others\n"))

    def test_changes_no_number(self):
        plan = self.made("dist.tensor=2")
        for name, flags in (("with", ["--debug-nan"]), ("without", [])):
            self.run_ok("weft-run", plan, "--data", self.data, "--steps", 3, "--quiet", "--checkpoint-dir",
                        self.path(name), *flags)
        self.assertEqual(contents(self.path("with/latest")), b"step-00000003\n")
        self.assertEqual(saved_step(self.path("with/step-00000003")), saved_step(self.path("without/step-00000003")))

    def test_is_refused(self):
        self.refused("weft-run", self.made(), "--data", self.data, "--debug-nan", "--allow-nonfinite",
                     line="--debug-nan: expected without --allow-nonfinite (see --help)")


if __name__ == "__main__":
    main()
