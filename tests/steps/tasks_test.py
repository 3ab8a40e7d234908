#!/usr/bin/env python3
"""Tasks that people come with, as they would type them, and the facts that they must get."""
import json
import os
import re
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, call, corpus, losses, main, relative  # noqa: E402

GPT2 = "models/gpt2/"
EIGHT_OF_80_GB = """device { kind: "cuda" memory_bytes: 80000000000
  contraction_flops: 312e12 other_flops: 19.5e12 memory_bytes_s: 2.039e12 launch_s: 3e-6 }
node { count: 1 ranks: 8 link_bytes_s: 300e9 latency_s: 5e-6 }
"""
GB = 80_000_000_000
# Sums over ranks are added in another order.
CLOSE = 1e-5


class TasksTest(ProgramTest):
    def test_what_fits_on_eight_gpus_of_80_gb(self):
        cluster, plan = "cluster=" + self.write("8x80gb.cluster", EIGHT_OF_80_GB), self.path("plan")
        found = self.run_ok("weft", "compile", GPT2 + "345m.job", cluster, "graph.auto_parallel=true", "batch.micro=0",
                            "precision.compute=BF16", "-o", plan)
        self.assertRegex(found.out + found.err, r"chosen: dist\.data=8 batch\.micro=\d+")
        shown = json.loads(self.run_ok("weft", "plan", "show", plan, "--json").out)
        ranks = sum(len(stage["placement"]["ranks"]) for stage in shown["stages"])
        self.assertEqual(ranks, 8)
        for stage in shown["stages"]:
            self.assertLess(stage["memory"]["arena_bytes"], GB)
        # 175 billion parameters of 16 bytes are 2.8 TB, and eight such GPUs 0.64: refused, with the bytes of a rank.
        refused = call("weft", "compile", GPT2 + "175b.job", cluster, "dist.data=1", "dist.pipeline=1", "dist.tensor=8",
                       "zero.stage=0", "-o", self.path("large"))
        self.assertEqual(refused.status, 2)
        said = re.search(r"expected at most 80,000,000,000 bytes \(74\.5 GiB\), got ([\d,]+)", refused.err)
        self.assertGreater(int(said[1].replace(",", "")), 175e9 * 14 / 8)
        self.assertFalse(os.path.exists(self.path("large")))

    def test_what_changed_between_two_plans(self):
        job = GPT2 + "tiny.job"
        before, after = self.plan("dist.data=2", "dist.tensor=2", job=job), self.plan("dist.tensor=4",
                                                                                     "optimizer.adamw.lr=1e-3", job=job)
        compared = call("weft", "plan", "diff", before, after)
        self.assertEqual((compared.status, compared.err), (1, ""))  # they differ
        out = compared.out
        job_lines = re.search(r"^job\n((?:  .*\n)+)", out, re.M)[1]
        self.assertEqual(job_lines, "  dist.data: 2 -> 1\n  dist.tensor: 2 -> 4\n  optimizer.adamw.lr: 0.003 -> 0.001\n")
        self.assertIn("- stage 0: data x tensor = 2 x 2 on cpu, ranks 0 to 3\n+ stage 0: tensor = 4 on cpu, ranks 0 to 3\n", out)
        shown = [json.loads(self.run_ok("weft", "plan", "show", plan, "--json").out) for plan in (before, after)]
        sent = [round(one["prediction"]["communication_bytes"] / 2**20, 2) for one in shown]
        self.assertRegex(out, r"sent by a rank a step +%.2f MiB +%.2f MiB" % tuple(sent))

    def test_resume_it_elsewhere(self):
        job, text = GPT2 + "tiny.job", self.write("text", corpus(400))
        four, two = self.plan("dist.data=2", "dist.tensor=2", job=job), self.plan("dist.pipeline=2", "batch.micro=8", job=job)

        def run(plan, steps, name, *flags):
            self.run_ok("weft", "run", plan, "--data", text, "--steps", steps, "--threads", 1, "--quiet",
                        "--metrics", self.path(name), *flags)

        run(four, 6, "whole.jsonl")
        run(four, 3, "parts.jsonl", "--checkpoint-dir", self.path("runs"))
        # The folder goes to another machine, whose ranks are two stages and take other micro-batches.
        run(two, 6, "parts.jsonl", "--checkpoint-dir", self.path("runs"), "--resume")
        whole, parts = losses(self.path("whole.jsonl")), losses(self.path("parts.jsonl"))
        self.assertEqual(len(parts), 6)
        self.assertEqual(parts[:3], whole[:3])
        for one, other in zip(parts[3:], whole[3:]):
            self.assertLess(relative(one, other), CLOSE)


if __name__ == "__main__":
    main()
