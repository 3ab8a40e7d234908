#!/usr/bin/env python3
"""Training on shards of tokens, and on several sets of them by weight."""
import os
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import corpus, losses, main  # noqa: E402


def shorts(tokens):
    return struct.pack(f"<{len(tokens)}H", *tokens)


class BlendTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.tokens = corpus(40)
        os.mkdir(self.path("shards"))
        self.shards = self.path("shards")
        # The cuts are inside of sequences.
        for name, begin, end in (("2", 1000, 1777), ("1", 0, 1000), ("3", 1777, len(self.tokens))):
            self.write(f"shards/{name}.bin", shorts(self.tokens[begin:end]))
        self.one = self.write("one.bin", shorts(self.tokens))
        self.other = self.write("other.bin", shorts(self.tokens[::-1][:900]))

    def plan(self, *overrides):
        return super().plan("data.order=SHUFFLED", *overrides)

    def losses_of(self, data, steps, *flags, plan=None, name="m.jsonl"):
        path = self.path(name)
        self.train(plan or self.plan(), steps, "--metrics", path, *flags, data=data)
        return losses(path)

    def test_shards_are_one_file(self):
        self.assertEqual(self.losses_of(self.shards, 5), self.losses_of(self.one, 5))

    def test_every_layout_blends_the_same(self):
        data = f"0.75 {self.shards} 0.25 {self.other}"
        one = self.losses_of(data, 6)
        self.assertNotEqual(one, self.losses_of(self.shards, 6))
        self.assertEqual(self.losses_of(f"0.75 {self.one} 0.25 {self.other}", 6), one)
        for layout in (("dist.data=2", "dist.tensor=2"), ("batch.micro=2",), ("batch.micro=1",)):
            for got, expected in zip(self.losses_of(data, 6, plan=self.plan(*layout)), one):
                self.assertAlmostEqual(got, expected, delta=1e-4)

    def test_a_resumed_run_is_the_same_run(self):
        data, runs = f"0.75 {self.shards} 0.25 {self.other}", self.path("runs")
        whole = self.losses_of(data, 7)
        self.losses_of(data, 3, "--checkpoint-dir", runs, name="halves.jsonl")
        resumed = self.losses_of(data, 7, "--checkpoint-dir", runs, "--resume", name="halves.jsonl",
                                 plan=self.plan("dist.data=2", "batch.micro=2"))
        self.assertEqual(len(resumed), 7)
        for got, expected in zip(resumed, whole):
            self.assertAlmostEqual(got, expected, delta=1e-4)
        # Other weights are other data.
        other = f"0.7 {self.shards} 0.3 {self.other}"
        self.refused("weft-run", self.plan(), "--data", other, "--steps", 9, "--quiet", "--checkpoint-dir", runs, "--resume",
                     says=[f"{other}: expected the data of {runs}/step-00000007, {data} (3,461 tokens, uint16, hash "])

    def test_says_what_is_read(self):
        run = self.run_ok("weft-run", self.plan(), "--data", f"0.75 {self.shards} 0.25 {self.other}", "--steps", 10, "--threads", 1)
        self.assertIn(f"{self.shards}: 2,561 tokens, uint16, largest ", run.err)
        self.assertIn("; 40 sequences of 64, 0.75 epochs in 10 steps, 75 % of what is read\n", run.err)
        self.assertIn("; 14 sequences of 64, 0.71 epochs in 10 steps, 25 % of what is read\n", run.err)

    def test_bad_blends_and_shards(self):
        def refused(data, line):
            self.refused("weft-run", self.plan(), "--data", data, "--steps", 1, "--quiet", line=line)

        for data in (f"0.5 {self.one} {self.other}", f"0.5 {self.one} 0.5", f"1 {self.one} x {self.other}"):
            refused(data, "--data: expected weights and files in turn, as in `0.7 a.bin 0.3 b.bin`, got `" + data + "`")
        refused(f"1 {self.one} 0 {self.other}", "--data: expected weights of at least one in 10000, got 0")
        for weights, total in ((("0.5", "0.3"), "0.8"), (("3", "1"), "4")):
            refused(f"{weights[0]} {self.one} {weights[1]} {self.other}",
                    "--data: expected weights that sum to 1, got " + total)
        none = self.path("none.bin")
        refused(f"0.5 {self.one} 0.5 {none}", none + ": cannot open: No such file or directory")
        short = self.write("short.bin", shorts(self.tokens[:256]))
        refused(f"0.5 {self.one} 0.5 {short}", short + ": expected at least 257 tokens, for 4 sequences a step of 64 each and a "
                "label for the last, got 256")
        header = struct.pack("<3i", 20240801, 7, 100) + bytes(1012)
        self.write("shards/4.bin", header + struct.pack("<100I", *range(100)))
        refused(self.shards, f"{self.shards}/4.bin: expected uint16 tokens, as {self.shards}/1.bin has, got uint32")
        self.write("shards/4.bin", b"PAR1" + bytes(2000))
        refused(self.shards, f"{self.shards}/4.bin: expected tokens as raw U16, got a Parquet file")
        self.write("shards/4.bin", bytes(3))
        refused(self.shards, f"{self.shards}/4.bin: expected whole U16 tokens of 2 bytes, got 3 bytes")
        self.write("shards/4.bin", shorts([1, 2, 300]))
        refused(self.shards, f"{self.shards}/4.bin: expected tokens below 256, the rows of `wte.weight`, got 300 at 2")


if __name__ == "__main__":
    main()
