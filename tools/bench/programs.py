"""The built programs, run from the benches, and what they write."""

import collections
import contextlib
import json
import os
import re
import subprocess
import sys
import time


def fail(message):
    sys.exit("bench: " + message)


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


Usage = collections.namedtuple("Usage", "seconds peak_bytes cpu_seconds")  # of a process


class Tools:
    """The built programs, and a folder for what they write."""

    def __init__(self, bin_dir, root, folder):
        self.bin_dir, self.root, self.folder = bin_dir, root, folder

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def job(self, name, model="gpt2"):
        return os.path.join(self.root, "models", model, name + ".job")

    def cluster(self, name):
        return os.path.join(self.root, "clusters", name + ".cluster")

    def command(self, tool, *arguments):
        return [os.path.join(self.bin_dir, tool)] + list(arguments)

    def run(self, tool, *arguments):
        command = self.command(tool, *arguments)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            fail("%s failed:\n%s" % (" ".join(command), done.stdout))
        return done.stdout

    def run_json(self, tool, *arguments):
        return json.loads(self.run(tool, *arguments, "--json"))

    def measured(self, tool, *arguments):
        """The Usage of one process."""
        command = self.command(tool, *arguments)
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.stderr.close()
        if status != 0:
            fail("%s failed:\n%s" % (" ".join(command), error))
        return Usage(time.monotonic() - begin, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)

    def compile(self, job, overrides, name, model="gpt2"):
        plan = self.path(name + ".plan")
        self.run("weft-compile", self.job(job, model), *overrides, "-o", plan, "--quiet")
        return plan

    @contextlib.contextmanager
    def awake(self):
        """Keeps cores from being idle, which changes what those of a virtual machine are worth (awake.cc)."""
        process = subprocess.Popen(self.command("awake"))
        time.sleep(1)
        if process.poll() is not None:
            fail("awake: ended with %d" % process.returncode)
        try:
            yield
        finally:
            process.kill()
            process.wait()

    def gemm(self, threads, *types):
        """The best rate of a matrix product in GFLOP/s, in float32, or `bf16`."""
        return float(re.search(r"best ([0-9.]+)", self.run("gemm", str(threads), *types)).group(1))


def text_corpus(path):
    """Bytes that look like tokens; their content does not change the speed."""
    with open(path, "wb") as out:
        out.write(bytes((i * 2654435761 >> 7) % 96 + 32 for i in range(1 << 20)))


def read_metrics(path):
    """Steps' metrics without the first, which pays for warm-up."""
    with open(path) as lines:
        return [line for line in map(json.loads, lines) if line.get("step", 0) > 1]


def train(tools, plan, steps, threads, *flags):
    return train_side_by_side(tools, [plan], steps, threads, *flags)[0]


def train_side_by_side(tools, plans, steps, threads, *flags):
    """The metrics of processes that run at the same time, one a plan."""
    running = []
    for i, plan in enumerate(plans):
        metrics = tools.path("metrics%d.jsonl" % i)
        if os.path.exists(metrics):
            os.remove(metrics)
        command = tools.command("weft-run", plan, "--data", tools.path("corpus.txt"), "--steps", str(steps),
                                "--threads", str(threads), "--metrics", metrics, "--quiet", *flags)
        running.append((command, metrics, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                                           text=True)))
    for command, _, process in running:
        said, _ = process.communicate()
        if process.returncode != 0:
            fail("%s failed:\n%s" % (" ".join(command), said))
    return [read_metrics(metrics) for _, metrics, _ in running]


def step_seconds(steps):
    """Of one step, the median."""
    return median([step["tokens"] / step["tokens_per_s"] for step in steps])
