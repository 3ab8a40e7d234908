"""A run under `weft launch --restarts` whose ranks are killed again and again: it reaches its last step by itself.

Kills come in turn: one rank after a few steps, one while a checkpoint is written, and two ranks at once. By hand:

    bazel run //tests/processes:restart_test -- --kills 1000
"""
import fcntl
import json
import os
import random
import re
import signal
import sys
import time

sys.path.insert(0, "tests/processes")
from processes import LAYOUTS, MICRO, ProcessesTest, environment_of, saved  # noqa: E402
from programs import contents  # noqa: E402

AHEAD = 24  # steps whose lines a pipe of one page holds, at most
F_SETPIPE_SZ = 1031


class Lines:
    """The metrics of a run, line by line: a pipe of one page, so that it cannot run away from whoever reads."""

    def __init__(self, path):
        os.mkfifo(path)
        self.file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(self.file, F_SETPIPE_SZ, 4096)
        self.rest, self.lines = b"", []

    def read(self):
        """What has come of whole lines: their number."""
        try:
            self.rest += os.read(self.file, 4096)
        except BlockingIOError:
            pass
        *whole, self.rest = self.rest.split(b"\n")
        # A killed run may have left half a line, and the next one goes on behind it.
        whole = [line[line.rfind(b'{"run":') if b'{"run":' in line else 0:] for line in whole]
        self.lines += [json.loads(line) for line in whole if line]
        return len(whole)

    def steps(self):
        return sum("step" in line for line in self.lines)

    def restarts(self):
        return [line["restart"] for line in self.lines if "restart" in line]


class Soak:
    """One run, and who kills its ranks."""

    def __init__(self, test, layout, kills, seed):
        self.test, self.rng, self.kills = test, random.Random(seed), kills
        overrides, self.processes = LAYOUTS[layout]
        # Three steps are done between kills, and the last one leaves enough for what is ahead.
        self.steps = 2 * AHEAD + 3 * kills
        self.folder, path = test.path("soak"), test.path("soak.jsonl")
        self.lines = Lines(path)
        flags = ("--steps", self.steps, "--checkpoint-dir", self.folder, "--checkpoint-every", 2, "--checkpoint-keep", 2,
                 "--metrics", path)
        self.run = test.start(self.processes, test.plan(*MICRO, *overrides), *flags,
                              launch=("--restarts", kills, "--restarts-per-hour", 10**6))
        self.in_a_write = 0
        self.at = 0  # steps that the restart of before went on after

    def running(self):
        return self.run.process.poll() is None

    def ranks(self):
        """Those of the present attempt."""
        self.run.ranks = {rank: process for rank, process in self.run.ranks.items()
                          if environment_of(process).get("OMPI_COMM_WORLD_RANK") == str(rank)}
        return self.run.find_ranks()

    def partial(self):
        try:
            return any(name.endswith(".partial") for name in os.listdir(self.folder))
        except OSError:
            return False

    def await_restart(self, count):
        while self.running() and len(self.lines.restarts()) < count:
            if not self.lines.read():
                time.sleep(0.005)

    def last_step(self):
        return max((line["step"] for line in self.lines.lines if "step" in line), default=0)

    def kill(self, number):
        """The kill of this number, from 0."""
        way = ("step", "write", "two")[number % 3]
        ranks = self.ranks()
        until = self.lines.steps() + self.rng.randrange(1, 6)
        while self.running() and self.lines.steps() < until and self.last_step() < self.steps - AHEAD:
            if not self.lines.read():
                time.sleep(0.001)
        if way == "write":
            self.await_write(ranks[0])
        victims = self.rng.sample(sorted(ranks), 2 if way == "two" else 1)
        for rank in victims:
            self.run.send(rank, signal.SIGKILL)
        self.run.send(0, signal.SIGCONT)

    def await_write(self, first):
        """Until a checkpoint is being written, whose process is stopped then; or the run could end before."""
        while self.running() and self.last_step() < self.steps - AHEAD:
            self.lines.read()
            if not self.partial():
                continue
            os.kill(first, signal.SIGSTOP)
            while contents(f"/proc/{first}/stat").rsplit(b")", 1)[1].split()[0] != b"T":
                pass
            if self.partial():
                self.in_a_write += 1
                return
            os.kill(first, signal.SIGCONT)

    def go(self):
        """All of it; what was said."""
        for number in range(self.kills):
            self.kill(number)
            self.await_restart(number + 1)
        while self.running():
            if not self.lines.read():
                time.sleep(0.005)
        self.lines.read()
        return self.run.end()


def soak(test: ProcessesTest, layout, kills, seed):
    """Kills, and compares with a run that nobody disturbed."""
    run = Soak(test, layout, kills, seed)
    status, err = run.go()
    test.assertEqual(status, 0, err)
    expected, expected_numbers = test.undisturbed(layout, run.steps)
    test.assertEqual(saved(run.folder), expected)
    test.assertEqual([name for name in os.listdir(run.folder) if name.startswith(".")], [])
    # Every line of every attempt is that of the undisturbed run: what is done again comes to the same.
    for line in run.lines.lines:
        if "step" in line:
            known = expected_numbers[line["step"] - 1]
            test.assertEqual({key: line[key] for key in known}, known)
    restarts = run.lines.restarts()
    test.assertEqual(len(restarts), kills, err)
    for restart in restarts:
        test.assertRegex(restart["reason"], r"^(rank \d+|a rank) is lost")
    test.assertEqual([int(number) for number in re.findall(r"^weft-launch: the run begins again, restart (\d+) of", err, re.M)],
                     list(range(1, kills + 1)))
    test.assertEqual(len(re.findall(r"^restarted after step \d+.*, as (rank \d+|a rank) is lost", err, re.M)), kills, err)
    return run
