#!/usr/bin/env python3
"""What a run of a pipeline takes from the machine is what its plan says."""
import json
import os
import sys

sys.path.insert(0, "tests/pipeline")
from pipelines import DEEP, PipelineTest  # noqa: E402
from programs import TOKENS, command, main  # noqa: E402

# Stages are costly for their parameters, or for their activations: overrides, and the width of the model.
PLANS = {
    "parameters": (("dist.pipeline=4", "batch={global: 4 micro: 1}"), 512),
    "activations": (("dist.pipeline=2", "batch={global: 128 micro: 32}", "pipeline.schedule=GPIPE"), 128),
}
LEAST = 200 << 20  # bytes, so that 5 % of them is more than what a process wavers by


class MemoryTest(PipelineTest):
    def planned(self, plan):
        """The bytes of every stage's arena; each stage has one rank here."""
        stages = json.loads(self.run_ok("weft-plan", "memory", plan, "--json").out)["stages"]
        return [stage["arena_bytes"] for stage in stages]

    def measured(self, plan):
        """The most bytes that a run of two steps had resident, as the kernel counts them."""
        line = command("weft-run", plan, "--data", TOKENS, "--steps", 2, "--threads", 1, "--quiet")
        child = os.posix_spawn(line[0], line, os.environ)
        _, status, usage = os.wait4(child, 0)
        self.assertEqual(status, 0)
        return usage.ru_maxrss * 1024

    def test_resident_memory_is_that_of_the_plan(self):
        for name, (overrides, width) in PLANS.items():
            with self.subTest(name):
                plan = self.plan(*overrides, f"model.set=hidden={width}", job=DEEP)
                # The same run of a narrow model: programs, libraries, threads.
                narrow = self.plan(*overrides, "model.set=hidden=16", job=DEEP)
                own = self.measured(narrow) - sum(self.planned(narrow))
                planned, measured = sum(self.planned(plan)), self.measured(plan) - own
                self.assertGreater(planned, LEAST)
                self.assertLess(abs(measured / planned - 1), 0.05, f"planned {planned}, measured {measured}")


if __name__ == "__main__":
    main()
