"""The cost model's rates of this machine, from runs of one model.

Kernels are timed in a run of one rank, which gives what a rank alone reaches.
Two such runs side by side say what ranks lose to each other (`node.cores`), and
the collectives of two ranks what their link takes. The formulas that the rates
go into are those of runtime/plan/cost.h.
"""

import collections

from programs import median, step_seconds, train, train_side_by_side
from traces import is_kernel, read_acts

Kernel = collections.namedtuple("Kernel", "name contraction_flops flops bytes seconds")

SMALL_BYTES = 4096  # a kernel that moves no more takes as long as it takes to begin one


class Machine:
    """Rates of one rank alone, and how many such ranks the machine is worth."""

    def __init__(self, contraction_flops, other_flops, memory_bytes_s, launch_s):
        self.contraction_flops, self.other_flops = contraction_flops, other_flops
        self.memory_bytes_s, self.launch_s = memory_bytes_s, launch_s
        self.cores, self.link_bytes_s, self.latency_s = 2.0, 3e9, 1e-5

    def kernel_seconds(self, kernel):
        computing = kernel.contraction_flops / self.contraction_flops + kernel.flops / self.other_flops
        return self.launch_s + max(computing, kernel.bytes / self.memory_bytes_s)

    def keys(self):
        """The overrides of a cluster that describe it."""
        device = {name: getattr(self, name)
                  for name in ("contraction_flops", "other_flops", "memory_bytes_s", "launch_s")}
        node = {"cores": self.cores, "link_bytes_s": self.link_bytes_s, "latency_s": self.latency_s}
        return (["cluster.device.%s=%.9g" % rate for rate in device.items()] +
                ["cluster.node.%s=%.9g" % rate for rate in node.items()])

    def describe(self):
        return ("%.0f GFLOP/s of products, %.1f of the rest, %.1f GB/s of memory, %.2f us a kernel, %.2f cores,\n"
                "  %.2f GB/s and %.1f us between ranks" %
                (self.contraction_flops / 1e9, self.other_flops / 1e9, self.memory_bytes_s / 1e9, self.launch_s * 1e6,
                 self.cores, self.link_bytes_s / 1e9, self.latency_s * 1e6))


def kernels_of(plan, acts):
    """The kernels of a plan of one rank's compute streams, each with its median duration."""
    durations = collections.defaultdict(list)
    for act in acts:
        if is_kernel(act):
            durations[act.name].append(act.end - act.begin)
    kernels = []
    for actor in plan["stages"][0]["actors"]:
        if plan["stages"][0]["streams"][actor["stream"]]["kind"] != "compute":
            continue
        for k, kernel in enumerate(actor.get("kernels", [])):
            seconds = median(durations["%s/%d %s" % (actor["name"], k, kernel["name"])])
            kernels.append(Kernel(kernel["name"], kernel["cost"]["contraction_flops"], kernel["cost"]["flops"],
                                  kernel["cost"]["bytes"], seconds))
    return kernels


def distance(machine, kernels):
    """Seconds by which the model is off, kernel name by kernel name."""
    off = collections.Counter()
    for kernel in kernels:
        off[kernel.name] += machine.kernel_seconds(kernel) - kernel.seconds
    return sum(abs(seconds) for seconds in off.values())


def fit(kernels):
    """The machine that explains kernels best. Products fix their own rate; of the other two the nearest pair of a grid."""
    small = [kernel.seconds for kernel in kernels if kernel.bytes <= SMALL_BYTES and not kernel.contraction_flops]
    launch = median(small) if small else 1e-6
    products = [kernel for kernel in kernels if kernel.contraction_flops]
    rest = [kernel for kernel in kernels if not kernel.contraction_flops]
    contraction = (sum(kernel.contraction_flops for kernel in products) /
                   sum(max(kernel.seconds - launch, 1e-9) for kernel in products))
    grid = [1e9 * 1.08 ** i for i in range(72)]  # 1 to 236 G/s
    return min((Machine(contraction, other, memory, launch) for other in grid for memory in grid),
               key=lambda machine: distance(machine, rest))


def sent_bytes(collective):
    """Of a rank of two (SentBytes of runtime/plan/cost.h)."""
    return collective["bytes"] if collective["kind"] == "all_reduce" else collective["bytes"] / 2


def link_of(plan, acts, share):
    """(bytes/s, latency) of the collectives of two ranks, which ran at `share` of a rank's speed alone."""
    sent = {actor["name"]: sum(sent_bytes(it) for it in actor["collectives"])
            for actor in plan["stages"][0]["actors"] if "collectives" in actor}
    meetings = collections.defaultdict(list)
    for act in acts:
        if act.name in sent and not is_kernel(act):
            meetings[act.name, act.step, act.micro_batch].append(act)
    durations = collections.defaultdict(list)
    for (name, _, _), both in meetings.items():
        # It goes on once both are there.
        durations[name].append((max(act.end for act in both) - max(act.begin for act in both)) * share)
    taken = {name: median(seconds) for name, seconds in durations.items()}
    latency = min(taken.values())
    moved = [(sent[name], seconds - latency) for name, seconds in taken.items() if seconds > 2 * latency]
    if not moved:
        return 3e9, latency
    return sum(size for size, _ in moved) / sum(seconds for _, seconds in moved), latency


def calibrate(tools, model):
    """The machine as `model` (simulation.py) sees it."""
    plan = model.compile(tools, model.one_rank(), "alone")
    trace = tools.path("alone.json")
    alone = step_seconds(train(tools, plan, model.steps, 1))
    train(tools, plan, model.steps, 1, "--trace", trace, "--trace-kernels")
    kernels = kernels_of(tools.run_json("weft-plan", "show", plan, "--kernels"), read_acts(trace))
    machine = fit(kernels)
    # What the rates leave of a step is between the kernels: actors, metrics, waking up.
    machine.launch_s += max(alone - sum(map(machine.kernel_seconds, kernels)), 0) / len(kernels)
    together = [step_seconds(steps) for steps in train_side_by_side(tools, [plan, plan], model.steps, 1)]
    machine.cores = min(2 * alone / (sum(together) / 2), 2.0)
    plan = model.compile(tools, model.tensor(), "link")
    trace = tools.path("link.json")
    train(tools, plan, model.steps, 1, "--trace", trace)
    machine.link_bytes_s, machine.latency_s = link_of(tools.run_json("weft-plan", "show", plan), read_acts(trace),
                                                      min(1, machine.cores / 2))
    return machine
