"""Steps with what lies below the device, in files, beside steps with everything on it: how much of the copies goes beside
the computation, and what the simulator says, with rates of kernels and of the disk that were measured in the same run."""

import shutil

from programs import median, step_seconds, train

# 28M parameters, 0.4 GB with their gradients and Adam's state; four micro-batches, of which each layer keeps 17 MB.
SETTINGS = ["layers=8", "hidden=512", "heads=8", "vocab=512", "seq=256", "positions=256", "dropout=0.0"]
BATCH = ["batch.global=8", "batch.micro=2", "data.format=TEXT"]
SECONDS, QUICK_SECONDS = 90, 20  # of the calibration
ROUNDS, STEPS, TRACED_STEPS = 3, 4, 3
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


class Copies:
    """The fetches and stores of a traced step: bytes, and seconds."""

    def __init__(self, traced):
        of = {it["name"]: it for it in traced["families"]}
        self.bytes, self.seconds = {}, {}
        for name in ("fetch", "store"):
            self.seconds[name] = of[name]["traced_s"] if name in of else 0
            self.bytes[name] = (of[name]["predicted_s"] - of[name]["runs"] * LATENCY_S) * RATE if name in of else 0


def flags(tools, overrides):
    return ["--tier-dir", tools.folder] if overrides else []


def offload(tools, quick):
    print("Below the device, in files at %s (%.1f GB free): GPT-2, 28M parameters, 4 x 2 sequences, one thread" %
          (tools.folder, shutil.disk_usage(tools.folder).free / 1e9))
    measured = tools.path("one.cluster")
    tools.run("weft-calibrate", "-o", measured, "--quiet", "--seconds", str(QUICK_SECONDS if quick else SECONDS))
    compile_for = lambda cluster, row: tools.compile(
        "small", ["model.set=" + it for it in SETTINGS] + BATCH + ROWS[row][1] + [cluster], "offload%d" % row)
    guessed, copies = cluster_of(tools, "guessed.cluster", measured, RATE, RATE), {}
    for row in range(1, len(ROWS)):
        plan, trace = compile_for(guessed, row), tools.path("offload.json")
        train(tools, plan, TRACED_STEPS, THREADS, "--trace", trace, "--trace-kernels", *flags(tools, ROWS[row][1]))
        copies[row] = Copies(tools.run_json("weft-plan", "explain", plan, "--with", trace)["traced"])
    read, write = (sum(it.bytes[name] for it in copies.values()) / sum(it.seconds[name] for it in copies.values())
                   for name in ("fetch", "store"))
    print("  the disk, through the page cache: %.2f GB/s read, %.2f GB/s written" % (read / 1e9, write / 1e9))
    cluster = cluster_of(tools, "disk.cluster", measured, read, write)
    plans = [compile_for(cluster, row) for row in range(len(ROWS))]
    seconds = [[] for _ in plans]
    for _ in range(1 if quick else ROUNDS):
        for row, plan in enumerate(plans):
            seconds[row].append(step_seconds(train(tools, plan, STEPS, THREADS, *flags(tools, ROWS[row][1]))))
    took = [median(row) for row in seconds]
    print("  %-32s %9s %10s %9s %7s %10s %9s" % ("below", "step", "moved", "copies", "hidden", "simulated", "/measured"))
    for row, (name, _) in enumerate(ROWS):
        simulated = tools.run_json("weft-plan", "simulate", plans[row])["step_s"]
        line = "  %-32s %6.0f ms" % (name, took[row] * 1e3)
        if row == 0:
            line += " %40s" % ""
        else:
            moved, copied = sum(copies[row].bytes.values()), sum(copies[row].seconds.values())
            line += " %7.0f MB %6.0f ms %5.0f %%" % (moved / 1e6, copied * 1e3, 100 * (1 - (took[row] - took[0]) / copied))
            line += " " * 5
        print(line + "%7.0f ms %8.2f" % (simulated * 1e3, simulated / took[row]), flush=True)
