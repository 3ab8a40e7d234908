#!/usr/bin/env python3
"""Training on documents of tokens with an index, as Megatron-LM keeps them."""
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import contents, corpus, losses, main  # noqa: E402

LENGTHS = [100, 3, 250, 0, 77, 200, 64, 500]  # of the sequences; 1,194 tokens: 18 of 64 and a label
BOUNDS = [0, 1, 3, 5, 6, 8]


def index(lengths, bounds, code=8, width=2):
    places = [width * sum(lengths[:i]) for i in range(len(lengths))]
    return (b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, code, len(lengths), len(bounds)) +
            struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack(f"<{len(places)}q", *places) +
            struct.pack(f"<{len(bounds)}q", *bounds))


class DocumentsTest(FaultTest):
    def setUp(self):
        super().setUp()
        tokens = corpus(30)[:sum(LENGTHS)]
        self.bin = self.write("set.bin", struct.pack(f"<{len(tokens)}H", *tokens))
        self.idx = self.write("set.idx", index(LENGTHS, BOUNDS))

    def plan(self, *overrides):
        return super().plan("data.order=SHUFFLED", *overrides)

    def losses_of(self, plan, steps, *flags, data=None, name="m.jsonl"):
        path = self.path(name)
        self.train(plan, steps, "--metrics", path, *flags, data=data or self.bin)
        return losses(path)

    def test_every_layout_and_name_reads_the_same(self):
        one = self.losses_of(self.plan(), 6)
        self.assertGreater(len(set(one)), 5)
        for data in (self.idx, self.path("set")):
            self.assertEqual(self.losses_of(self.plan(), 6, data=data), one)
        for layout in (("dist.data=2", "dist.tensor=2"), ("batch.micro=2",)):
            for got, expected in zip(self.losses_of(self.plan(*layout), 6), one):
                self.assertAlmostEqual(got, expected, delta=1e-4)

    def test_in_the_order_of_the_file_it_is_the_tokens(self):
        plan = self.plan("data.order=SEQUENTIAL")
        raw = self.write("raw.bin", contents(self.bin))
        self.assertEqual(self.losses_of(plan, 4), self.losses_of(plan, 4, data=raw))
        self.assertNotEqual(self.losses_of(self.plan(), 4), self.losses_of(self.plan(), 4, data=raw))

    def test_a_resumed_run_is_the_same_run(self):
        whole = self.losses_of(self.plan(), 7)
        self.losses_of(self.plan(), 3, "--checkpoint-dir", self.path("runs"), name="halves.jsonl")
        resumed = self.losses_of(self.plan("dist.data=2", "dist.tensor=2"), 7, "--checkpoint-dir", self.path("runs"),
                                 "--resume", name="halves.jsonl")
        self.assertEqual(len(resumed), 7)
        for got, expected in zip(resumed, whole):
            self.assertAlmostEqual(got, expected, delta=1e-4)

    def test_a_resume_reads_the_same_documents(self):
        self.train(self.plan(), 2, "--checkpoint-dir", self.path("runs"), data=self.bin)
        self.write("set.idx", index(LENGTHS, [0, 8]))
        self.refused("weft-run", self.plan(), "--data", self.bin, "--steps", 3, "--quiet", "--checkpoint-dir",
                     self.path("runs"), "--resume", says=[self.bin + ": expected the data of " + self.path("runs")])

    def test_says_what_is_read(self):
        run = self.run_ok("weft-run", self.plan(), "--data", self.bin, "--steps", 3, "--threads", 1)
        self.assertIn(self.bin + ": 1,194 tokens in 5 documents, uint16, largest ", run.err)
        self.assertIn(" of vocabulary 256; 18 sequences of 64, 0.67 epochs in 3 steps\n", run.err)

    def test_bad_indices(self):
        good = contents(self.idx)
        for content, line in (
                (b"NMIDIDX" + good[7:], self.idx + ": expected an index of Megatron-LM, which begins with MMIDIDX, got "
                 "another file"),
                (good[:20], self.idx + ": truncated: expected a header of 34 bytes, got 20"),
                (good[:-4], self.idx + ": expected 12 bytes for each of 8 sequences and 8 for each of 6 bounds of "
                 "documents, got 140"),
                (index([*LENGTHS[:-1], 501], BOUNDS), self.idx + ": sequence 7: expected tokens inside the 2388 bytes of "
                 f"{self.bin}, got 501 of 2 bytes from 1388"),
                (index([*LENGTHS[:-1], 499], BOUNDS), f"{self.bin}: expected 2386 bytes, those of the sequences of "
                 f"{self.idx}, got 2388"),
                (index(LENGTHS, [0, 9, 8]), self.idx + ": bounds of documents: expected ascending ones from 0 to 8, the "
                 "number of sequences, got 9 for document 1"),
                (index(LENGTHS, BOUNDS, code=5), self.idx + ": type of a token: expected uint8 (1), int32 (4) or uint16 "
                 "(8), got 5")):
            with self.subTest(line=line):
                self.write("set.idx", content)
                self.refused("weft-run", self.plan(), "--data", self.bin, "--steps", 1, "--quiet", "--checkpoint-dir",
                             self.path("new"), line=line)
        self.write("set.idx", good)
        self.refused("weft-run", self.plan("data.format=TEXT"), "--data", self.bin, "--steps", 1, "--quiet",
                     line=f"{self.bin}: tokens: expected TEXT, got uint16 by {self.idx}")
        none = self.write("none.idx", good)[:-len("idx")] + "bin"
        self.refused("weft-run", self.plan(), "--data", none, "--steps", 1, "--quiet",
                     line=none + ": cannot open: No such file or directory")
        high = bytearray(contents(self.bin))
        high[20:22] = struct.pack("<H", 256)
        self.write("set.bin", high)
        self.refused("weft-run", self.plan(), "--data", self.bin, "--steps", 1, "--quiet",
                     line=f"{self.bin}: expected tokens below 256, the rows of `wte.weight`, got 256 at 10")


if __name__ == "__main__":
    main()
