"""Steps with what lies below the device, in files, beside steps with everything on it: how much of the copies goes beside
the computation, and what the simulator says, with rates of kernels and of the disk that were measured in the same run."""

from programs import step_seconds, train
from traces import by_step, length, read_acts, without

# 28M parameters, 0.4 GB with their gradients and Adam's state; four micro-batches, of which each layer keeps 8 MB.
SETTINGS = ["layers=8", "hidden=512", "heads=8", "vocab=512", "seq=256", "positions=256", "dropout=0.0"]
BATCH = ["batch.global=4", "batch.micro=1", "data.format=TEXT"]
SECONDS, QUICK_SECONDS = 90, 20  # of the calibration
ROUNDS, STEPS, TRACED_STEPS = 5, 4, 3
THREADS = 1  # as the copies need the other core
ROWS = (("nothing", []), ("what layers keep", ["recompute.offload=true"]), ("the optimizer's state", ["zero.offload=OPTIMIZER"]),
        ("that and what layers keep", ["zero.offload=OPTIMIZER", "recompute.offload=true"]),
        ("parameters, gradients and state", ["zero.offload=PARAMETERS"]))
RATE = 1e9  # bytes/s both ways, of the plans whose copies are traced
LATENCY_S = 1e-5  # of a tier


def cluster_of(tools, name, measured, read, write):
    """A cluster file: this machine as it was measured, above a disk."""
    path = tools.path(name)
    with open(measured) as machine, open(path, "w") as out:
        out.write('%s\ntier { name: "disk" kind: DISK read_bytes_s: %g write_bytes_s: %g latency_s: %g }\n' %
                  (machine.read(), read, write, LATENCY_S))
    return "cluster=" + path


class Trace:
    """What a run of some steps did: seconds of a step that went to fetches and stores, those of them in which nothing was
    computed, and, of rates that are known, the bytes."""

    def __init__(self, tools, plan, row):
        path = tools.path("offload.json")
        train(tools, plan, TRACED_STEPS, THREADS, "--trace", path, "--trace-kernels", *flags(tools, row))
        steps = by_step(read_acts(path))
        spans = lambda step, stream: [(act.begin, act.end) for act in step if act.stream == stream + " kernels"]
        copies = [spans(step, "tier disk") for step in steps]
        self.seconds = sum(map(length, copies)) / len(steps)
        self.exposed = sum(without(copied, spans(step, "compute")) for copied, step in zip(copies, steps)) / len(steps)
        self.families = {it["name"]: it for it in tools.run_json("weft-plan", "explain", plan, "--with", path)["traced"]["families"]}

    def bytes_of(self, name, rate):
        of = self.families[name]
        return (of["predicted_s"] - of["runs"] * LATENCY_S) * rate


def flags(tools, row):
    return ["--tier-dir", tools.folder] if ROWS[row][1] else []


def offload(tools, quick):
    with tools.awake():
        rows(tools, quick)


def rows(tools, quick):
    print("Below the device, in files at %s: GPT-2, 28M parameters, 4 micro-batches of a sequence, one thread" % tools.folder)
    measured = tools.path("one.cluster")
    tools.run("weft-calibrate", "-o", measured, "--quiet", "--seconds", str(QUICK_SECONDS if quick else SECONDS))
    compile_for = lambda cluster, row: tools.compile(
        "small", ["model.set=" + it for it in SETTINGS] + BATCH + ROWS[row][1] + [cluster], "offload%d" % row)
    guessed = cluster_of(tools, "guessed.cluster", measured, RATE, RATE)
    guesses = [Trace(tools, compile_for(guessed, row), row) for row in (1, len(ROWS) - 1)]
    read, write = (sum(it.bytes_of(name, RATE) for it in guesses) / sum(it.families[name]["traced_s"] for it in guesses)
                   for name in ("fetch", "store"))
    print("  the disk, through the page cache: %.2f GB/s read, %.2f GB/s written" % (read / 1e9, write / 1e9))
    cluster = cluster_of(tools, "disk.cluster", measured, read, write)
    plans = [compile_for(cluster, row) for row in range(len(ROWS))]
    traces = [None] + [Trace(tools, plans[row], row) for row in range(1, len(ROWS))]
    rounds = [[step_seconds(train(tools, plan, STEPS, THREADS, *flags(tools, row))) for row, plan in enumerate(plans)]
              for _ in range(1 if quick else ROUNDS)]
    took = [min(row) for row in zip(*rounds)]
    simulated = [tools.run_json("weft-plan", "simulate", plan)["step_s"] for plan in plans]
    print("  %-32s %8s %8s %7s %9s %9s  %s" % ("below", "moved", "copies", "hidden", "step", "of none", "simulated"))
    for row, (name, _) in enumerate(ROWS):
        trace = traces[row]
        moved = sum(trace.bytes_of(*it) for it in (("fetch", read), ("store", write))) if trace else 0
        copied = "%5.0f MB %5.0f ms %5.0f %%" % (moved / 1e6, trace.seconds * 1e3, 100 * (1 - trace.exposed / trace.seconds)) if trace else ""
        print("  %-32s %25s %6.0f ms %9.3f  %9.3f" % (name, copied, took[row] * 1e3, took[row] / took[0], simulated[row] / simulated[0]),
              flush=True)
