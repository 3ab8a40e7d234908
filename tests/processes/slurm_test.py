#!/usr/bin/env python3
"""The batch file of docs/howto/run_on_slurm.md, with two emulated nodes: it trains, stops before its time, and goes on."""
import os
import sys

sys.path.insert(0, "tests/processes")
from processes import numbers  # noqa: E402
from programs import contents, main  # noqa: E402
from slurm_case import STEPS, SlurmCase  # noqa: E402


class SlurmTest(SlurmCase):
    def test_trains_on_two_nodes(self):
        self.sbatch()
        self.assertEqual(sorted(contents(self.path("tasks")).decode().split("\n")), ["", "0 0 0", "1 0 1", "2 1 0", "3 1 1"])
        self.assertEqual(contents(self.path("runs/gpt2/latest")), b"step-00000008\n")
        self.assertFalse(os.path.exists(self.path("requested")))
        # What ranks of one process compute.
        alone = self.path("alone.jsonl")
        self.run_ok("weft-run", self.path("gpt2.plan"), "--data", self.path("corpus.txt"), "--steps", STEPS, "--threads", 1, "--quiet",
                    "--metrics", alone)
        self.assertEqual(numbers(self.path("gpt2.jsonl")), numbers(alone))

    def test_goes_on_after_its_time(self):
        self.environment["STEPS"] = "1000000"
        err = self.sbatch(SIGNAL_AFTER=self.path("gpt2.jsonl") + " 4")
        self.assertRegex(err, r"stopped after step \d+, as a signal asked")
        self.assertEqual(contents(self.path("requested")), b"requeue 7\n")
        done = int(contents(self.path("runs/gpt2/latest")).decode().split("-")[1])
        self.environment["STEPS"] = str(done + 3)
        self.assertIn(f"resuming after step {done} from runs/gpt2/step-{done:08}", self.sbatch())
        self.assertEqual(contents(self.path("runs/gpt2/latest")).decode(), f"step-{done + 3:08}\n")
        self.assertEqual(contents(self.path("requested")), b"requeue 7\n")
        self.assertEqual([line["step"] for line in numbers(self.path("gpt2.jsonl"))], list(range(1, done + 4)))


if __name__ == "__main__":
    main()
