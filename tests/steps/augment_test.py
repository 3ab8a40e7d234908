#!/usr/bin/env python3
"""Images that are varied while a graph trains: the same in every layout and after a resume, and not in an evaluation."""
import json
import os
import random
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import losses, main, write_safetensors  # noqa: E402

MODEL = """
model.config @classes = 3
model.graph @train(%images [batch, 4, 6] f32, %class [batch] i32) {
  %w = weft.parameter "w" [4, 6, classes] init(normal 0.02) sbp(tensor = S(0))
  %y = weft.einsum "bij,ijo->bo" %images, %w
  %loss, %count = weft.cross_entropy %y, %class
  weft.minimize %loss per %count
}
model.graph @difference(%one [batch, 4, 6] f32, %other [batch, 4, 6] f32) {
  %w = weft.parameter "w" [4, 6] init(ones) sbp(tensor = S(0))
  %0 = weft.sub %one, %other
  %1 = weft.mul %0, %w
  %2 = weft.square %1
  %loss = weft.reduce mean %2 over [0, 1, 2]
  weft.minimize %loss
}
model.graph @brightness(%images [batch, 4, 6] f32) {
  %0 = weft.reduce mean %images over [1, 2]
  weft.output "brightness" %0
}
"""
JOB = 'model { file: "m.mlir" graph: "train" } batch { global: 8 } optimizer { sgd { lr: 1e-6 } } seed: 3\n'
AUGMENT = 'data { augment { field: "images" crop_padding: 2 flip: true } }\n'
RESIZED = 'resized_crop { min_area: 0.2 } flip: true brightness: 0.4 contrast: 0.4'
RECORDS, STEPS = 22, 8  # three steps are more than an epoch
LAYOUTS = (("batch.micro=2",), ("dist.data=2", "dist.tensor=2"), ("batch.micro=4", "dist.data=2"))


def npy(pixels):
    """A NumPy array of the images, as its format's description says."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({RECORDS}, 4, 6), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(pixels)


class AugmentTest(FaultTest):
    def setUp(self):
        super().setUp()
        dice = random.Random(1)
        self.write("m.mlir", MODEL)
        self.data = self.path("set.safetensors")
        self.pixels = [dice.randrange(256) for _ in range(RECORDS * 24)]
        write_safetensors(self.data, {
            "images": ("U8", [RECORDS, 4, 6], bytes(self.pixels)),
            "class": ("U8", [RECORDS], bytes(dice.randrange(3) for _ in range(RECORDS)))})

    def compiled(self, *overrides, job=JOB + AUGMENT):
        path = self.path("m.plan")
        self.run_ok("weft-compile", self.write("m.job", job), *overrides, "-o", path, "--quiet")
        return path

    def losses_of(self, plan, steps, *flags):
        path = self.path("m.jsonl")
        if "--resume" not in flags and os.path.exists(path):
            os.remove(path)
        self.train(plan, steps, "--metrics", path, *flags, data=self.data)
        return losses(path)

    def close(self, some, others):
        self.assertEqual(len(some), len(others))
        for a, b in zip(some, others):
            self.assertAlmostEqual(a, b, delta=1e-5 * abs(b))

    def test_every_layout_sees_the_same(self):
        one = self.losses_of(self.compiled(), STEPS)
        plain = self.losses_of(self.compiled(job=JOB), STEPS)
        self.assertTrue(all(abs(a - b) > 1e-3 for a, b in zip(one, plain)), (one, plain))
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                self.close(self.losses_of(self.compiled(*layout), STEPS), one)

    def differences(self, one, other, *overrides):
        """Losses of what tells two inputs apart that read the same images."""
        job = 'model { file: "m.mlir" graph: "difference" } batch { global: 8 } optimizer { sgd { lr: 1e-9 } } seed: 3\n'
        job += f'data {{ augment {{ field: "one" {one} }} augment {{ field: "other" {other} }} }}\n'
        plan, path = self.compiled(*overrides, job=job), self.path("d.jsonl")
        if os.path.exists(path):
            os.remove(path)
        images = self.write("images.npy", npy(self.pixels))
        self.train(plan, STEPS, "--metrics", path, data=f"one={images},other={images}")
        return losses(path)

    def test_two_views_of_one_image(self):
        """Alike where they are asked for alike, and independent where their numbers differ; in every layout the same."""
        self.assertEqual(self.differences(RESIZED, RESIZED), [0] * STEPS)
        one = self.differences("view: 1 " + RESIZED, "view: 2 " + RESIZED)
        self.assertTrue(all(loss > 100 for loss in one), one)
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                self.close(self.differences("view: 1 " + RESIZED, "view: 2 " + RESIZED, *layout), one)

    def test_a_resumed_run_sees_what_it_would_have_seen(self):
        whole = self.losses_of(self.compiled(), STEPS)
        runs = ("--checkpoint-dir", self.path("runs"))
        self.losses_of(self.compiled(), 3, *runs)
        resumed = self.losses_of(self.compiled("dist.data=2", "batch.micro=4"), STEPS, *runs, "--resume")
        self.close(resumed, whole)
        other = self.run_ok("weft-run", self.compiled(job=JOB), "--data", self.data, "--steps", STEPS + 1, *runs,
                            "--resume")
        self.assertIn("changed since the checkpoint: ", other.err)
        self.assertIn("data.augment[0].crop_padding 2 -> none", other.err)

    def test_an_evaluation_sees_the_images_as_they_are(self):
        plan, metrics = self.compiled("model.graph=brightness"), self.path("e.jsonl")
        self.run_ok("weft-run", plan, "--data", f"images={self.data}", "--metrics", metrics, "--quiet")
        with open(metrics, encoding="utf-8") as file:
            mean = json.loads(file.readlines()[1])["means"]["brightness"]
        self.assertAlmostEqual(mean, sum(self.pixels) / len(self.pixels), delta=1e-3)

    def test_says_that_it_augments(self):
        run = self.run_ok("weft-run", self.compiled(), "--data", self.data, "--steps", 1)
        self.assertIn("22 records of class u8 (largest 2 of 3), images u8[4,6], augmented, 0.36 epochs in 1 step\n", run.err)

    def test_bad_jobs(self):
        for augment, line in (
                ('augment { field: "pictures" flip: true }',
                 "data.augment: expected one of `class`, `images`, got `pictures`"),
                ('augment { field: "images" } augment { field: "images" flip: true }',
                 "data.augment: expected one entry for `images`, got two"),
                ('augment { field: "images" crop_padding: 4 }',
                 "data.augment of `images`: expected a crop_padding from 0 to 3, for images of 4 x 6, got 4"),
                ('augment { field: "images" crop_padding: 1 resized_crop { } }',
                 "data.augment of `images`: expected crop_padding or resized_crop, got both"),
                ('augment { field: "class" flip: true }',
                 "data.augment of `class`: expected images, [batch, ..., height, width], got an input i32")):
            with self.subTest(augment=augment):
                plan = self.compiled(job=JOB + "data { %s }" % augment)
                self.refused("weft-run", plan, "--data", self.data, "--quiet", says=[line])

    def test_ranges_that_are_none(self):
        for augment, line in (
                ("resized_crop { min_area: 0 }", "data.augment.resized_crop.min_area: expected a number above 0, got 0"),
                ("resized_crop { max_area: 1.5 }", "data.augment.resized_crop.max_area: expected at most 1, got 1.5"),
                ("resized_crop { min_area: 0.5 max_area: 0.4 }",
                 "data.augment.resized_crop.min_area: expected at most max_area (0.4), got 0.5"),
                ("resized_crop { min_ratio: 2 }",
                 "data.augment.resized_crop.min_ratio: expected at most max_ratio (1.33333), got 2"),
                ("brightness: -1", "data.augment.brightness: expected 0 or more, got -1")):
            with self.subTest(augment=augment):
                job = self.write("m.job", JOB + 'data { augment { field: "images" %s } }' % augment)
                self.refused("weft-compile", job, "-o", self.path("m.plan"), "--quiet", line=f"{job}: {line}")


if __name__ == "__main__":
    main()
