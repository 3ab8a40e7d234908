#!/usr/bin/env python3
"""Bytes a parameter, as `weft-plan memory --json` says them: what ZeRO promises for mixed precision with Adam."""
import json
import sys
from fractions import Fraction

sys.path.insert(0, "tests/support")
from programs import ProgramTest, main  # noqa: E402

JOB = "models/gpt2/124m.job"
LAYERS, HIDDEN, POSITIONS, VOCABULARY = 12, 768, 1024, 50304
# Norms have no bfloat16 copy: 4 bytes where other parameters have 2, to read and for the gradient, and no master beside
# what is read.
FLOATS = LAYERS * 4 * HIDDEN + 2 * HIDDEN
BIASES = LAYERS * 9 * HIDDEN
ELEMENTS = (VOCABULARY + POSITIONS) * HIDDEN + LAYERS * 12 * HIDDEN * HIDDEN + BIASES + FLOATS
KEPT = ("parameters", "gradients", "optimizer")


class PlanMemoryTest(ProgramTest):
    def stage(self, ranks, stage, *overrides):
        """What the tool says of the memory of one rank."""
        plan = self.path("a.plan")
        self.run_ok("weft-compile", JOB, "batch={global: 8 micro: 8}", "precision.compute=BF16", f"dist.data={ranks}",
                    f"zero.stage={stage}", *overrides, "--quiet", "-o", plan)
        self.text = self.run_ok("weft-plan", "memory", plan).out
        (found,) = json.loads(self.run_ok("weft-plan", "memory", plan, "--json").out)["stages"]
        return found

    def check(self, found, formula, beyond):
        """The formula's bytes a parameter, and beyond it `beyond` bytes for each float."""
        kept = sum(found["categories"][name] for name in KEPT)
        self.assertEqual(found["parameter_elements"], ELEMENTS)
        self.assertEqual(kept, formula * ELEMENTS + beyond * FLOATS)
        self.assertEqual(found["bytes_a_parameter"], kept / ELEMENTS)
        self.assertIn(f" = {kept / ELEMENTS:.2f} B, of 124,475,904 parameters\n", self.text)

    def test_formulas(self):
        for ranks in (2, 4, 8):
            n = Fraction(1, ranks)
            for stage, formula, beyond in ((1, 4 + 12 * n, 4), (2, 2 + 14 * n, 2 + 2 * n), (3, 16 * n, 0)):
                with self.subTest(ranks=ranks, stage=stage):
                    self.check(self.stage(ranks, stage), formula, beyond)

    def test_without_shares(self):
        self.check(self.stage(1, 0), 16, 0)
        # Inference may split what ZeRO does not; told not to, it does not.
        self.check(self.stage(4, 0, "graph.inference=BROADCAST"), 16, 0)

    def test_categories(self):
        n, narrow = 4, ELEMENTS - FLOATS
        copy, gradients, optimizer = 2 * narrow + 4 * FLOATS, 2 * narrow + 4 * FLOATS, 12 * ELEMENTS
        for stage, expected in ((1, (copy, gradients, optimizer // n)), (2, (copy, gradients // n, optimizer // n)),
                                (3, (copy // n, gradients // n, (12 * narrow + 8 * FLOATS) // n))):
            found = self.stage(n, stage)["categories"]
            self.assertEqual(tuple(found[name] for name in KEPT), expected, f"stage {stage}")


if __name__ == "__main__":
    main()
