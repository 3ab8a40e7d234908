"""How fast a model trains on this GPU, beside the rate of its matrix products and beside PyTorch, all in one run; and what
the GPU does in a step. tools/bench/run gpu prints the same."""

import glob
import json
import os
import statistics
import sys
import sysconfig
import threading

import kernel_table
from machine import CheckFailed, OutOfTime, find_tool, last_line

STEPS, WARMUP = 30, 10
PROFILED = 12  # steps
# For the peer, whose model is described by numbers, if it has one like it.
SHAPES = {"tiny": {"layers": 2, "hidden": 64, "heads": 4, "seq": 64, "vocab": 256},
          "345m": {"layers": 24, "hidden": 1024, "heads": 16}, "124m": {"layers": 12, "hidden": 768, "heads": 12},
          "124m-4x8": {"layers": 12, "hidden": 768, "heads": 12, "micro-batches": 4}, "1.5b": {"layers": 48, "hidden": 1600, "heads": 25}}


class MemoryWatch:
    """The most memory in use on GPU 0, by nvidia-smi; None without it. Includes what the driver and libraries take."""

    def __init__(self, pack):
        self.pack, self.smi, self.most = pack, find_tool("nvidia-smi"), None
        self.stop = threading.Event()

    def look(self):
        command = [self.smi, "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"]
        try:
            status, out, _ = self.pack.call(command, limit_s=60)
        except OutOfTime:  # the program that is watched notices
            return None
        return int(last_line(out)) << 20 if status == 0 and last_line(out).isdigit() else None

    def __enter__(self):
        self.before = self.look() if self.smi else None
        self.thread = threading.Thread(target=self.poll)
        self.thread.start()
        return self

    def poll(self):
        while self.before is not None and not self.stop.wait(0.2):
            seen = self.look()
            if seen is not None:
                self.most = max(self.most or 0, seen - self.before)

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def matrix_rate(pack):
    return json.loads(pack.run("gpu_matrix", *(["--n", 64] if pack.quick else []), *pack.flags()))


def train(pack, plan, data, steps):
    with MemoryWatch(pack) as memory:
        metrics = pack.train(plan, steps, data)
    rates = [step["tokens_per_s"] for step in metrics[min(WARMUP, len(metrics) // 3):]]
    known = pack.manifest["plans"][plan]
    tokens_s = statistics.median(rates)
    return {"plan": plan, "tokens_s": tokens_s, "step_s": known["tokens_per_step"] / tokens_s,
            "flops_s": known["flops_per_step"] * tokens_s / known["tokens_per_step"],
            "planned_bytes": known["planned_bytes"], "measured_bytes": memory.most,
            "losses": [step["loss"] for step in metrics]}


def library_folders():
    """Where CUPTI may be, beside where the system looks."""
    found = ["/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"]
    for packages in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path}:
        found += glob.glob(os.path.join(packages or ".", "nvidia", "*", "lib"))
    return [folder for folder in found if glob.glob(folder + "/libcupti.so*")]


def profiled(pack, name, command):
    """The events of a program that the GPU's profiler looks at; None without CUPTI. --keep keeps them by `name`."""
    for old in glob.glob(pack.scratch("weft-activity.*.tsv")):
        os.remove(old)
    paths = [os.environ.get("LD_LIBRARY_PATH", ""), pack.path("lib"), *([pack.libraries] if pack.libraries else []),
             *library_folders()]
    status, out, err = pack.call(["env", "LD_LIBRARY_PATH=" + ":".join(it for it in paths if it), *command],
                                 CUDA_INJECTION64_PATH=pack.path("lib", "libweft-activity.so"))
    if status != 0:
        raise CheckFailed("under the profiler: exit status %s: %s" % (status, last_line(err)), out + err)
    files = sorted(glob.glob(pack.scratch("weft-activity.*.tsv")), key=os.path.getsize)
    if not files or not os.path.getsize(files[-1]):
        return None
    with open(files[-1], "rb") as file:
        pack.keep(name + ".tsv", file.read())
    return kernel_table.read(files[-1])


def profile(pack, plan, data):
    events = profiled(pack, plan, [pack.path("bin", "weft-run"), pack.plan(plan), "--data", data, "--steps",
                                   str(5 if pack.quick else PROFILED), "--quiet", *pack.flags(), "--algorithm-cache",
                                   pack.scratch("algorithms")])
    return None if events is None else kernel_table.summary(events)


def peer_command(pack, model, size, *flags):
    shape = [it for name, value in SHAPES[model].items() for it in ("--" + name, value)]
    return [sys.executable, pack.path("torch_gpt2.py"), *map(str, ["--batch", size, *shape, *flags])]


def peer_profile(pack, model, size):
    """The peer's table by kernel; None without CUPTI."""
    events = profiled(pack, "torch-%s-%d" % (model, size), peer_command(pack, model, size, "--steps", 5, "--warmup", 5))
    return None if events is None else kernel_table.totals(events)


def peer(pack, model, size):
    """What torch_gpt2.py prints, or {error}."""
    if pack.alone:
        return {"error": "not asked for"}
    if model not in SHAPES:
        return {"error": "no such model"}
    status, out, err = pack.call(peer_command(pack, model, size))
    if status != 0:
        return {"error": last_line(err)}
    return json.loads(last_line(out))


def largest(pack, model, data, steps):
    """The run of the largest micro-batch that is not refused; None if none but the first fits."""
    for size in sorted(pack.manifest["speed"][model][1:], reverse=True):
        try:
            return size, train(pack, "speed-%s-%d" % (model, size), data, steps)
        except CheckFailed as error:
            if not error.does_not_fit():
                raise
    return None


def ratio(run, other):
    return run["tokens_s"] / other["tokens_s"] if other.get("tokens_s") else None


def percent(part, whole):
    return "%.1f %%" % (100 * part / whole) if part is not None and whole else "unknown"


def line_of(size, run, torch, matrix):
    """What a table says of one micro-batch."""
    beside = ratio(run, torch)
    return "mb %d: %.0f tokens/s, %s, %s of the matrix rate" % (
        size, run["tokens_s"], "%.2f x PyTorch" % beside if beside else "PyTorch: %s" % torch.get("error", "not run"),
        percent(run["flops_s"], matrix))


def report(details):
    """The lines that people read: rates, memory, gaps and the table by kernel."""
    text = ["%s: BF16, AdamW, one GPU; matrix rate %.3g TFLOP/s (%s)" % (
        details["model"], details["matrix"]["flops_s"] * 1e-12, details["matrix"]["by"])]
    for it in details["runs"]:
        text.append("  " + line_of(it["size"], it["weft"], it["torch"], details["matrix"]["flops_s"]))
        text.append("    memory planned %.2f GiB, measured %s of it (with the driver's and libraries' own)" % (
            it["weft"]["planned_bytes"] / 2**30, percent(it["weft"]["measured_bytes"], it["weft"]["planned_bytes"])))
    if details["profile"] is None:
        return text + ["  no CUPTI found: no table by kernel"]
    text.append("  of a step %.1f %% is between kernels (%.1f %% with its end)" % (
        100 * details["profile"]["gap_share"], 100 * details["profile"]["idle_share"]))
    text += kernel_table.lines(details["profile"]["kernels"])
    if details["peer_profile"]:
        text += ["  PyTorch, shares of the time in which the GPU works:"] + kernel_table.lines(details["peer_profile"], 12)
    return text


def numbers(details):
    parts = [line_of(it["size"], it["weft"], it["torch"], details["matrix"]["flops_s"]) for it in details["runs"]]
    if details["profile"]:
        parts.append("gap %.1f %%" % (100 * details["profile"]["gap_share"]))
    return "; ".join(parts)


def measure(pack, model, data):
    steps = 3 if pack.quick else STEPS
    before = matrix_rate(pack)
    size = pack.manifest["speed"][model][0]
    plan = "speed-%s-%d" % (model, size)
    runs = [{"size": size, "weft": train(pack, plan, data, steps), "torch": peer(pack, model, size)}]
    found = None if pack.brief else largest(pack, model, data, steps)
    if found:
        runs.append({"size": found[0], "weft": found[1], "torch": peer(pack, model, found[0])})
    details = {"model": model, "runs": runs, "profile": profile(pack, plan, data),
               "peer_profile": peer_profile(pack, model, size) if not pack.brief and "error" not in runs[0]["torch"] else None}
    after = matrix_rate(pack)
    return dict(details, matrix=max(before, after, key=lambda it: it["flops_s"]))


def check(model, text, skipped):
    def run(pack):
        if pack.quick and model != "tiny":
            raise skipped("needs a GPU's speed (--quick)")
        details = measure(pack, model, text(pack))
        print("\n".join(report(details)), flush=True)
        return numbers(details), details
    return run
