"""Benchmarks of whole runs, as ratios measured in one run on this machine.

Run it through tools/bench/run, which builds what it needs. Every training rate
is put beside the best matrix product measured just before and after it on as
many threads, so that a loaded or throttled machine shows in both.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time


def fail(message):
    sys.exit("bench: " + message)


class Tools:
    """The built programs, and a folder for what they write."""

    def __init__(self, bin_dir, root, folder):
        self.bin_dir, self.root, self.folder = bin_dir, root, folder

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def job(self, name):
        return os.path.join(self.root, "models", "gpt2", name + ".job")

    def run(self, tool, *arguments):
        command = [os.path.join(self.bin_dir, tool)] + list(arguments)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            fail("%s failed:\n%s" % (" ".join(command), done.stdout))
        return done.stdout

    def measured(self, tool, *arguments):
        """(seconds, peak bytes) of one process."""
        command = [os.path.join(self.bin_dir, tool)] + list(arguments)
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.stderr.close()
        if status != 0:
            fail("%s failed:\n%s" % (" ".join(command), error))
        return time.monotonic() - begin, usage.ru_maxrss * 1024

    def compile(self, job, overrides, name):
        plan = self.path(name + ".plan")
        self.run("weft-compile", self.job(job), *overrides, "-o", plan, "--quiet")
        return plan

    def gemm(self, threads):
        """The best rate of a matrix product in GFLOP/s."""
        return float(re.search(r"best ([0-9.]+)", self.run("gemm", str(threads))).group(1))


def text_corpus(path):
    """Bytes that look like tokens; their content does not change the speed."""
    with open(path, "wb") as out:
        out.write(bytes((i * 2654435761 >> 7) % 96 + 32 for i in range(1 << 20)))


def train(tools, plan, steps, threads):
    """Steps' metrics without the first, which pays for warm-up."""
    metrics = tools.path("metrics.jsonl")
    if os.path.exists(metrics):
        os.remove(metrics)
    tools.run("weft-run", plan, "--data", tools.path("corpus.txt"), "--steps", str(steps), "--threads", str(threads),
              "--metrics", metrics, "--quiet")
    with open(metrics) as lines:
        return [json.loads(line) for line in lines][1:]


def median(values):
    values = sorted(values)
    return values[len(values) // 2]



def throughput(tools, quick):
    print("Training, one rank, float32 (share: achieved GFLOP/s over the best matrix product beside it)")
    print("  %-30s %7s %10s %10s %10s %7s" % ("model", "threads", "tokens/s", "GFLOP/s", "GEMM", "share"))
    models = [("6 layers, hidden 384", "small", [])] + ([] if quick else [("124M", "124m", [])])
    for label, job, extra in models:
        for sequence in (64, 256):
            for threads in (1, 2):
                overrides = ["model.set=seq=%d" % sequence, "model.set=positions=%d" % sequence,
                             "model.set=dropout=0.0", "batch.global=4", "batch.micro=4", "data.format=TEXT"] + extra
                plan = tools.compile(job, overrides, "throughput")
                before = tools.gemm(threads)
                steps = train(tools, plan, 4 if job == "124m" else 12, threads)
                best = max(before, tools.gemm(threads))
                rate = median([s["tflops"] for s in steps]) * 1000
                tokens = median([s["tokens_per_s"] for s in steps])
                print("  %-30s %7d %10.0f %10.1f %10.1f %6.0f%%" %
                      ("%s, 4 x %d" % (label, sequence), threads, tokens, rate, best, 100 * rate / best), flush=True)


def ranks(tools):
    print("Step time of more ranks beside one (one thread a rank; two cores run four ranks in turn)")
    base = None
    for label, dist in (("1 rank", []), ("data=2", ["dist.data=2"]), ("tensor=2", ["dist.tensor=2"]),
                        ("data=2 tensor=2", ["dist.data=2", "dist.tensor=2"])):
        plan = tools.compile("small", ["model.set=dropout=0.0", "batch.global=8", "batch.micro=8"] + dist, "ranks")
        steps = train(tools, plan, 8, 1)
        seconds = median([s["tokens"] / s["tokens_per_s"] for s in steps])
        base = base or seconds
        print("  %-18s %7.3f s  %5.2f x one rank's speed" % (label, seconds, base / seconds), flush=True)


def planned_of(tools, plan):
    return sum(stage["arena_bytes"] for stage in json.loads(tools.run("weft-plan", "memory", plan, "--json"))["stages"])


def peak_of(tools, plan):
    return tools.measured("weft-run", plan, "--data", tools.path("corpus.txt"), "--steps", "3", "--threads", "1",
                          "--quiet")[1]


def memory(tools, quick):
    print("Memory: what the plan says, and what the process takes beyond its own size (that of a tiny run, less its plan)")
    tiny = tools.compile("tiny", [], "idle")
    idle = peak_of(tools, tiny) - planned_of(tools, tiny)
    for job in ["small"] + ([] if quick else ["124m"]):
        plan = tools.compile(job, ["batch.global=4", "batch.micro=4", "data.format=TEXT", "model.set=seq=256",
                                   "model.set=positions=256"], "memory")
        planned, peak = planned_of(tools, plan), peak_of(tools, plan)
        print("  %-6s planned %8.1f MiB, measured %8.1f MiB, ratio %.3f" %
              (job, planned / 2**20, (peak - idle) / 2**20, (peak - idle) / planned), flush=True)


def start(tools):
    print("Start-up and compilation")
    seconds, peak = tools.measured("weft-compile", tools.job("1.5b"), "dist.data=8", "dist.tensor=8", "-o",
                                   tools.path("large.plan"))
    print("  weft-compile 1.5b for 8 x 8 ranks: %.2f s, %.0f MiB" % (seconds, peak / 2**20))
    plan = tools.compile("tiny", ["dist.data=2", "dist.tensor=2"], "start")
    seconds, _ = tools.measured("weft-run", plan, "--data", tools.path("corpus.txt"), "--steps", "1", "--quiet")
    print("  weft-run tiny on 2 x 2 ranks, process start to the end of step 0: %.2f s" % seconds)
    sizes = [os.path.getsize(tools.compile("124m", ["batch.global=64", "batch.micro=64", "dist.data=%d" % n], "size"))
             for n in (16, 64)]
    print("  plan size of 124m: %d bytes on 16 data-parallel ranks, %d on 64 (%.1f bytes a rank more)" %
          (sizes[0], sizes[1], (sizes[1] - sizes[0]) / 48))
    print("  " + tools.run("actors").strip().replace("\n", "\n  "))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder with the built programs")
    parser.add_argument("--root", required=True, help="folder of the checkout")
    parser.add_argument("--quick", action="store_true", help="without the 124M model")
    parser.add_argument("parts", nargs="*", default=["throughput", "ranks", "memory", "start"],
                        help="throughput, ranks, memory, start; all if none is named")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        tools = Tools(arguments.bin, arguments.root, folder)
        text_corpus(tools.path("corpus.txt"))
        parts = {"throughput": lambda: throughput(tools, arguments.quick), "ranks": lambda: ranks(tools),
                 "memory": lambda: memory(tools, arguments.quick), "start": lambda: start(tools)}
        for part in arguments.parts:
            if part not in parts:
                fail("expected %s, got %s" % (", ".join(parts), part))
            parts[part]()


if __name__ == "__main__":
    main()
