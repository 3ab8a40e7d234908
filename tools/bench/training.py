"""Rates, memory and start-up of training, as ratios measured in one run.

Every training rate is put beside the best matrix product measured just before
and after it on as many threads, so that a loaded or throttled machine shows in
both.
"""

import json
import os
import subprocess
import sys

from programs import fail, median, step_seconds, train


ROUNDS = 3  # in which Weft and PyTorch have their turns
LEAST = 1.35  # times the better PyTorch row: the aim


class Shape:
    """A model, the sequences of a step, an element type: what Weft and PyTorch train alike."""

    def __init__(self, label, model, job, sizes, batch, sequence, precision, steps):
        self.label, self.model, self.job, self.sizes, self.steps = label, model, job, sizes, steps
        self.batch, self.sequence, self.precision = batch, sequence, precision

    def __str__(self):
        return "%s, %d x %d, %s" % (self.label, self.batch, self.sequence, self.precision)

    def compile(self, tools, name):
        sequence = ["seq", "positions"] if self.model == "gpt2" else ["seq"]
        return tools.compile(self.job, ["model.set=%s=%d" % (it, self.sequence) for it in sequence] +
                             (["model.set=dropout=0.0"] if self.model == "gpt2" else []) +
                             ["batch.global=%d" % self.batch, "batch.micro=%d" % self.batch, "data.format=TEXT"] +
                             (["precision.compute=BF16"] if self.precision == "bfloat16" else []), name, self.model)

    def torch(self, tools, threads, *flags):
        """Tokens/s of PyTorch."""
        return self._peer(tools, sys.executable, "torch", flags, precision=self.precision, threads=threads,
                          steps=self.steps, warmup=2, matrix=1024, device="cpu")

    def oneflow(self, tools, python, threads, *flags):
        """Tokens/s of OneFlow, which takes ten times as long for a step: fewer of them."""
        return self._peer(tools, python, "oneflow", flags, threads=threads, steps=3, warmup=1)

    def _peer(self, tools, python, name, flags, **options):
        script = os.path.join(tools.root, "tools", "bench", "peers", "%s_%s.py" % (name, self.model))
        options = dict(self.sizes, batch=self.batch, seq=self.sequence, **options)
        done = subprocess.run([python, script, *("--%s=%s" % it for it in options.items()), *flags],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            fail("%s: no result: %s" % (script, (done.stderr.splitlines() or ["?"])[-1]))
        return json.loads(done.stdout.splitlines()[-1])["tokens_s"]  # OneFlow warns before it


SMALL = dict(layers=6, hidden=384, heads=6, vocab=256)
LARGE = dict(layers=12, hidden=768, heads=12)
LLAMA = dict(layers=2, hidden=64, heads=4, kv_heads=2, inner=176, vocab=256)


def shapes(quick):
    precisions = ("float32",) if quick else ("float32", "bfloat16")
    for label, job, sizes, steps in [("6 layers, hidden 384", "small", SMALL, 12)] + (
            [] if quick else [("124M", "124m", LARGE, 4)]):
        for sequence in (64, 256):
            for precision in precisions:
                yield Shape(label, "gpt2", job, sizes, 4, sequence, precision, steps)
    for precision in precisions:
        yield Shape("Llama, 2 layers, hidden 64", "llama", "tiny", LLAMA, 32, 64, precision, 60)


def throughput(tools, quick):
    print("Training, one rank (share: achieved GFLOP/s over the best matrix product beside it, of the same element type)")
    beside = subprocess.run([sys.executable, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0
    oneflow = os.environ.get("ONEFLOW_PYTHON")
    print("  PyTorch: tokens/s, eager and compiled, in turn with Weft; aim: %.2f x the better one" % LEAST if beside else
          "  python3 has no torch: no PyTorch beside it")
    if not oneflow:
        print("  ONEFLOW_PYTHON names no python3 with oneflow (tools/bench/peers/oneflow_gpt2.py): no OneFlow beside it")
    print("  %-38s %7s %10s %10s %6s%s" % ("model", "threads", "tokens/s", "GEMM", "share",
                                           "%10s %10s %7s" % ("eager", "compiled", "ratio") if beside else ""))
    for shape in shapes(quick):
        for threads in (1, 2):
            plan = shape.compile(tools, "throughput")
            types = ["bf16"] if shape.precision == "bfloat16" else []
            tokens, shares, best, eager, compiled = [], [], [], [], []
            for _ in range(1 if quick else ROUNDS):
                before = tools.gemm(threads, *types)
                steps = train(tools, plan, shape.steps, threads)
                best.append(max(before, tools.gemm(threads, *types)))
                tokens.append(median([step["tokens_per_s"] for step in steps]))
                shares.append(median([step["tflops"] for step in steps]) * 1000 / best[-1])
                if beside:
                    eager.append(shape.torch(tools, threads, "--eager"))
                    compiled.append(shape.torch(tools, threads))
            line = "  %-38s %7d %10.0f %10.1f %5.0f%%" % (shape, threads, median(tokens), median(best), 100 * median(shares))
            if beside:
                line += "%10.0f %10.0f %7.2f" % (median(eager), median(compiled),
                                                 median(tokens) / max(median(eager), median(compiled)))
            print(line, flush=True)
            if oneflow and shape.model == "gpt2" and shape.job == "small" and shape.precision == "float32":
                peers = [shape.oneflow(tools, oneflow, threads, *flags) for flags in (["--eager"], [])]
                print("  %-38s %7d %10.0f eager, %.0f nn.Graph: Weft has %.1f x the better one" %
                      ("  OneFlow", threads, *peers, median(tokens) / max(peers)), flush=True)
    if not quick:
        rest(tools)


def rest(tools):
    shape = Shape("124M", "gpt2", "124m", LARGE, 4, 256, "float32", 6)
    print("Where the seconds of a step go: %s, 1 thread, kernels traced" % shape)
    plan, trace = shape.compile(tools, "rest"), tools.path("rest.json")
    train(tools, plan, shape.steps, 1, "--trace", trace, "--trace-kernels")
    traced = tools.run_json("weft-plan", "explain", plan, "--with", trace)["traced"]
    families = sorted(traced["families"], key=lambda it: -it["traced_s"])
    step = traced["step"]["traced_s"]
    shown = [(it["name"], it["runs"], it["traced_s"]) for it in families[:12]]
    shown.append(("others", sum(it["runs"] for it in families[12:]), sum(it["traced_s"] for it in families[12:])))
    shown.append(("between kernels", 0, step - sum(it["traced_s"] for it in families)))
    for name, runs, seconds in shown:
        print("  %-30s x%-5d %8.2f ms  %5.1f %%" % (name, runs, seconds * 1e3, 100 * seconds / step), flush=True)


def products(tools, quick):
    print("Float32 products of GPT-2 124M; ': what lies there is the transpose")
    for threads in (1,) if quick else (1, 2):
        print(tools.run("gemm", str(threads), "shapes"), end="", flush=True)


def ranks(tools, quick):
    print("Step time of more ranks beside one (one thread a rank; two cores run four ranks in turn)")
    base = None
    for label, dist in (("1 rank", []), ("data=2", ["dist.data=2"]), ("tensor=2", ["dist.tensor=2"]),
                        ("data=2 tensor=2", ["dist.data=2", "dist.tensor=2"])):
        plan = tools.compile("small", ["model.set=dropout=0.0", "batch.global=8", "batch.micro=8"] + dist, "ranks")
        steps = train(tools, plan, 8, 1)
        seconds = median([s["tokens"] / s["tokens_per_s"] for s in steps])
        base = base or seconds
        print("  %-18s %7.3f s  %5.2f x one rank's speed" % (label, seconds, base / seconds), flush=True)


def busy(tools, quick):
    print("Step time while others want the cores, over that while they do not (two busy loops a core: fair is 3)")
    for label, overrides in (("float32", []), ("bfloat16", ["precision.compute=BF16"])):
        plan = tools.compile("tiny", ["data.format=TEXT"] + overrides, "busy")
        for threads in (1, 2):
            idle = step_seconds(train(tools, plan, 40, threads))
            others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
            try:
                steps = train(tools, plan, 40, threads)
            finally:
                for other in others:
                    other.kill()
                    other.wait()
            # The mean: a step that waited for a core counts.
            seconds = sum(s["tokens"] / s["tokens_per_s"] for s in steps) / len(steps)
            print("  %-9s %d thread%s  %6.2f ms, busy %7.2f ms, ratio %5.1f" %
                  (label, threads, "s" if threads > 1 else " ", idle * 1e3, seconds * 1e3, seconds / idle), flush=True)


def planned_of(tools, plan):
    return sum(stage["arena_bytes"] for stage in json.loads(tools.run("weft-plan", "memory", plan, "--json"))["stages"])


def peak_of(tools, plan):
    return tools.measured("weft-run", plan, "--data", tools.path("corpus.txt"), "--steps", "3", "--threads", "1",
                          "--quiet").peak_bytes


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


def start(tools, quick):
    print("Start-up and compilation")
    compiled = tools.measured("weft-compile", tools.job("1.5b"), "model.set=heads=16", "dist.data=8", "dist.tensor=8", "-o",
                                   tools.path("large.plan"))
    print("  weft-compile 1.5b for 8 x 8 ranks: %.2f s, %.0f MiB" % (compiled.seconds, compiled.peak_bytes / 2**20))
    plan = tools.compile("tiny", ["dist.data=2", "dist.tensor=2"], "start")
    run = tools.measured("weft-run", plan, "--data", tools.path("corpus.txt"), "--steps", "1", "--quiet")
    print("  weft-run tiny on 2 x 2 ranks, process start to the end of the first step: %.2f s" % run.seconds)
    sizes = [os.path.getsize(tools.compile("124m", ["batch.global=64", "batch.micro=64", "dist.data=%d" % n], "size"))
             for n in (16, 64)]
    print("  plan size of 124m: %d bytes on 16 data-parallel ranks, %d on 64 (%.1f bytes a rank more)" %
          (sizes[0], sizes[1], (sizes[1] - sizes[0]) / 48))
    print("  " + tools.run("actors").strip().replace("\n", "\n  "))
