"""Steps with what lies below the device, in files or in the host's memory, beside steps with everything on the device: how much
of the copies goes beside the computation, and what the simulator says, with rates of kernels, of the disk and of the host that
were measured in the same run."""

import collections

from programs import train
from traces import by_step, is_kernel, length, read_acts, without

# 28M parameters, 0.4 GB with their gradients and Adam's state; four micro-batches, of which each layer keeps 8 MB.
SETTINGS = ["layers=8", "hidden=512", "heads=8", "vocab=512", "seq=256", "positions=256", "dropout=0.0"]
BATCH = ["batch.global=4", "batch.micro=1", "data.format=TEXT"]
SECONDS, QUICK_SECONDS = 90, 20  # of the calibration
ROUNDS, STEPS, TRACED_STEPS = 7, 4, 6
THREADS = 1  # as the copies, or the host, need the other core
LIMIT = 0.10  # by how much a simulated ratio may be off
Row = collections.namedtuple("Row", "name keys tier")
ROWS = (Row("nothing", [], ""), Row("what layers keep", ["recompute.offload=true"], "disk"),
        Row("the optimizer's state", ["zero.offload=OPTIMIZER"], "disk"),
        Row("that and what layers keep", ["zero.offload=OPTIMIZER", "recompute.offload=true"], "disk"),
        Row("parameters, gradients and state", ["zero.offload=PARAMETERS"], "disk"),
        Row("the state, updated by the host", ["zero.offload=OPTIMIZER", "zero.update=HOST", "zero.tier=host"], "host"),
        Row("all three, updated by the host", ["zero.offload=PARAMETERS", "zero.update=HOST", "zero.tier=host"], "host"))
# Of which rates are measured: those that fetch and store most, and that update.
MEASURED = {"disk": (1, 4), "host": (5, 6)}
GUESS = 1e9  # bytes/s both ways and of updates, in the plans of which rates are measured
LATENCY_S = 1e-5  # of a tier
Rates = collections.namedtuple("Rates", "fetched stored updated")  # bytes/s


def cluster_of(tools, name, measured, rates):
    """A cluster file: this machine as it was measured, above a disk and above memory of the host."""
    path = tools.path(name)
    with open(measured) as machine, open(path, "w") as out:
        out.write(machine.read())
        for tier, of in rates.items():
            out.write('\ntier { name: "%s" kind: %s read_bytes_s: %g write_bytes_s: %g latency_s: %g' %
                      (tier, tier.upper(), of.fetched, of.stored, LATENCY_S))
            out.write(" update_bytes_s: %g }\n" % of.updated if of.updated else " }\n")
    return "cluster=" + path


class Trace:
    """Of a run's quickest step, as what else a machine does only adds: what copies and the host took, and how much of the copies
    went beside kernels; and, as the plan says, the bytes of them."""

    def __init__(self, tools, plan, row):
        path, tier = tools.path("offload.json"), ROWS[row].tier
        train(tools, plan, TRACED_STEPS, THREADS, "--trace", path, "--trace-kernels", *flags(tools, row))
        step = min(by_step(read_acts(path)), key=lambda acts: max(it.end for it in acts) - min(it.begin for it in acts))
        kernels = list(filter(is_kernel, step))
        spans = lambda stream, word="": [(it.begin, it.end) for it in kernels
                                         if it.stream == stream + " kernels" and it.name.endswith(word)]
        copies = spans("tier " + tier)
        self.copied_s, self.exposed_s = length(copies), without(copies, spans("compute"))
        self.seconds = Rates(*(length(spans("tier " + tier, " " + word)) for word in ("fetch", "store")), length(spans("work in " + tier)))
        below = {it["what"].split()[0]: it["bytes"] for it in tools.run_json("weft-plan", "explain", plan)["below"]}
        self.bytes = Rates(*(below.get(what, 0) for what in Rates._fields))


def flags(tools, row):
    return ["--tier-dir", tools.folder] if ROWS[row].tier == "disk" else []


def rates_of(traces):
    """Together; 0 of what none of them does."""
    total = lambda values: [sum(them) for them in zip(*values)]
    return Rates(*(moved / seconds if moved else 0 for moved, seconds in
                   zip(total(it.bytes for it in traces), total(it.seconds for it in traces))))


def measured_rates(tools, compile_for, measured):
    guessed = cluster_of(tools, "guessed.cluster", measured, {tier: Rates(GUESS, GUESS, GUESS if tier == "host" else 0) for tier in MEASURED})
    rates = {tier: rates_of([Trace(tools, compile_for(guessed, row), row) for row in rows]) for tier, rows in MEASURED.items()}
    print("  the disk, through the page cache: %.2f GB/s read, %.2f GB/s written" % tuple(it / 1e9 for it in rates["disk"][:2]))
    print("  the host's memory: %.2f GB/s read, %.2f GB/s written; the host reads and writes %.2f GB/s there as it updates" %
          tuple(it / 1e9 for it in rates["host"]))
    return rates


def least_step(metrics):
    return min(step["tokens"] / step["tokens_per_s"] for step in metrics)


def offload(tools, quick):
    with tools.awake():
        rows(tools, quick)


def rows(tools, quick):
    print("Below the device, in files at %s or in the host's memory: GPT-2, 28M parameters, 4 micro-batches of a sequence, one "
          "thread" % tools.folder)
    measured = tools.path("one.cluster")
    tools.run("weft-calibrate", "-o", measured, "--quiet", "--seconds", str(QUICK_SECONDS if quick else SECONDS))
    compile_for = lambda cluster, row: tools.compile(
        "small", ["model.set=" + it for it in SETTINGS] + BATCH + ROWS[row].keys + [cluster], "offload%d" % row)
    cluster = cluster_of(tools, "below.cluster", measured, measured_rates(tools, compile_for, measured))
    plans = [compile_for(cluster, row) for row in range(len(ROWS))]
    traces = [Trace(tools, plan, row) for row, plan in enumerate(plans)]
    rounds = [[least_step(train(tools, plan, STEPS, THREADS, *flags(tools, row))) for row, plan in enumerate(plans)]
              for _ in range(1 if quick else ROUNDS)]
    took = [min(row) for row in zip(*rounds)]
    simulated = [tools.run_json("weft-plan", "simulate", plan)["step_s"] for plan in plans]
    report(traces, rounds, took, simulated)


def report(traces, rounds, took, simulated):
    print("  Steps in turn, of each the least of %d rounds; of none: of a step with nothing below, behind it the least and the largest" %
          len(rounds))
    print("  ratio of a round; off: the simulated ratio over the measured one")
    print("  %-32s %8s %8s %7s %8s %9s %8s %16s %10s %6s" %
          ("below", "moved", "copies", "hidden", "updates", "step", "of none", "", "simulated", "off"))
    within = 0
    for row, trace in enumerate(traces):
        copied = ""
        if trace.copied_s > 0:
            copied = "%5.0f MB %5.0f ms %5.0f %%" % ((trace.bytes.fetched + trace.bytes.stored) / 1e6, trace.copied_s * 1e3,
                                                     100 * (1 - trace.exposed_s / trace.copied_s))
        updated = "%5.0f ms" % (trace.seconds.updated * 1e3) if trace.bytes.updated else ""
        of_none, predicted = took[row] / took[0], simulated[row] / simulated[0]
        ratios = sorted(them[row] / them[0] for them in rounds)
        is_near = abs(predicted / of_none - 1) <= LIMIT
        within += row > 0 and is_near
        print("  %-32s %25s %8s %5.0f ms %8.3f (%.3f to %.3f) %10.3f %6.3f%s" %
              (ROWS[row].name, copied, updated, took[row] * 1e3, of_none, ratios[0], ratios[-1], predicted, predicted / of_none,
               "" if is_near else ", not within %.0f %%" % (100 * LIMIT)), flush=True)
    print("  within %.0f %%: %d of %d" % (100 * LIMIT, within, len(traces) - 1))
