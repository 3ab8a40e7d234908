#!/usr/bin/env python3
"""The table by kernel: of steps that are written down here, and of a recorded run on the emulated GPU."""
import unittest

import kernel_table
from kernel_table import Event

SAMPLE = "tools/bench/testdata/activity.tsv"  # GPT-2 with one layer, 5 steps


def step(begin):
    """100 ns: 60 of work on two streams, gaps of 10 and 20, and 10 until the next one."""
    return [Event("kernel", 1, begin, begin + 10, "clip_scale(Arguments)"),
            Event("kernel", 1, begin + 20, begin + 40, "gemm"), Event("copy", 2, begin + 30, begin + 50, "8 bytes"),
            Event("kernel", 1, begin + 70, begin + 90, "gemm")]


class KernelTableTest(unittest.TestCase):
    def test_shares_of_a_step(self):
        events = [it for n in range(6) for it in step(100 * n)]
        summary = kernel_table.summary(events)
        self.assertEqual(summary["steps"], 3)  # 5 that another follows, without the first 2
        self.assertAlmostEqual(summary["step_s"], 100e-9)
        self.assertAlmostEqual(summary["idle_share"], 0.4)
        # Without the longest gap, of 20.
        self.assertAlmostEqual(summary["gap_share"], 0.2)
        self.assertEqual([(it["name"], it["calls"]) for it in summary["kernels"]],
                         [("gemm", 2), ("copy", 1), ("clip_scale", 1)])
        self.assertAlmostEqual(summary["kernels"][0]["share"], 0.4)

    def test_nothing_without_steps(self):
        self.assertIsNone(kernel_table.summary([Event("kernel", 1, 0, 10, "gemm")]))

    def test_totals(self):
        totals = kernel_table.totals(step(0))
        self.assertEqual([(it["name"], it["calls"]) for it in totals], [("gemm", 2), ("copy", 1), ("clip_scale", 1)])
        self.assertAlmostEqual(totals[0]["share"], 2 / 3)

    def test_names(self):
        self.assertEqual(kernel_table.short("softmax_f32"), "softmax_f32")
        long = "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, bool>>(int, char*)"
        self.assertEqual(kernel_table.short(long), "at::native::vectorized_elementwise_kernel<...>")
        self.assertLessEqual(len(kernel_table.short("x" * 100)), 60)

    def test_a_recorded_run(self):
        events = kernel_table.read(SAMPLE)
        summary = kernel_table.summary(events)
        self.assertEqual(summary["steps"], 2)
        shares = [it["share"] for it in summary["kernels"]]
        self.assertEqual(shares, sorted(shares, reverse=True))
        calls = {it["name"]: it["calls"] for it in summary["kernels"]}
        self.assertEqual((calls["clip_scale"], calls["embedding_grad"], calls["layer_norm_f32_16"]), (1, 1, 3))
        self.assertTrue(0 <= summary["gap_share"] <= summary["idle_share"] < 1)
        table = kernel_table.lines(summary["kernels"], 5)
        self.assertEqual(len(table), 7)
        self.assertIn("(%d others)" % (len(shares) - 5), table[-1])


if __name__ == "__main__":
    unittest.main()
