#!/usr/bin/env python3
"""Training on shards of records, and on several sets of them by weight."""
import json
import os
import random
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import losses, main, write_safetensors  # noqa: E402

MODEL = """
model.graph @train(%pixels [batch, 4, 3] f32, %class [batch] i32) {
  %w = weft.parameter "w" [4, 3, 6] init(normal 0.02) sbp(tensor = S(2))
  %y = weft.einsum "bij,ijo->bo" %pixels, %w
  %loss, %count = weft.cross_entropy %y, %class
  weft.minimize %loss per %count
}
"""
JOB = 'model { file: "m.mlir" } batch { global: 8 } optimizer { sgd { lr: 1e-5 } } seed: 3\n'
RECORDS = 22
CUTS = (0, 5, 6, RECORDS)  # one shard has less than a step
LAYOUTS = (("batch.micro=2",), ("dist.data=2", "dist.tensor=2"), ("batch.micro=4", "dist.data=2"))


def npy(shape, data):
    text = "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }" % (shape,)
    return b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + text.ljust(117).encode() + b"\n" + data


def idx(shape, data):
    return bytes([0, 0, 8, len(shape)]) + b"".join(struct.pack(">I", size) for size in shape) + data


class RecordShardsTest(FaultTest):
    def setUp(self):
        super().setUp()
        dice = random.Random(1)
        self.pixels = bytes(dice.randrange(256) for _ in range(RECORDS * 12))
        self.classes = bytes(dice.randrange(6) for _ in range(RECORDS))
        self.write("m.mlir", MODEL)
        self.job = self.write("m.job", JOB)
        for folder in ("whole", "other", "shards", "shards/pixels", "shards/class", "tensors"):
            os.mkdir(self.path(folder))
        self.whole, self.shards, self.other = self.path("whole"), self.path("shards"), self.path("other")
        self.write("whole/pixels.npy", npy((RECORDS, 4, 3), self.pixels))
        self.write("whole/class.npy", npy((RECORDS,), self.classes))
        self.write("other/pixels.npy", npy((9, 4, 3), self.pixels[:108][::-1]))
        self.write("other/class.npy", npy((9,), self.classes[:9]))
        for shard, (begin, end) in enumerate(zip(CUTS, CUTS[1:])):
            self.write(f"shards/pixels/{shard}.npy", npy((end - begin, 4, 3), self.pixels[12 * begin:12 * end]))
            self.write(f"shards/class/{shard}.idx", idx((end - begin,), self.classes[begin:end]))
            write_safetensors(self.path(f"tensors/{shard}.safetensors"), {
                "pixels": ("U8", [end - begin, 4, 3], self.pixels[12 * begin:12 * end]),
                "class": ("U8", [end - begin], self.classes[begin:end])})

    def compiled(self, *overrides):
        path = self.path("-".join(("m", *overrides)) + ".plan")
        self.run_ok("weft-compile", self.job, *overrides, "-o", path, "--quiet")
        return path

    def losses_of(self, data, steps, *flags, plan=None, name="m.jsonl"):
        path = self.path(name)
        if "--resume" not in flags and os.path.exists(path):
            os.remove(path)
        self.train(plan or self.compiled(), steps, "--metrics", path, *flags, data=data)
        return losses(path)

    def blend(self, first=0.7):
        return f"{first} {self.shards} {round(1 - first, 3)} {self.other}"

    def test_shards_are_one_array(self):
        expected = self.losses_of(self.whole, 6)
        self.assertGreater(len(set(expected)), 5)
        for data in (self.shards, self.path("tensors"), f"pixels={self.shards}/pixels,class={self.whole}/class.npy"):
            self.assertEqual(self.losses_of(data, 6), expected, data)

    def test_every_layout_and_a_resume_read_the_same(self):
        one = self.losses_of(self.blend(), 7)
        self.assertNotEqual(one, self.losses_of(self.shards, 7))
        self.assertEqual(self.losses_of(f"0.7 {self.whole} 0.3 {self.other}", 7), one)
        runs = self.path("runs")
        self.losses_of(self.blend(), 3, "--checkpoint-dir", runs, name="halves.jsonl")
        resumed = self.losses_of(self.blend(), 7, "--checkpoint-dir", runs, "--resume", name="halves.jsonl",
                                 plan=self.compiled(*LAYOUTS[1]))
        for losses_there in (resumed, *(self.losses_of(self.blend(), 7, plan=self.compiled(*it)) for it in LAYOUTS)):
            self.assertEqual(len(losses_there), 7)
            for got, expected in zip(losses_there, one):
                self.assertAlmostEqual(got, expected, delta=1e-5)

    def test_a_checkpoint_says_what_was_read(self):
        plan, runs = self.compiled(), self.path("runs")
        self.losses_of(self.blend(), 2, "--checkpoint-dir", runs)
        with open(runs + "/step-00000002/manifest.json", encoding="utf-8") as file:
            run = json.load(file)["run"]
        self.assertEqual((run["data"], run["data_form"], run["data_records"]),
                         (self.blend(), "class u8, pixels u8[4,3]", "31"))

        def refused(data):
            self.refused("weft-run", plan, "--data", data, "--steps", 3, "--quiet", "--checkpoint-dir", runs, "--resume",
                         says=[f"{data}: expected the data of {runs}/step-00000002, {self.blend()} (31 records, "])

        refused(self.blend(0.6))
        self.write("shards/pixels/1.npy", npy((1, 4, 3), bytes(12)))
        refused(self.blend())

    def test_says_what_is_read(self):
        run = self.run_ok("weft-run", self.compiled(), "--data", self.blend(), "--steps", 11, "--threads", 1)
        form = "records of class u8 (largest 5 of 6), pixels u8[4,3]"
        self.assertIn(f"{self.shards}: 22 {form}, 2.8 epochs in 11 steps, 70 % of what is read\n", run.err)
        self.assertIn(f"{self.other}: 9 {form}, 2.9 epochs in 11 steps, 30 % of what is read\n", run.err)

    def test_bad_blends_and_shards(self):
        def refused(data, line):
            self.refused("weft-run", self.compiled(), "--data", data, "--steps", 1, "--quiet", line=line)

        refused(f"0.5 {self.whole} 0.3 {self.other}", "--data: expected weights that sum to 1, got 0.8")
        refused(f"0.5 {self.whole} 0.5", "--data: expected weights and files in turn, as in `0.7 a.bin 0.3 b.bin`, got "
                f"`0.5 {self.whole} 0.5`")
        none = self.path("none.safetensors")
        refused(f"0.5 {self.whole} 0.5 {none}", none + ": cannot open: No such file or directory")
        self.write("shards/class/1.idx", idx((1,), b"\6"))
        refused(self.shards, f"{self.shards}/class/1.idx: `class`: expected ids from 0 to 5, the classes of the cross "
                "entropy, got 6 in record 0")
        os.remove(self.path("shards/class/1.idx"))
        refused(self.shards, f"{self.shards}/pixels: `pixels`: expected 21 records, as `class` has, got 22")
        self.write("shards/pixels/1.npy", npy((1, 3, 4), bytes(12)))
        refused(self.shards, f"{self.shards}/pixels/1.npy: `pixels`: expected records of u8[4,3], as "
                f"{self.shards}/pixels/0.npy has, got u8[3,4]")
        for shard in range(3):
            os.remove(self.path(f"shards/pixels/{shard}.npy"))
        refused(self.shards, f"{self.shards}/pixels: `pixels`: expected shards called .npy or .idx, also with .gz, or "
                ".safetensors, got none")


if __name__ == "__main__":
    main()
