"""Steps in virtual time beside steps of this machine."""

from calibration import calibrate
from programs import median, step_seconds, train
from traces import StepView, by_step, read_acts


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

    def one_rank(self):
        return self.batch()

    def data(self):
        return ["dist.data=2"] + self.batch(ranks=2)

    def tensor(self):
        return ["dist.tensor=2"] + self.batch()

    def pipeline(self, schedule, micro_batches):
        return ["dist.pipeline=2", "pipeline.schedule=" + schedule] + self.batch(micro_batches)

    def plans(self):
        return [("data 2", self.data()), ("tensor 2", self.tensor()),
                ("pipeline 2, 1F1B, 4 micro-batches", self.pipeline("ONE_F_ONE_B", 4)),
                ("pipeline 2, 1F1B, 8 micro-batches", self.pipeline("ONE_F_ONE_B", 8)),
                ("pipeline 2, zero bubble, 4 micro-batches", self.pipeline("ZERO_BUBBLE", 4))]


SMALL = Model("6 layers, hidden 384, 4 x 64 tokens a micro-batch", "small", ["seq=64", "positions=64"], 4, 12)
TINY = Model("2 layers, hidden 64, 32 x 64 tokens a micro-batch", "tiny", [], 32, 60)


def simulate(tools, quick):
    print("Step time: measured, two ranks of one thread each, and simulated with rates measured just before")
    for model in [TINY] if quick else [TINY, SMALL]:
        machine = calibrate(tools, model)
        print("  %s\n  %s" % (model.label, machine.describe()))
        within = 0
        for label, overrides in [("one rank", model.one_rank())] + model.plans():
            plan = model.compile(tools, overrides + machine.keys(), "simulated")
            measured = step_seconds(train(tools, plan, model.steps, 1))
            simulated = tools.run_json("weft-plan", "simulate", plan)["step_s"]
            ratio = simulated / measured
            within += label != "one rank" and abs(ratio - 1) <= 0.15
            print("    %-42s measured %8.2f ms  simulated %8.2f ms  ratio %.2f" %
                  (label, measured * 1e3, simulated * 1e3, ratio), flush=True)
        # The machine may have changed its speed since the rates were measured.
        again = step_seconds(train(tools, model.compile(tools, model.one_rank(), "alone"), model.steps, 1))
        print("    %-42s measured %8.2f ms\n    within 15 %%: %d of %d plans" %
              ("one rank, again", again * 1e3, within, len(model.plans())), flush=True)


def formula(schedule, micro_batches, stages=2):
    """The bubble of a schedule whose forwards take 1 and backwards 2, a split one's parts 1 each."""
    lost = (stages - 1) * (1 if schedule == "ZERO_BUBBLE" else 3)
    return lost / (3 * micro_batches + lost)


def schedules(tools, quick):
    print("Bubble of two stages on two ranks: share of a step without kernels, all that a step does once included")
    model = TINY if quick else SMALL
    machine = calibrate(tools, model)
    print("  %s\n  %s" % (model.label, machine.describe()))
    for schedule in ("GPIPE", "ONE_F_ONE_B", "ZERO_BUBBLE"):
        for micro_batches in (4, 8):
            plan = model.compile(tools, model.pipeline(schedule, micro_batches) + machine.keys(), "schedule")
            trace = tools.path("schedule.json")
            train(tools, plan, model.steps, 1, "--trace", trace)
            shown = tools.run_json("weft-plan", "show", plan)
            bubble = median([StepView(shown, acts).bubble() for acts in by_step(read_acts(trace))])
            print("    %-12s %d micro-batches  measured %5.1f %%  simulated %5.1f %%  formula %5.1f %%" %
                  (schedule, micro_batches, 100 * bubble,
                   100 * tools.run_json("weft-plan", "simulate", plan)["bubble_fraction"],
                   100 * formula(schedule, micro_batches)), flush=True)
