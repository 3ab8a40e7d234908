#!/usr/bin/env python3
"""The tiny jobs of images on Fashion-MNIST: the same losses in every layout, which fall, and an evaluation of what they
learn."""
import gzip
import json
import math
import os
import re
import struct
import sys

sys.path.insert(0, "tests/zoo")
from real_data import BATCH, COMPARED, LAYOUTS, STEPS, RealDataTest  # noqa: E402
from programs import main, metrics  # noqa: E402

FASHION = "/usr/share/datasets/fashion-mnist/"  # of Debian's dataset-fashion-mnist
TRAIN_IMAGES = f"{FASHION}train-images-idx3-ubyte.gz"
TRAIN_LABELS = f"{FASHION}train-labels-idx1-ubyte.gz"
TRAINED = f"images={TRAIN_IMAGES},labels={TRAIN_LABELS}"
TESTED = f"images={FASHION}t10k-images-idx3-ubyte.gz,labels={FASHION}t10k-labels-idx1-ubyte.gz"
GUESSING = math.log(10)  # the loss of who knows nothing of ten classes
SIDE, PADDED = 28, 32


class FashionTest(RealDataTest):
    def padded(self):
        """The images of a run with two black pixels at each side, for models of 32 x 32: a file of IDX."""
        count, edge = STEPS * BATCH, (PADDED - SIDE) // 2
        with gzip.open(TRAIN_IMAGES) as file:
            magic, _, rows, columns = struct.unpack(">4I", file.read(16))
            self.assertEqual((rows, columns), (SIDE, SIDE))
            pixels = file.read(count * SIDE * SIDE)
        blank = bytes(edge * PADDED)
        lines = (bytes(edge) + pixels[i:i + SIDE] + bytes(edge) for i in range(0, len(pixels), SIDE))
        images = (blank + b"".join(next(lines) for _ in range(SIDE)) + blank for _ in range(count))
        with gzip.open(TRAIN_LABELS) as file:
            head, labels = file.read(8), file.read(count)
        return "images=%s,labels=%s" % (
            self.write("images-idx3", struct.pack(">4I", magic, count, PADDED, PADDED) + b"".join(images)),
            self.write("labels-idx1", head[:4] + struct.pack(">I", count) + labels))

    def test_vit(self):
        self.expect_layouts_agree("vit", TRAINED)

    def test_resmlp(self):
        self.expect_layouts_agree("resmlp", TRAINED)

    def test_mae(self):
        self.expect_layouts_agree("mae", f"images={TRAIN_IMAGES}")

    def test_convnext(self):
        self.expect_layouts_agree("convnext", TRAINED)

    def test_swin(self):
        self.expect_layouts_agree("swin", self.padded(), set=["channels=1"])

    def test_vgg(self):
        # Without norms eleven layers begin slowly.
        self.expect_layouts_agree("vgg", self.padded(), fall=1, set=["channels=1"])

    # Norms over 32 images and a small temperature: of five seeds one or two have a number on the other side of 0 within five
    # steps. So a few steps are compared, of several trainings.
    def test_moco(self):
        for seed in (1, 2, 3):
            self.expect_layouts_agree("moco", f"view_1={TRAIN_IMAGES},view_2={TRAIN_IMAGES}", micro_batches_count=True,
                                      compared=3, keys=[f"seed={seed}"])

    def test_evaluations_between_steps_agree(self):
        self.trained("vit", TRAINED, steps=COMPARED)
        found = []
        for layout in ((), *LAYOUTS):
            path = self.path("between.jsonl")
            # Steps that change nothing: what is evaluated is the same to the last bit.
            plan = self.plan("optimizer.adamw.lr=1e-30", f"batch={{global: {BATCH} micro: {BATCH}}}", *layout,
                             job="models/vit/tiny.job")
            self.train(plan, 1, "--init", self.path("vit"), "--eval-data", TESTED, "--metrics", path, data=TRAINED)
            found.append(metrics(path)[0])
        self.assertGreater(found[0]["eval_accuracy"], 0.1 + 5 * math.sqrt(0.1 * 0.9 / 10000))
        for layout, line in zip(LAYOUTS, found[1:]):
            for name in ("eval_loss", "eval_accuracy"):
                self.assertAlmostEqual(line[name], found[0][name], delta=2e-5, msg=f"{layout}: {name}")

    def test_an_evaluation_of_all_test_images(self):
        self.trained("resmlp", TRAINED)
        plan = self.plan("model.graph=evaluate", "batch.global=96", "batch.micro=96", "dist.data=2",
                         job="models/resmlp/tiny.job")
        found = self.path("found.jsonl")
        result = self.run_ok("weft-run", plan, "--data", TESTED, "--init", self.path("resmlp"), "--metrics", found)
        with open(found, encoding="utf-8") as file:
            line = json.loads(file.readlines()[1])
        self.assertEqual(line["samples"], 10000)
        self.assertTrue(re.search(r"^10,000 samples\naccuracy  0\.\d+\nloss      \d\.\d+\n$", result.out), result.out)
        self.assertLess(line["means"]["loss"], GUESSING)
        # Five standard deviations above guessing.
        self.assertGreater(line["means"]["accuracy"], 0.1 + 5 * math.sqrt(0.1 * 0.9 / 10000))


if __name__ == "__main__":
    assert os.path.exists(FASHION), f"{FASHION}: expected the package dataset-fashion-mnist, found none; run tools/setup"
    main()
