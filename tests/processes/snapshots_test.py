#!/usr/bin/env python3
"""Ranks are lost whose state is in the memory of their host: the run goes on from there, to the same bits."""
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, "tests/processes")
from processes import LAYOUTS, MICRO, ProcessesTest, Run, numbers, saved  # noqa: E402
from programs import TOKENS, call, command, contents, main  # noqa: E402

LAYOUTS["zero"] = (("dist.data=2", "zero.stage=1"), 2)
STEPS, EVERY = 160, 60  # a rank that is killed behind a snapshot is killed before the next one
SELDOM = ("--checkpoint-every", "1h")


def lines_of(path, kind):
    """What a file has of a kind in its whole lines, which may be written at."""
    begin = b'{"' + kind.encode() + b'":'
    return [json.loads(line)[kind] for line in contents(path).split(b"\n")[:-1] if line.startswith(begin)]


class Alone(Run):
    """`weft run`: all ranks in one process."""

    def begin(self, processes, *arguments):
        self.processes, self.ranks = processes, {}
        self.launch(command("weft-run", *arguments[1:]))


class SnapshotsTest(ProcessesTest):
    def setUp(self):
        super().setUp()
        self.memory = tempfile.mkdtemp(prefix="weft-test-", dir="/dev/shm")  # a killed test leaves its own; sandboxes number processes alike
        self.addCleanup(shutil.rmtree, self.memory)
        self.lines = self.path("m.jsonl")

    def flags(self, steps=STEPS, every=EVERY):
        return ("--steps", steps, "--checkpoint-dir", self.path("c"), "--metrics", self.lines, "--snapshot-every", every,
                "--snapshot-dir", self.memory, *SELDOM)

    def plan_of(self, layout):
        return self.plan(*MICRO, *LAYOUTS[layout][0])

    def kill(self, layout, *flags, every=EVERY, snapshots=1, make=Run, **options):
        """Kills the last rank of a run, or all of it, once there are so many snapshots; what was said when it has ended."""
        processes = LAYOUTS[layout][1]
        run = self.start(processes, self.plan_of(layout), *self.flags(every=every), *flags, make=make, **options)
        if make is Run:
            run.find_ranks()
        self.assertTrue(run.await_lines(self.lines, 1))
        while len(lines_of(self.lines, "snapshot")) < snapshots:
            self.assertIsNone(run.process.poll())
            time.sleep(0.002)
        if make is Run:
            run.send(processes - 1, signal.SIGKILL)
        else:
            run.process.kill()
        return run.end()

    def resume(self, layout, *flags, steps=STEPS):
        """By hand; what was said."""
        return self.run_processes(LAYOUTS[layout][1], self.plan_of(layout), *self.flags(steps), "--resume", *flags)

    def left(self):
        """{step: {rank: path}} of the snapshots that lie in memory."""
        found = {}
        for folder, _, names in os.walk(self.memory):
            for name in names:
                of = re.fullmatch(r"step-(\d+)\.rank-(\d+)", name)
                if of is not None:
                    found.setdefault(int(of[1]), {})[int(of[2])] = os.path.join(folder, name)
        return found

    def check_ended(self, layout):
        """With what a run comes to that nobody disturbed; and nothing is left in memory."""
        expected, expected_numbers = self.undisturbed(layout, STEPS)
        self.assertEqual(saved(self.path("c")), expected)
        self.assertEqual(numbers(self.lines), expected_numbers)
        self.check_nothing_left()
        self.assertEqual([name for name in os.listdir(self.path("c")) if name.startswith(".")], [])
        return expected

    def check_nothing_left(self):
        self.assertEqual(os.listdir(self.memory), [])

    def check_killed(self, layout):
        """A rank is killed while it takes a snapshot after every step."""
        status, err = self.kill(layout, every=1, snapshots=3, launch=("--restarts", 1))
        self.assertEqual(status, 0, err)
        (restart,) = lines_of(self.lines, "restart")
        self.assertGreaterEqual(restart["step"], 3, err)
        whole = self.check_ended(layout)
        taken = lines_of(self.lines, "snapshot")
        self.assertIn(restart["step"], [one["step"] for one in taken])
        state = sum(len(content) for name, content in whole.items() if name.endswith(".safetensors"))
        for one in taken:
            self.assertLess(abs(one["bytes"] / state - 1), 0.05)
            self.assertGreaterEqual(one["write_s"], one["stood_s"])

    def test_a_killed_rank_of_replicas_of_which_one_keeps_what_both_need(self):
        self.check_killed("data")

    def test_a_killed_rank_of_some_that_keep_a_part_each(self):
        self.check_killed("zero")

    def test_a_killed_rank_of_a_pipeline(self):
        self.check_killed("data x pipeline")

    def test_one_process_goes_on_by_hand(self):
        self.kill("data", make=Alone)
        self.assertEqual({step: sorted(ranks) for step, ranks in self.left().items()}, {EVERY: [0, 1]})
        result = call("weft-run", self.plan_of("data"), "--data", TOKENS, "--threads", 1, *self.flags(), "--resume")
        self.assertEqual(result.status, 0, result.err)
        self.assertIn(f"resuming after step {EVERY} from the snapshots of host {os.uname().nodename}\n", result.err)
        self.check_ended("data")

    def test_what_is_damaged_or_foreign_is_named_and_the_step_before_taken(self):
        self.kill("data", snapshots=2)
        path = self.left()[2 * EVERY][0]
        with open(path, "r+b") as file:
            file.seek(1000)
            (byte,) = file.read(1)
            file.seek(1000)
            file.write(bytes([byte ^ 1]))
        foreign = os.path.join(os.path.dirname(path), "step-00000150.rank-00000")
        shutil.copy(self.left()[EVERY][0], foreign)
        err = self.resume("data", "--restarted", "it was killed")
        self.assertIn(f"{path}: expected a snapshot as it was written, got another byte in its tiles\n", err)
        self.assertRegex(err, rf"(?m)^{foreign}: expected step-00000150\.rank-00000 of run (\w+), got step-00000060\.rank-00000 "
                         r"of run \1$")
        self.assertIn(f"\nrestarted after step {EVERY}; ", err)
        self.check_ended("data")

    def test_with_another_plan_the_checkpoint_goes_on(self):
        self.run_processes(2, self.plan_of("data"), *self.flags(steps=2))
        self.kill("data", "--resume")
        err = self.resume("tensor", steps=4)
        self.assertIn(f"snapshot of step {EVERY}: it is of another plan; going on from {self.path('c')}/step-00000002\n", err)
        self.check_nothing_left()

    def test_what_others_may_change_is_refused(self):
        self.kill("data")
        (folder,) = os.listdir(self.memory)
        os.chmod(os.path.join(self.memory, folder), 0o755)
        err = self.resume("data", steps=2)
        self.assertRegex(err, rf"{folder}: expected a folder of user \d+ alone \(mode 0700\), got one of user \d+ \(mode 0755\)\n")

    def test_a_launch_that_gives_up_leaves_nothing(self):
        status, err = self.kill("data", launch=("--restarts", 1, "--restarts-per-hour", 0))
        self.assertNotEqual(status, 0)
        self.assertIn("weft-launch: the run does not begin again: ", err)
        self.check_nothing_left()

    def test_a_new_run_forgets_those_of_before(self):
        self.kill("data")
        self.assertNotEqual(self.left(), {})
        self.run_processes(2, self.plan_of("data"), *self.flags(steps=2))
        self.check_nothing_left()

    def test_memory_that_is_not_there_is_an_error(self):
        for folder, shell, status, line in (
                ("/proc", None, 2, "/proc: expected a folder of a memory file system, such as /dev/shm, got one of another"),
                (self.memory, "ulimit -f 64", 1, f"{self.memory}/weft-snapshots-")):
            result = call("weft-run", self.plan_of("data"), "--data", TOKENS, "--steps", 2, "--checkpoint-dir", self.path("c"),
                          "--snapshot-every", 1, "--snapshot-dir", folder, shell=shell)
            self.assertEqual(result.status, status, result.err)
            self.assertIn("weft-run: --snapshot-every: " + line, result.err)
            self.check_nothing_left()


if __name__ == "__main__":
    main()
