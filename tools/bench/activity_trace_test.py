#!/usr/bin/env python3
"""A GPU's record of a small plan as a trace: two micro-batches, and what libraries run beside their kernels."""
import unittest

import activity_trace
from kernel_table import Event

FORWARD = ["input", "embedding", "einsum", "attention"]
BACKWARD = ["attention_grad", "einsum", "gelu_grad+reduce"]
PLAN = {"stages": [{
    "placement": {"ranks": [3]},
    "streams": [{"kind": "copy", "runs": []}, {"kind": "compute", "runs": [
        {"first_micro_batch": 0, "repeat": 1, "actors": ["begin"]},
        {"first_micro_batch": 0, "repeat": 2, "actors": ["forward", "backward"]},
        {"first_micro_batch": 0, "repeat": 1, "actors": ["end"]}]}],
    "actors": [{"name": name, "kernels": [{"name": it} for it in kernels]} for name, kernels in (
        ("begin", ["cast"]), ("forward", FORWARD), ("backward", BACKWARD), ("end", ["square_sum", "clip_scale", "adam"]))]}]}
MICRO = ["embedding_16", "fill", "nvjet_bias", "cudnn_fprop<1>(int)", "cudnn::dot_do_o", "cudnn_bprop", "cudnn::convert_dq",
         "void nvjet_other(int)", "cublasLt::epilogue<8>", "k4_gelu_grad_reduce", "k4_gelu_grad_reduce_sums"]
STEP = (["clip_scale(Arguments)", "k9_adam_batch", "k9_adam_batch", "copy", "k0_cast_batch"] + 2 * MICRO +
        ["square_parts", "square_totals", "square_parts", "square_totals", "sum_in_order"])


def record(names, steps=5):
    """Each takes 10 ns, with 2 ns between."""
    events = []
    for name in steps * names:
        kind = name if name in ("fill", "copy") else "kernel"
        begin = 12 * len(events)
        events.append(Event(kind, 7, begin, begin + 10, "4 bytes" if kind != "kernel" else name))
    return events


class ActivityTraceTest(unittest.TestCase):
    def test_each_kernel_of_the_plan_has_its_time(self):
        trace = activity_trace.trace_of(PLAN, record(STEP))
        found = [it for it in trace["traceEvents"] if it["ph"] == "X"]
        self.assertEqual(trace["otherData"]["kernels"], "device")
        self.assertEqual({it["pid"] for it in found}, {3})
        self.assertEqual({it["args"]["step"] for it in found}, {1, 2})  # 4 that another follows, without the first 2
        first = {(it["name"], it["args"]["micro_batch"]): it["dur"] for it in found if it["args"]["step"] == 1}
        self.assertEqual(len(first), 3 + 2 * 6 + 1)
        self.assertNotIn(("forward/0 input", 0), first)
        for name, runs in {"forward/1 embedding": 1, "forward/2 einsum": 2, "forward/3 attention": 1,
                           "backward/0 attention_grad": 3, "backward/1 einsum": 2, "backward/2 gelu_grad+reduce": 2}.items():
            for micro in (0, 1):
                self.assertAlmostEqual(first[name, micro], runs * 10e-3, msg=name)
        self.assertAlmostEqual(first["end/2 adam", 0], 20e-3)
        self.assertAlmostEqual(first["end/0 square_sum", 0], 50e-3)

    def test_another_plans_record_is_refused(self):
        for names in (STEP[:-5], [it.replace("cudnn_bprop", "k5_add") for it in STEP]):
            with self.assertRaises(SystemExit) as refused:
                activity_trace.trace_of(PLAN, record(names))
            self.assertIn("expected steps of 16 kernels in the plan's order", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
