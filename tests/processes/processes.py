"""Runs of several processes on this machine, and what can happen to them."""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests/support")
from programs import LIMIT_S, PROGRAMS, TOKENS, ProgramTest, command, contents, metrics, saved_step  # noqa: E402

PROGRAMS["weft-launch"] = "tools/launch/weft-launch"
ENDS_WITHIN_S = 10  # every other rank, when one is lost
LAUNCH_ENDS_WITHIN_S = 30  # then: an mpirun that hangs when its ranks have ended gets 12 s (attendant.cc), on a busy machine more
# Two micro-batches; names of layouts to overrides and processes.
MICRO = ("batch.micro=2",)
LAYOUTS = {
    "data": (("dist.data=2",), 2),
    "tensor": (("dist.tensor=2",), 2),
    "pipeline": (("dist.pipeline=2",), 2),
    "data x pipeline": (("dist.data=2", "dist.pipeline=2"), 4),
    "data x tensor x pipeline": (("dist.data=2", "dist.tensor=2", "dist.pipeline=2"), 8),
}
NUMBERS = ("step", "loss", "grad_norm", "lr", "tokens")  # of a metrics line: what is no measurement


def numbers(path):
    return [{key: line[key] for key in NUMBERS} for line in metrics(path)]


def saved(folder):
    """The newest checkpoint, see saved_step."""
    return saved_step(folder + "/" + contents(folder + "/latest").decode().strip())


def steps_in(path):
    """Of how many steps a metrics file has lines; 0 if there is none."""
    return sum(line.startswith(b'{"step":') for line in contents(path).splitlines()) if os.path.exists(path) else 0


class Run:
    """A run under way: `weft launch`, its mpirun, and the ranks below that."""

    def __init__(self, processes, plan, *flags, data=TOKENS, launch=()):
        self.begin(processes, *launch, "--", plan, "--data", data, "--threads", 1, "--quiet", *flags)

    def begin(self, processes, *arguments):
        self.processes = processes
        line = command("weft-launch", "-n", processes, *arguments)
        environment = {key: value for key, value in os.environ.items() if key != "XML_OUTPUT_FILE"}
        self.launch(line, env=environment)
        self.ranks = {}

    def find_ranks(self, awaited=None):
        """{rank: process}, once all are there, or the one that is awaited."""
        while len(self.ranks) < self.processes and awaited not in self.ranks and self.process.poll() is None:
            for launcher in children(self.process.pid):
                for process in children(launcher):
                    rank = environment_of(process).get("OMPI_COMM_WORLD_RANK")
                    if rank is not None:
                        self.ranks[int(rank)] = process
            time.sleep(0.001)
        return self.ranks

    def await_lines(self, path, count):
        """Waits until the metrics file has lines of so many steps; false if the run has ended before."""
        while steps_in(path) < count:
            if self.process.poll() is not None:
                return False
            time.sleep(0.002)
        return True

    def send(self, rank, number):
        try:
            os.kill(self.ranks[rank], number)
        except ProcessLookupError:
            pass

    def launch(self, line, **options):
        # A file takes all that a long run says while nobody reads; a pipe would stop the run when it is full.
        self.err = tempfile.TemporaryFile()
        self.process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stderr=self.err, **options)

    def end(self):
        """Waits: (status, text of stderr)."""
        status = self.process.wait(timeout=LIMIT_S)
        with self.err:
            self.err.seek(0)
            return status, self.err.read().decode("utf-8", "replace")

    def all_gone(self):
        """Whether no rank is left, after the time that one has."""
        end = time.monotonic() + ENDS_WITHIN_S
        while time.monotonic() < end:
            if not any(os.path.exists(f"/proc/{process}") for process in self.ranks.values()):
                return True
            time.sleep(0.02)
        return False


def children(process):
    try:
        return [int(child) for task in os.listdir(f"/proc/{process}/task")
                for child in contents(f"/proc/{process}/task/{task}/children").split()]
    except OSError:
        return []


def environment_of(process):
    try:
        return dict(entry.split("=", 1) for entry in
                    contents(f"/proc/{process}/environ").decode("utf-8", "replace").split("\0") if "=" in entry)
    except OSError:
        return {}


class Generation(Run):
    """`weft launch ... generate`, likewise."""

    def __init__(self, processes, job, *arguments):
        self.begin(processes, "generate", job, *arguments, "--threads", 1)


class ProcessesTest(ProgramTest):
    def start(self, processes, plan, *flags, make=Run, **options):
        run = make(processes, plan, *flags, **options)
        self.addCleanup(run.err.close)
        self.addCleanup(lambda: run.process.poll() is None and run.process.kill())
        return run

    def run_processes(self, processes, plan, *flags):
        status, err = self.start(processes, plan, *flags).end()
        self.assertEqual(status, 0, err)
        return err

    def undisturbed(self, layout, steps):
        """The newest checkpoint and the numbers of a run in one process."""
        overrides, _ = LAYOUTS[layout]
        name = self.path("whole " + layout)
        self.train(self.plan(*MICRO, *overrides), steps, "--checkpoint-dir", name, "--metrics", name + ".jsonl")
        return saved(name), numbers(name + ".jsonl")

    def killed(self, rng, layout, steps, flags):
        """Kills a random rank at a random moment of a run that saves every step; returns what was said."""
        overrides, processes = LAYOUTS[layout]
        run = self.start(processes, self.plan(*MICRO, *overrides), *flags)
        run.find_ranks()
        victim, after, delay = rng.randrange(processes), rng.randrange(steps), rng.random() * 0.03
        run.await_lines(flags[flags.index("--metrics") + 1], after)
        time.sleep(delay)
        run.send(victim, signal.SIGKILL)
        begin = time.monotonic()
        status, err = run.end()
        self.assertLess(time.monotonic() - begin, LAUNCH_ENDS_WITHIN_S, err)
        self.assertTrue(run.all_gone())
        # All was done before, or all but MPI's own end.
        folder = flags[flags.index("--checkpoint-dir") + 1]
        if not os.path.exists(f"{folder}/step-{steps:08d}") or " is lost" in err:
            self.assertNotEqual(status, 0)
            self.assertEqual(err.count(" is lost: its process "), 1, err)
            # mpirun may end before it has passed on what a rank said.
            self.assertRegex(err, f"weft-(run|launch): rank {victim} is lost: its process ({run.ranks[victim]} )?has ended")
        return err

    def killed_and_resumed(self, seed, layout, steps, expected, expected_numbers, resume=None):
        """Kills a rank as above, then goes on with the run: with the same processes, or as `resume(plan, *flags)` does."""
        overrides, processes = LAYOUTS[layout]
        folder, lines = self.path(f"c{seed}"), self.path(f"m{seed}.jsonl")
        flags = ("--steps", steps, "--checkpoint-dir", folder, "--checkpoint-every", 1, "--checkpoint-keep", 2,
                 "--metrics", lines)
        err = self.killed(random.Random(seed), layout, steps, flags)
        if resume is None:
            self.run_processes(processes, self.plan(*MICRO, *overrides), *flags, "--resume")
            self.assertEqual(saved(folder), expected)
            self.assertEqual(numbers(lines), expected_numbers)
        else:
            resume(flags, expected, expected_numbers)
        shutil.rmtree(folder)
        return err
