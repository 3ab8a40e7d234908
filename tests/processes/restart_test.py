#!/usr/bin/env python3
"""Runs that lose ranks and go on by themselves."""
import os
import signal
import sys
import time

sys.path.insert(0, "tests/processes")
from processes import LAYOUTS, MICRO, ProcessesTest, children, numbers, saved  # noqa: E402
from programs import main  # noqa: E402
from soak import soak  # noqa: E402

KILLS = int(sys.argv.pop(sys.argv.index("--kills") + 1)) if "--kills" in sys.argv else 3
SEED = int(sys.argv.pop(sys.argv.index("--seed") + 1)) if "--seed" in sys.argv else 0
sys.argv = [argument for argument in sys.argv if argument not in ("--kills", "--seed")]
LAYOUT, PROCESSES = LAYOUTS["data"]
ENDLESS = ("--steps", 10**9)


class RestartTest(ProcessesTest):
    def test_soak(self):
        run = soak(self, "data", KILLS, SEED)
        print(f"{KILLS} kills, {run.in_a_write} of them while a checkpoint was written")

    def test_mpirun_itself_is_lost(self):
        lines = self.path("m.jsonl")
        run = self.start(PROCESSES, self.plan(*MICRO, *LAYOUT), "--steps", 200, "--checkpoint-dir", self.path("c"),
                         "--checkpoint-every", 2, "--checkpoint-keep", 1, "--metrics", lines, launch=("--restarts", 1))
        run.find_ranks()
        self.assertTrue(run.await_lines(lines, 3))
        os.kill(children(run.process.pid)[0], signal.SIGKILL)
        status, err = run.end()
        self.assertEqual(status, 0, err)
        self.assertIn("weft-launch: the run begins again, restart 1 of 1\n", err)
        self.assertEqual(saved(self.path("c")), self.undisturbed("data", 200)[0])

    def test_metrics_tell_what_was_lost(self):
        lines = self.path("m.jsonl")
        flags = ("--steps", 40, "--checkpoint-dir", self.path("c"), "--checkpoint-every", "1h", "--metrics", lines)
        run = self.start(PROCESSES, self.plan(*MICRO, *LAYOUT), *flags, launch=("--restarts", 1))
        run.find_ranks()
        self.assertTrue(run.await_lines(lines, 3))
        run.send(1, signal.SIGKILL)
        status, err = run.end()
        self.assertEqual(status, 0, err)
        self.assertRegex(err, r"(?m)^restarted after step 0; steps 1 to \d+ are done again, as rank 1 is lost: ")
        expected, expected_numbers = self.undisturbed("data", 40)
        self.assertEqual(saved(self.path("c")), expected)
        self.assertEqual(numbers(lines), expected_numbers)

    def test_no_more_than_allowed(self):
        for flags, line in ((("--restarts", 1), "--restarts allows 1, and so many were made"),
                            (("--restarts", 9, "--restarts-per-hour", 0),
                             "--restarts-per-hour allows 0, and so many were made within an hour")):
            with self.subTest(flags=flags):
                run = self.start(PROCESSES, self.plan(*MICRO, *LAYOUT), *ENDLESS, "--checkpoint-dir",
                                 self.path("c" + str(len(flags))), launch=flags)
                for _ in range(2 if len(flags) == 2 else 1):
                    run.find_ranks()
                    run.send(0, signal.SIGKILL)
                    while os.path.exists(f"/proc/{run.ranks[0]}"):
                        time.sleep(0.01)
                    run.ranks = {}
                status, err = run.end()
                self.assertNotEqual(status, 0, err)
                self.assertIn(f"weft-launch: the run does not begin again: {line}\n", err)

    def test_what_another_run_would_meet_ends_it(self):
        plan = self.plan(*MICRO, *LAYOUT, "optimizer.adamw.lr=1e30")
        status, err = self.start(PROCESSES, plan, "--steps", 9, "--checkpoint-dir", self.path("c"),
                                 launch=("--restarts", 5)).end()
        self.assertEqual(status, 1, err)
        self.assertNotIn("begins again", err)
        self.assertIn("loss: expected a finite number", err)

    def test_whoever_stops_it_means_it(self):
        lines = self.path("m.jsonl")
        run = self.start(PROCESSES, self.plan(*MICRO, *LAYOUT), *ENDLESS, "--checkpoint-dir", self.path("c"), "--metrics",
                         lines, launch=("--restarts", 5))
        run.find_ranks()
        self.assertTrue(run.await_lines(lines, 2))
        run.process.send_signal(signal.SIGTERM)
        status, err = run.end()
        self.assertEqual(status, 0, err)
        self.assertNotIn("begins again", err)


if __name__ == "__main__":
    main()
