#!/usr/bin/env python3
"""Weighted rows, smoothed labels and labels that do not count: the losses of a few steps, computed here too."""
import math
import os
import random
import struct
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, losses, main  # noqa: E402

RECORDS, BATCH, STEPS, RATE = 24, 12, 8, 0.5
WIDTH, CLASSES = 6, 7  # no axis divides the classes
IGNORED = -1
MODEL = """
model.config @smoothing = 0.0
model.graph @train(%x [batch, 6] f32, %labels [batch] i32, %weights [batch] f32) {
  %w = weft.parameter "w" [6, 7] init(zeros) sbp(tensor = S(1))
  %0 = weft.einsum "bi,io->bo" %x, %w
  %loss, %count = weft.cross_entropy %0, %labels ignore(-1) WEIGHTS label_smoothing(smoothing)
  weft.minimize %loss per %count
}
model.graph @plain(%x [batch, 6] f32, %labels [batch] i32) {
  %w = weft.parameter "w" [6, 7] init(zeros) sbp(tensor = S(1))
  %0 = weft.einsum "bi,io->bo" %x, %w
  %loss, %count = weft.cross_entropy %0, %labels ignore(-1) label_smoothing(smoothing)
  weft.minimize %loss per %count
}
"""
LAYOUTS = ([], ["batch.micro=4"], ["batch.micro=5"], ["dist.data=2", "dist.tensor=2"], ["dist.tensor=3", "batch.micro=1"],
           ["graph.loss_chunks=5"], ["graph.loss_chunks=2", "batch.micro=5"],
           ["graph.loss_chunks=4", "dist.data=2", "dist.tensor=2"])


def npy(kind, shape, values, letter):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (kind, ", ".join(map(str, shape)))
    return (b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + text.ljust(117).encode() + b"\n" +
            struct.pack(f"<{len(values)}{letter}", *values))


class CrossEntropyTest(ProgramTest):
    def setUp(self):
        super().setUp()
        dice = random.Random(4)
        self.x = [[dice.uniform(-1, 1) for _ in range(WIDTH)] for _ in range(RECORDS)]
        self.labels = [IGNORED if i % 5 == 2 else dice.randrange(CLASSES) for i in range(RECORDS)]
        self.weights = [0.0 if i % 4 == 1 else dice.choice([0.25, 1.0, 2.5]) for i in range(RECORDS)]
        os.mkdir(self.path("set"))
        self.write("set/x.npy", npy("<f4", (RECORDS, WIDTH), sum(self.x, []), "f"))
        self.write("set/labels.npy", npy("<i4", (RECORDS,), self.labels, "i"))
        self.write("set/weights.npy", npy("<f4", (RECORDS,), self.weights, "f"))
        self.write("m.mlir", MODEL.replace("WEIGHTS", "weights(%weights)"))
        self.job = self.write("m.job", 'model { file: "m.mlir" graph: "train" } batch { global: %d } optimizer { sgd { lr: %g } } '
                              "data { order: SEQUENTIAL }\n" % (BATCH, RATE))

    def expected(self, weights, smoothing):
        """The losses of gradient descent, as PyTorch's cross_entropy defines the loss of a row."""
        w, found = [[0.0] * CLASSES for _ in range(WIDTH)], []
        for step in range(STEPS):
            loss = count = 0.0
            gradient = [[0.0] * CLASSES for _ in range(WIDTH)]
            for i in ((step * BATCH + row) % RECORDS for row in range(BATCH)):
                if self.labels[i] == IGNORED:
                    continue
                logits = [sum(self.x[i][k] * w[k][c] for k in range(WIDTH)) for c in range(CLASSES)]
                total = math.log(sum(map(math.exp, logits)))
                for c in range(CLASSES):
                    target = smoothing / CLASSES + (1 - smoothing) * (c == self.labels[i])
                    loss += weights[i] * target * (total - logits[c])
                    for k in range(WIDTH):
                        gradient[k][c] += weights[i] * (math.exp(logits[c] - total) - target) * self.x[i][k]
                count += weights[i]
            found.append(loss / count)
            w = [[w[k][c] - RATE * gradient[k][c] / count for c in range(CLASSES)] for k in range(WIDTH)]
        return found

    def losses_of(self, *overrides):
        plan, path = self.path("m.plan"), self.path("m.jsonl")
        self.run_ok("weft-compile", self.job, *overrides, "-o", plan, "--quiet")
        if os.path.exists(path):
            os.remove(path)
        self.train(plan, STEPS, "--metrics", path, data=self.path("set"))
        return losses(path)

    def test_losses_are_those_of_the_definition(self):
        for graph, weights in (("train", self.weights), ("plain", [1.0] * RECORDS)):
            for smoothing in (0.0, 0.1, 1.0):
                expected = self.expected(weights, smoothing)
                for layout in LAYOUTS:
                    got = self.losses_of(f"model.graph={graph}", "--set", f"smoothing={smoothing}", *layout)
                    for a, b in zip(got, expected):
                        self.assertAlmostEqual(a, b, delta=1e-5, msg=f"{graph} {smoothing} {layout}: {got} {expected}")

    def test_narrow_types_are_near(self):
        expected = self.expected(self.weights, 0.1)
        # A scale that no gradient overflows with: no step is skipped.
        for compute in (["BF16"], ["F16", "precision.loss_scale.initial=1024"]):
            got = self.losses_of("--set", "smoothing=0.1", "dist.tensor=2", "precision.compute=" + compute[0], *compute[1:])
            for a, b in zip(got, expected):
                self.assertAlmostEqual(a, b, delta=2e-2, msg=f"{compute}: {got} {expected}")


if __name__ == "__main__":
    main()
