#!/usr/bin/env python3
"""Graphs of several losses: each is divided by its own count, however the batch is cut."""
import os
import random
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import call, losses, main, metrics  # noqa: E402

RECORDS = 24
STEPS = 6
# A head behind each of two blocks; `%near` and `%far` are -100 in other records each.
MODEL = """
model.config @width = 16
model.layer @block(%x) {
  %w = weft.parameter "w" [width, width] init(normal 0.3) sbp(tensor = S(1))
  %0 = weft.einsum "bi,io->bo" %x, %w
  %1 = weft.tanh %0
  model.return %1
}
model.layer @head(%x) [classes] {
  %w = weft.parameter "w" [width, classes] init(normal 0.3) sbp(tensor = S(1))
  %0 = weft.einsum "bi,io->bo" %x, %w
  model.return %0
}
model.layer @near_head(%x, %labels) {
  %0 = model.call @head "head" (%x) [4]
  %loss, %count = weft.cross_entropy %0, %labels
  model.return %loss, %count
}
model.graph @train(%x [batch, width] f32, %near [batch] i32, %far [batch] i32) {
  %0 = model.call @block "h.0" (%x)
  %a, %n = model.call @near_head "h.0" (%0, %near)
  %1 = model.call @block "h.1" (%0)
  %2 = model.call @head "h.1.head" (%1) [6]
  %b, %m = weft.cross_entropy %2, %far
MINIMIZE
}
"""
OWN_COUNTS = """
  weft.minimize "near_loss" %a per %n weight(0.5)
  weft.minimize "far_loss" %b per %m
"""
# The same by hand, of a step of one micro-batch.
BY_HAND = """
  %3 = weft.div %a, %n
  %4 = weft.scale %3 by(0.5)
  %5 = weft.div %b, %m
  %loss = weft.add %4, %5
  weft.output "near_loss" metric %3
  weft.output "far_loss" metric %5
  weft.minimize %loss
"""
ONE_COUNT = """
  weft.minimize "near_loss" %a per %n weight(0.5)
  weft.minimize "far_loss" %b per %n weight(2)
"""
ONE_COUNT_BY_HAND = """
  %3 = weft.scale %a by(0.5)
  %4 = weft.scale %b by(2)
  %loss = weft.add %3, %4
  weft.minimize %loss per %n
"""
WITH_ROWS = """
  weft.minimize "near_loss" %a per %n rows(batch * 2 floordiv 4) weight(0.5)
  weft.minimize "far_loss" %b per %m rows(batch * 3 floordiv 4)
"""
LAYOUTS = ([], ["dist.data=2", "dist.tensor=2"], ["dist.pipeline=2"], ["dist.data=2", "dist.pipeline=2"])
CLOSE = 1e-5
NAMES = ("loss", "near_loss", "far_loss")


def npy(kind, shape, data):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (kind, ", ".join(map(str, shape)))
    return b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + text.ljust(117).encode() + b"\n" + data


class LossesTest(FaultTest):
    def setUp(self):
        super().setUp()
        dice = random.Random(2)
        self.data = self.path("set")
        os.mkdir(self.data)
        self.write("set/x.npy", npy("<f4", (RECORDS, 16), struct.pack(f"<{RECORDS * 16}f",
                                                                      *[dice.uniform(-1, 1) for _ in range(RECORDS * 16)])))
        # Of every four records in a row two count for one loss and three for the other.
        near = [dice.randrange(4) if i % 4 < 2 else -100 for i in range(RECORDS)]
        far = [dice.randrange(6) if i % 4 > 0 else -100 for i in range(RECORDS)]
        self.write("set/near.npy", npy("<i4", (RECORDS,), struct.pack(f"<{RECORDS}i", *near)))
        self.write("set/far.npy", npy("<i4", (RECORDS,), struct.pack(f"<{RECORDS}i", *far)))

    def compiled(self, minimize, *overrides):
        self.write("m.mlir", MODEL.replace("MINIMIZE", minimize))
        job = self.write("m.job", 'model { file: "m.mlir" } batch { global: 8 } optimizer { adam { lr: 1e-2 } clip_norm: 0.5 }'
                         " data { order: SEQUENTIAL } seed: 3\n")
        plan = self.path("m.plan")
        self.run_ok("weft-compile", job, *overrides, "-o", plan, "--quiet")
        return plan

    def run_of(self, minimize, *overrides):
        """Of every step the losses, and the norm of the gradients."""
        path = self.path("m.jsonl")
        if os.path.exists(path):
            os.remove(path)
        self.train(self.compiled(minimize, *overrides), STEPS, "--metrics", path, data=self.data)
        self.assertEqual(len(losses(path)), STEPS)
        return [[line.get(name) for name in (*NAMES, "grad_norm")] for line in metrics(path)]

    def close(self, got, expected, where, delta=CLOSE):
        for a, b in zip(sum(got, []), sum(expected, [])):
            self.assertAlmostEqual(a, b, delta=delta, msg=f"{where}: {got} {expected}")

    def test_each_loss_is_divided_by_its_own_count(self):
        by_hand = self.run_of(BY_HAND)
        for layout in LAYOUTS:
            self.close(self.run_of(OWN_COUNTS, *layout), by_hand, layout)
        # The counts are not the same, or this says nothing.
        other = self.run_of(OWN_COUNTS.replace("per %m", "per %n"))
        self.assertGreater(abs(other[0][0] - by_hand[0][0]), 0.1)

    def test_losses_of_one_count_take_any_micro_batches(self):
        by_hand = [[line[0], line[3]] for line in self.run_of(ONE_COUNT_BY_HAND)]
        for layout in LAYOUTS:
            for micro in (8, 2, 3):
                got = self.run_of(ONE_COUNT, *layout, f"batch.micro={micro}")
                self.close([[line[0], line[3]] for line in got], by_hand, (layout, micro))

    def test_losses_of_known_counts_take_any_micro_batches(self):
        by_hand = self.run_of(BY_HAND)
        for layout in LAYOUTS:
            for micro in (8, 4):
                self.close(self.run_of(WITH_ROWS, *layout, f"batch.micro={micro}"), by_hand, (layout, micro))

    def test_float16_begins_each_backward_with_the_loss_scale(self):
        by_hand = self.run_of(BY_HAND)
        for layout in LAYOUTS:
            got = self.run_of(OWN_COUNTS, "precision.compute=F16", "precision.loss_scale.initial=1024", *layout)
            self.close(got, by_hand, layout, delta=2e-2)

    def test_every_step_shows_each_loss(self):
        run = self.run_ok("weft-run", self.compiled(OWN_COUNTS), "--data", self.data, "--steps", 2, "--threads", 1)
        self.assertRegex(run.err + run.out, r"step 1/2  loss [0-9.]+ .*near_loss [0-9.]+  far_loss [0-9.]+ ")

    def test_what_is_wrong_is_said(self):
        def refused(minimize, line, *overrides):
            self.write("m.mlir", MODEL.replace("MINIMIZE", minimize))
            result = call("weft-compile", self.job, *overrides, "-o", self.path("x.plan"))
            self.assertEqual((result.status, result.out), (2, ""), result.err)
            self.assertRegex(result.err.splitlines()[0], r"m\.mlir:\d+:\d+: error: ")
            self.assertIn(line, result.err.splitlines()[0])
            self.assertFalse(os.path.exists(self.path("x.plan")))

        self.compiled(OWN_COUNTS)
        self.job = self.path("m.job")
        refused(OWN_COUNTS, "expected losses of one count, or rows(number) on each, as the step has several micro-batches; "
                "with batch.micro = batch.global it has one", "batch.micro=4")
        refused("weft.minimize %a per %n\nweft.minimize \"b\" %b per %m",
                "expected a name, as the graph minimizes several losses: weft.minimize \"name\" %loss")
        refused(OWN_COUNTS.replace("near_loss", "far_loss"), "\"far_loss\": expected distinct names of losses, got it twice")
        refused(OWN_COUNTS.replace("near_loss", "lr"), "\"lr\": expected a name that every step does not report already")
        refused(OWN_COUNTS.replace("0.5", "0"), "weight: expected a finite number other than 0, got 0.000000e+00")
        refused(WITH_ROWS.replace("batch * 2 floordiv 4", "0"), "rows: expected a number above 0, got 0.000000e+00")
        refused(WITH_ROWS.replace("per %n ", ""), "rows: expected a count too, as the last micro-batch has fewer samples",
                "batch.micro=3")
        refused(OWN_COUNTS.replace("%b per", "%x per"), "loss: expected tensor<f32>, got 'tensor<8x16xf32>'")


if __name__ == "__main__":
    main()
