"""Published runs that no rate was fitted on, as far as they compile in seconds, and the directions of rates."""

import os
import tempfile
import unittest

import figures
import published

FAST = ("1.7B", "7.5B", "39.1B")


class PublishedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        bin_dir = cls.folder.name
        for program in ("compile/weft-compile", "plan/weft-plan"):
            os.symlink(os.path.abspath("tools/" + program), os.path.join(bin_dir, os.path.basename(program)))
        cls.weft = published.Weft(bin_dir, os.getcwd(), bin_dir)
        cls.plans = {row.name: (row, cls.weft.compile(row)) for row in published.ROWS if row.name in FAST}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_rows_that_were_not_fitted_are_within_a_tenth(self):
        for row, plan in self.plans.values():
            self.assertFalse(row.fitted)
            ratio = self.weft.seconds(plan) / published.published_seconds(row)
            self.assertLess(abs(ratio - 1), published.LIMIT, "%s: %.3f" % (row.name, ratio))

    def test_one_rate_moves_the_step_the_right_way(self):
        _, plan = self.plans["39.1B"]
        for key, rate in (("network.link_bytes_s", 25e9), ("node.link_bytes_s", 240e9),
                          ("device.memory_bytes_s", 2.039e12)):
            slow, now, fast = (self.weft.seconds(plan, ["cluster.%s=%g" % (key, rate * by)]) for by in (0.25, 1, 4))
            self.assertGreater(slow, now, key)
            self.assertGreater(now, fast, key)
        slow, fast = (self.weft.seconds(plan, published.keys_of(dict(published.START, products=200e12 * by)))
                      for by in (0.25, 4))
        self.assertGreater(slow, 2 * fast, "most of the step is products")

    def test_figure_12_interleaving_gains_less_with_larger_batches(self):
        lines = figures.BY_NUMBER[12].lines
        rates = {name: [figures.rate(self.weft, run) for run in (runs[0], runs[-1])] for name, runs in lines.items()}
        for claim, holds in figures.claims_12(rates):
            self.assertTrue(holds, "%s: %s" % (claim, rates))

    def test_figure_13_as_many_stages_as_tensor_ranks_are_best(self):
        rates = [figures.rate(self.weft, run) for run in figures.BY_NUMBER[13].lines["batch 32"][1:4]]
        self.assertEqual(max(rates), rates[1], rates)

    def test_figure_16_two_sequences_a_micro_batch_are_best(self):
        rates = [figures.rate(self.weft, run) for run in figures.BY_NUMBER[16].lines["batch 512"][:3]]
        self.assertEqual(max(rates), rates[1], rates)


if __name__ == "__main__":
    unittest.main()
