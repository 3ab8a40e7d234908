#!/usr/bin/env python3
"""The tiny jobs of images on Fashion-MNIST: the same losses in every layout, which fall, and an evaluation of what they
learn."""
import json
import math
import os
import re
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, losses, main, relative  # noqa: E402

FASHION = "/usr/share/datasets/fashion-mnist/"  # of Debian's dataset-fashion-mnist
IMAGES = f"images={FASHION}train-images-idx3-ubyte.gz"
VIEWS = f"view_1={FASHION}train-images-idx3-ubyte.gz,view_2={FASHION}train-images-idx3-ubyte.gz"
TRAINED = f"{IMAGES},labels={FASHION}train-labels-idx1-ubyte.gz"
TESTED = f"images={FASHION}t10k-images-idx3-ubyte.gz,labels={FASHION}t10k-labels-idx1-ubyte.gz"
STEPS = 30
GUESSING = math.log(10)  # the loss of who knows nothing of ten classes
MODELS = {"vit": TRAINED, "resmlp": TRAINED, "mae": IMAGES, "convnext": TRAINED, "moco": VIEWS}
# Whose statistics and keys are those of a micro-batch.
MICRO_BATCHES_COUNT = ("moco",)
# Steps that are compared. Sooner or later a number before one of MoCo's ReLUs is below 0 in one layout and above in another,
# and gradients differ by more than rounding.
COMPARED = {"moco": 20}
LAYOUTS = (("dist.data=2", "dist.tensor=2"), ("dist.pipeline=2", "batch.micro=16"))


class FashionTest(ProgramTest):
    def trained(self, model, *layout):
        """Losses of a short run, with the schedule's warm-up a third of it."""
        path = self.path("-".join((model, *layout)) + ".jsonl")
        plan = self.plan("batch.global=64", "batch.micro=64", "optimizer.schedule.warmup_cosine.warmup=10", *layout,
                         job=f"models/{model}/tiny.job")
        self.train(plan, STEPS, "--metrics", path, "--checkpoint-dir", self.path(model + "-".join(layout)),
                   data=MODELS[model])
        return losses(path)

    def test_layouts_have_the_losses_of_one_rank_which_fall(self):
        for model in MODELS:
            one = self.trained(model)
            self.assertLess(sum(one[-5:]), 0.95 * sum(one[:5]), model)
            for layout in LAYOUTS:
                with self.subTest(model=model, layout=layout):
                    micro = tuple(key for key in layout if key.startswith("batch."))
                    alike = self.trained(model, *micro) if micro and model in MICRO_BATCHES_COUNT else one
                    for step, (a, b) in enumerate(zip(self.trained(model, *layout), alike[:COMPARED.get(model, STEPS)])):
                        self.assertLess(relative(a, b), 1e-4, step)

    def test_an_evaluation_of_all_test_images(self):
        self.trained("resmlp")
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
