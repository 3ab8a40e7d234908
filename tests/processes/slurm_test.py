#!/usr/bin/env python3
"""The batch files of docs/howto/run_on_slurm.md, on emulated nodes: they train, stop before their time, and go on."""
import os
import re
import signal
import sys
import threading
import time

sys.path.insert(0, "tests/processes")
from processes import numbers, steps_in  # noqa: E402
from programs import LIMIT_S, call, contents, main  # noqa: E402
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

    def test_begins_again_when_a_rank_is_lost(self):
        steps = 60
        self.environment["STEPS"] = str(steps)
        killer = threading.Thread(target=self.kill_rank, args=(3, 4))
        killer.start()
        err = self.sbatch("keep.sbatch")
        killer.join()
        # The third node is spare.
        self.assertIn("weft-launch: the run begins again, restart 1 of 5, on node1:2,node2:2\n", err)
        self.assertRegex(err, r"restarted after step \d+.*, as rank 3 is lost: its process ")
        self.assertEqual(contents(self.path("runs/gpt2/latest")).decode(), f"step-{steps:08}\n")
        self.assertFalse(os.path.exists(self.path("requested")))
        alone = self.path("alone.jsonl")
        self.run_ok("weft-run", self.path("gpt2.plan"), "--data", self.path("corpus.txt"), "--steps", steps, "--threads", 1, "--quiet",
                    "--metrics", alone)
        self.assertEqual(numbers(self.path("gpt2.jsonl")), numbers(alone))

    def kill_rank(self, rank, after):
        """Once so many steps are done."""
        end = time.monotonic() + LIMIT_S
        while steps_in(self.path("gpt2.jsonl")) < after and time.monotonic() < end:
            time.sleep(0.01)
        found = re.search(rf"^{rank} (\d+)$", contents(self.path("tasks.processes")).decode(), re.M)
        os.kill(int(found[1]), signal.SIGKILL)

    def test_asks_for_an_allocation(self):
        result = call("weft-launch", "-n", 4, "--slurm", self.path("gpt2.plan"))
        self.assertEqual(result.status, 2)
        self.assertEqual(result.err, "weft-launch: --slurm: expected an allocation of Slurm (SLURM_JOB_NODELIST), found none\n")


if __name__ == "__main__":
    main()
