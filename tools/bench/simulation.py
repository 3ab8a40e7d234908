"""Steps in virtual time beside steps of this machine, with rates that `weft calibrate` has measured in the same run."""

import os
import re

from programs import median, train, train_side_by_side
from traces import StepView, by_step, read_acts

SECONDS, ROUND_SECONDS, QUICK_SECONDS = 180, 20, 30  # of a calibration: one for all, one of each round, one of --quick
THREADS = max(1, (os.cpu_count() or 1) // 2)  # of a rank of two
ROUNDS = 5  # in which every plan has its turn
# Of rates and steps in turn. The host of a virtual machine may lend a core to others for seconds or minutes, in which a
# product takes up to twice as long: many short rounds meet rates and steps in the same states, few long ones do not.
SHORT_ROUNDS, QUICK_ROUNDS = 12, 4
LIMIT = 0.10  # by how much a simulated step may be off
NEAR = 1.05  # of the fastest layout, what the chosen one may take


class Model:
    """A model, the sequences that one rank takes at a time, and how many steps are worth measuring."""

    def __init__(self, label, job, settings, micro, steps):
        self.label, self.job, self.micro, self.steps = label, job, micro, steps
        self.settings = ["model.set=dropout=0.0", "data.format=TEXT"] + ["model.set=" + it for it in settings]

    def compile(self, tools, overrides, name):
        return tools.compile(self.job, self.settings + overrides, name)

    def batch(self, micro_batches=1, ranks=1):
        micro = self.micro * ranks
        return ["batch.micro=%d" % micro, "batch.global=%d" % (micro * micro_batches)]

    def data(self, *others):
        return ["dist.data=2"] + self.batch(ranks=2) + list(others)

    def tensor(self, *others):
        return ["dist.tensor=2"] + self.batch() + list(others)

    def pipeline(self, schedule, micro_batches, *others):
        return ["dist.pipeline=2", "pipeline.schedule=" + schedule] + self.batch(micro_batches) + list(others)

    def plans(self):
        """Ten on two ranks: (label, overrides)."""
        return [("data 2", self.data()), ("data 2, ZeRO 1", self.data("zero.stage=1")),
                ("data 2, ZeRO 3", self.data("zero.stage=3")),
                ("data 2, recomputed", self.data("recompute.policy=FULL")),
                ("tensor 2", self.tensor()), ("tensor 2, recomputed", self.tensor("recompute.policy=FULL")),
                ("pipeline 2, GPipe, 4 micro-batches", self.pipeline("GPIPE", 4)),
                ("pipeline 2, 1F1B, 4 micro-batches", self.pipeline("ONE_F_ONE_B", 4)),
                ("pipeline 2, 1F1B, 8 micro-batches", self.pipeline("ONE_F_ONE_B", 8)),
                ("pipeline 2, zero bubble, 4 micro-batches", self.pipeline("ZERO_BUBBLE", 4))]


SMALL = Model("6 layers, hidden 384, 4 x 64 tokens a micro-batch", "small", ["seq=64", "positions=64"], 4, 30)
TINY = Model("2 layers, hidden 64, 32 x 64 tokens a micro-batch", "tiny", [], 32, 60)


def calibrated(tools, seconds):
    """Override that gives a job this machine, measured now for so many seconds."""
    path, two = tools.path("here.cluster"), tools.path("two.cluster")
    with open(two, "w") as out:
        out.write('device { kind: "cpu" } node { count: 1 ranks: 2 }\n')
    tools.run("weft-calibrate", "--cluster", two, "-o", path, "--quiet", "--seconds", str(seconds))
    return "cluster=" + path


def mean(seconds):
    return sum(seconds) / len(seconds)


def steps_of(metrics):
    return mean([step["tokens"] / step["tokens_per_s"] for step in metrics])


def in_turn(runs):
    """Seconds of a step of each run: the second best of rounds, as what else a machine does for a while only adds."""
    rounds = [[run() for run in runs] for _ in range(ROUNDS)]
    return [sorted(seconds)[1] for seconds in zip(*rounds)]


def alone(tools, plan, steps):
    """A run of one plan, which gives the seconds of its step."""
    return lambda: steps_of(train(tools, plan, steps, THREADS))


def side_by_side(tools, plan, steps):
    """A run of two copies of a plan of one rank, which exchange nothing: the slower one's step."""
    return lambda: max(steps_of(it) for it in train_side_by_side(tools, [plan, plan], steps, THREADS))


def cores(cluster):
    """What the calibration says that two ranks share; each has its own where it says nothing."""
    with open(cluster.split("=", 1)[1]) as lines:
        said = re.search(r"^  cores: ([0-9.]+)", lines.read(), re.M)
    return float(said.group(1)) if said else 2.0


def compared(tools, model, seconds):
    """Steps of a model's plans, and the same simulated with rates that were measured for so many seconds just before."""
    steps = model.steps // 2  # as rounds are short
    cluster = calibrated(tools, seconds)
    rows = model.plans()
    one, *plans = [model.compile(tools, overrides + [cluster], "simulated%d" % i)
                   for i, overrides in enumerate([model.batch()] + [overrides for _, overrides in rows])]
    runs = [alone(tools, one, steps), side_by_side(tools, one, steps)]
    measured = [run() for run in runs + [alone(tools, plan, steps) for plan in plans]]
    step = lambda plan: tools.run_json("weft-plan", "simulate", plan)["step_s"]
    return measured, [step(one), step(one) * max(1, 2 / cores(cluster))] + [step(plan) for plan in plans]


def with_cores_awake(part):
    """A part of the bench, run while no core is idle."""
    def run(tools, quick):
        with tools.awake():
            part(tools, quick)
    return run


@with_cores_awake
def simulate(tools, quick):
    print("Step time: measured, two ranks with half the cores each, and simulated with rates measured just before")
    print("  No core is idle: processes of the lowest priority keep them busy, for what a virtual machine's are worth depends on it.")
    rounds = QUICK_ROUNDS if quick else SHORT_ROUNDS
    print("  Means of %d rounds, each of which measures the rates, then the steps; behind them the least and the largest" % rounds)
    print("  ratio of a round: what others do on the host changes within minutes.")
    for model in [TINY] if quick else [TINY, SMALL]:
        print("  " + model.label)
        taken = [compared(tools, model, ROUND_SECONDS) for _ in range(rounds)]
        measured, simulated = ([mean(them) for them in zip(*of)] for of in zip(*taken))
        labels = ["one rank", "two copies of one rank's plan"] + [label for label, _ in model.plans()]
        for i, (label, seconds, predicted) in enumerate(zip(labels, measured, simulated)):
            ratios = sorted(them[i] / theirs[i] for theirs, them in taken)
            print("    %-42s measured %8.2f ms  simulated %8.2f ms  ratio %.2f (%.2f to %.2f)" %
                  (label, seconds * 1e3, predicted * 1e3, predicted / seconds, ratios[0], ratios[-1]), flush=True)
        within = [abs(predicted / seconds - 1) <= LIMIT for seconds, predicted in zip(measured, simulated)][2:]
        print("    within %.0f %%: %d of %d plans" % (100 * LIMIT, sum(within), len(within)), flush=True)


@with_cores_awake
def families(tools, quick):
    print("Seconds of kernels by family in a step of one rank: traced, and predicted with rates measured just before")
    cluster = calibrated(tools, QUICK_SECONDS if quick else SECONDS)
    for model in [TINY] if quick else [TINY, SMALL]:
        print("  " + model.label)
        plan, trace = model.compile(tools, model.batch() + [cluster], "kernels"), tools.path("kernels.json")
        train(tools, plan, model.steps, THREADS, "--trace", trace, "--trace-kernels")
        said = tools.run("weft-plan", "explain", plan, "--with", trace).splitlines()
        begin = next(i for i, line in enumerate(said) if "beside a trace" in line)
        end = next(i for i, line in enumerate(said) if i > begin and line.startswith("  step "))
        print("\n".join("    " + line for line in said[begin + 1:end + 1]), flush=True)


def layouts(model):
    """Twelve of one job on two ranks: the same global batch in each, (label, overrides)."""
    batch = 4 * model.micro
    keys = lambda micro, *others: ["batch.global=%d" % batch, "batch.micro=%d" % micro] + list(others)
    whole, half, quarter = batch, batch // 2, batch // 4
    pipeline = lambda micro, schedule: keys(micro, "dist.pipeline=2", "pipeline.schedule=" + schedule)
    return [keys(whole, "dist.data=2"), keys(half, "dist.data=2"), keys(quarter, "dist.data=2"),
            keys(whole, "dist.data=2", "zero.stage=1"), keys(whole, "dist.data=2", "zero.stage=3"),
            keys(whole, "dist.tensor=2"), keys(quarter, "dist.tensor=2"),
            keys(whole, "dist.tensor=2", "recompute.policy=FULL"),
            pipeline(half, "ONE_F_ONE_B"), pipeline(quarter, "ONE_F_ONE_B"), pipeline(quarter, "GPIPE"),
            pipeline(quarter, "ZERO_BUBBLE")]


def chosen_layout(tools, model, cluster):
    """The plan that the compiler chooses for two ranks, and its keys."""
    plan = tools.path("chosen.plan")
    tools.run("weft-compile", tools.job(model.job), *model.settings, cluster, "graph.auto_parallel=true",
              "batch={global: %d}" % (4 * model.micro), "-o", plan, "--quiet")
    said = tools.run("weft-plan", "show", plan)
    return plan, next((line.strip() for line in said.splitlines() if line.startswith("chosen: ")), "chosen")


@with_cores_awake
def choice(tools, quick):
    print("Twelve layouts of one job on two ranks with half the cores each, measured in turn, and the one that Weft chooses")
    cluster = calibrated(tools, QUICK_SECONDS if quick else SECONDS)
    model = TINY if quick else SMALL
    rows = layouts(model)
    plans = [model.compile(tools, overrides + [cluster], "layout%d" % i) for i, overrides in enumerate(rows)]
    plan, keys = chosen_layout(tools, model, cluster)
    measured = in_turn([alone(tools, it, model.steps) for it in plans + [plan]])
    rows = [" ".join(overrides) for overrides in rows] + [keys]
    for label, path, seconds in sorted(zip(rows, plans + [plan], measured), key=lambda row: row[2]):
        print("    %8.2f ms  simulated %8.2f ms  %s" %
              (seconds * 1e3, tools.run_json("weft-plan", "simulate", path)["step_s"] * 1e3, label), flush=True)
    ratio = measured[-1] / min(measured[:-1])
    print("    chosen / fastest of the twelve %.3f (aim: at most %.2f)" % (ratio, NEAR), flush=True)


def formula(schedule, micro_batches, stages=2):
    """The bubble of a schedule whose forwards take 1 and backwards 2, a split one's parts 1 each."""
    lost = (stages - 1) * (1 if schedule == "ZERO_BUBBLE" else 3)
    return lost / (3 * micro_batches + lost)


@with_cores_awake
def schedules(tools, quick):
    print("Bubble of two stages on two ranks: share of a step without kernels, all that a step does once included")
    model = TINY if quick else SMALL
    cluster = calibrated(tools, QUICK_SECONDS if quick else SECONDS)
    print("  " + model.label)
    for schedule in ("GPIPE", "ONE_F_ONE_B", "ZERO_BUBBLE"):
        for micro_batches in (4, 8):
            plan = model.compile(tools, model.pipeline(schedule, micro_batches) + [cluster], "schedule")
            trace = tools.path("schedule.json")
            train(tools, plan, model.steps, THREADS, "--trace", trace)
            shown = tools.run_json("weft-plan", "show", plan)
            bubble = median([StepView(shown, acts).bubble() for acts in by_step(read_acts(trace))])
            print("    %-12s %d micro-batches  measured %5.1f %%  simulated %5.1f %%  formula %5.1f %%" %
                  (schedule, micro_batches, 100 * bubble,
                   100 * tools.run_json("weft-plan", "simulate", plan)["bubble_fraction"],
                   100 * formula(schedule, micro_batches)), flush=True)
