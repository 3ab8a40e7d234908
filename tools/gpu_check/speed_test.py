#!/usr/bin/env python3
"""What the speed checks print, of numbers that are written down here and of a run on the emulated GPU."""
import sys
import unittest

sys.path.insert(0, "tools/bench")
import kernel_table  # noqa: E402
import speed  # noqa: E402

GIB = 2**30
SAMPLE = "tools/bench/testdata/activity.tsv"


def details(torch, profile):
    run = {"plan": "speed-345m-6", "tokens_s": 60000.0, "flops_s": 150e12, "planned_bytes": 14 * GIB,
           "measured_bytes": 15 * GIB}
    return {"model": "345m", "runs": [{"size": 6, "weft": run, "torch": torch}], "profile": profile,
            "peer_profile": profile and kernel_table.totals(kernel_table.read(SAMPLE)),
            "matrix": {"flops_s": 750e12, "by": "cuBLASLt 13.1.0", "n": 8192}}


class SpeedTest(unittest.TestCase):
    def test_ratios(self):
        profile = kernel_table.summary(kernel_table.read(SAMPLE))
        text = "\n".join(speed.report(details({"tokens_s": 50000.0}, profile)))
        self.assertIn("mb 6: 60000 tokens/s, 1.20 x PyTorch, 20.0 % of the matrix rate", text)
        self.assertIn("matrix rate 750 TFLOP/s (cuBLASLt 13.1.0)", text)
        self.assertIn("memory planned 14.00 GiB, measured 107.1 % of it", text)
        self.assertRegex(text, r"of a step \d+\.\d % is between kernels")
        self.assertRegex(text, r"\n  embedding_grad +1\.0 ")
        self.assertRegex(text, r"PyTorch, shares of the time in which the GPU works:\n  kernel +calls")

    def test_what_is_missing_is_named(self):
        lacking = details({"error": "torch_gpt2: expected PyTorch, got: No module named 'torch'"}, None)
        lacking["runs"][0]["weft"]["measured_bytes"] = None
        text = "\n".join(speed.report(lacking))
        self.assertIn("PyTorch: torch_gpt2: expected PyTorch", text)
        self.assertIn("measured unknown of it", text)
        self.assertIn("no CUPTI found", text)
        self.assertNotIn("gap", speed.numbers(lacking))


if __name__ == "__main__":
    unittest.main()
