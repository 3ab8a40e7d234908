#!/usr/bin/env python3
"""Graphs that do not train are functions: files in, files out, shards on the terminal."""
import re
import struct
import sys

sys.path.insert(0, "tests/support")
from programs import (JOB, WEIGHTS, ProgramTest, contents, corpus, main, read_safetensors,  # noqa: E402
                      write_safetensors)

BATCH, SEQUENCE, VOCAB = 4, 64, 256


class FunctionTest(ProgramTest):
    def logits(self, name, *layout):
        tokens = self.path("tokens.safetensors")
        write_safetensors(tokens, {"tokens": ("I32", [BATCH, SEQUENCE],
                                              struct.pack(f"<{BATCH * SEQUENCE}i", *corpus(BATCH)[:-1]))})
        out = self.path(name)
        self.run_ok("weft-run", self.plan("model.graph=logits", *layout), "--init", WEIGHTS, "--inputs", tokens,
                    "--outputs", out, "--quiet")
        tensors, _ = read_safetensors(out)
        self.assertEqual({key: (t.dtype, t.shape) for key, t in tensors.items()},
                         {"logits": ("F32", [BATCH, SEQUENCE, VOCAB])})
        return tensors["logits"].values

    def test_logits_do_not_depend_on_the_layout(self):
        one = self.logits("one", *())
        top = max(abs(value) for value in one)
        self.assertGreater(top, 0.1)
        for layout in (("dist.data=2", "dist.tensor=2"), ("dist.tensor=4",), ("dist.data=4",)):
            many = self.logits("many", *layout)
            error = max(abs(a - b) for a, b in zip(many, one))
            # Sums of 64 to 256 products in another order.
            self.assertLess(error, 256 * 2**-24 * top, layout)

    def test_the_same_call_gives_the_same_file(self):
        self.logits("one", "dist.data=2", "dist.tensor=2")
        self.logits("two", "dist.data=2", "dist.tensor=2")
        self.assertEqual(contents(self.path("one")), contents(self.path("two")))

    def noise(self, *flags):
        x = self.path("x.safetensors")
        write_safetensors(x, {"x": ("F32", [16, 8], struct.pack("<128f", *[1000.0 * i for i in range(128)]))})
        return self.run_ok("weft-run", self.plan(job="models/noise/noise.job"), "--inputs", x,
                           "--outputs", self.path("y.safetensors"), *flags)

    def test_show_shards_prints_the_part_of_each_rank(self):
        text = self.noise("--show-shards").out
        layout = "sbp (S(0), S(1)), placement cpu [[0, 1], [2, 3]]"
        self.assertIn("output `y`: global shape [16,8], " + layout, text)
        parts = re.split(r"^  rank (\d+): local shape \[8,4\] at \((\d+),(\d+)\) of \[16,8\], " + re.escape(layout) +
                         "\n", text, flags=re.MULTILINE)
        ranks = [tuple(int(part) for part in parts[i:i + 3]) for i in range(1, len(parts), 4)]
        self.assertEqual(ranks, [(0, 0, 0), (1, 0, 4), (2, 8, 0), (3, 8, 4)])
        y = read_safetensors(self.path("y.safetensors"))[0]["y"]
        self.assertEqual(y.shape, [16, 8])
        for index, (_, row, column) in enumerate(ranks):
            lines = [[float(word) for word in line.split()] for line in parts[4 * index + 4].strip().splitlines()]
            self.assertEqual([len(line) for line in lines], [4] * 8)
            for i, line in enumerate(lines):
                for j, value in enumerate(line):
                    self.assertLess(abs(value - y.values[(row + i) * 8 + column + j]), 2e-4 + 1e-6 * abs(value))

    def test_noise_is_that_of_one_device(self):
        self.noise("--quiet")
        y = read_safetensors(self.path("y.safetensors"))[0]["y"]
        noise = [value - 1000.0 * i for i, value in enumerate(y.values)]
        self.assertTrue(all(abs(value) < 6 for value in noise), noise)
        self.assertGreater(len(set(round(value) for value in noise)), 2)
        before = contents(self.path("y.safetensors"))
        self.noise("--quiet", "--seed", 1)  # the job's
        self.assertEqual(contents(self.path("y.safetensors")), before)
        self.noise("--quiet", "--seed", 2)
        self.assertNotEqual(contents(self.path("y.safetensors")), before)


if __name__ == "__main__":
    main()
