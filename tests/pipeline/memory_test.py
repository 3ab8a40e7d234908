#!/usr/bin/env python3
"""What a run of a pipeline takes from the machine is what its plan says."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, "tests/pipeline")
from pipelines import DEEP, PipelineTest  # noqa: E402
from programs import LIMIT_S, PROGRAMS, TOKENS, command, main  # noqa: E402

PROGRAMS["weft-launch"] = "tools/launch/weft-launch"

# Stages are costly for their parameters, or for their activations: overrides, and the width of the model.
PLANS = {
    "parameters": (("dist.pipeline=4", "batch={global: 4 micro: 1}"), 512),
    "activations": (("dist.pipeline=2", "batch={global: 128 micro: 32}", "pipeline.schedule=GPIPE"), 128),
}
# The same with a process a stage: what each of them grows by.
EACH_STAGE = {
    2: ("batch={global: 128 micro: 32}", "pipeline.schedule=GPIPE", "model.set=hidden=128"),
    4: ("batch={global: 4 micro: 1}", "model.set=hidden=512"),
}
LEAST_MIB = 100
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

    def of_stages(self, plan, stages):
        """(planned, measured) MiB of every stage's rank, as a run in processes reports them."""
        line = command("weft-launch", "-n", stages, "--", plan, "--data", TOKENS, "--steps", 2, "--threads", 1)
        environment = {key: value for key, value in os.environ.items() if key != "XML_OUTPUT_FILE"}
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, env=environment)
        err = done.stderr.decode()
        self.assertEqual(done.returncode, 0, err)
        found = re.findall(r"^stage (\d+): (.+) MiB planned, (.+) MiB \(rank (\d+)\) measured$", err, re.MULTILINE)
        self.assertEqual([(int(it[0]), int(it[3])) for it in found], [(s, s) for s in range(stages)], err)
        return [(float(it[1]), float(it[2])) for it in found]

    def test_every_stage_has_what_its_plan_says(self):
        if not os.path.exists(PROGRAMS["weft-launch"]):
            self.skipTest("no MPI")
        for stages, overrides in EACH_STAGE.items():
            with self.subTest(stages=stages):
                plan = self.plan(f"dist.pipeline={stages}", *overrides, job=DEEP)
                arenas = [it / 2**20 for it in self.planned(plan)]
                for (planned, measured), arena in zip(self.of_stages(plan, stages), arenas):
                    self.assertLess(abs(planned / arena - 1), 0.01)
                    self.assertGreater(planned, LEAST_MIB)
                    self.assertLess(abs(measured / planned - 1), 0.05)

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
