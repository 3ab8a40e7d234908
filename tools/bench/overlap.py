"""What a second rank adds when both split the batch, and what the machine allows it to."""

from programs import median, train, train_side_by_side
from traces import StepView, by_step, read_acts

SEQUENCES, LENGTH, STEPS = 4, 256, 4  # a rank takes SEQUENCES x LENGTH tokens a step


def tokens_per_s(steps):
    return median([step["tokens_per_s"] for step in steps])


def overlap(tools, quick):
    job = "small" if quick else "124m"
    print("Data-parallel ranks, %s, %d x %d tokens a rank, one thread each" % (job, SEQUENCES, LENGTH))

    def compiled(ranks, name):
        overrides = ["model.set=seq=%d" % LENGTH, "model.set=positions=%d" % LENGTH, "model.set=dropout=0.0",
                     "data.format=TEXT", "batch.global=%d" % (SEQUENCES * ranks),
                     "batch.micro=%d" % (SEQUENCES * ranks)]
        return tools.compile(job, overrides + (["dist.data=%d" % ranks] if ranks > 1 else []), name)

    one, two = compiled(1, "one"), compiled(2, "two")
    before = tokens_per_s(train(tools, one, STEPS, 1))
    trace = tools.path("two.json")
    ranks = tokens_per_s(train(tools, two, STEPS, 1, "--trace", trace))
    pair = sum(tokens_per_s(steps) for steps in train_side_by_side(tools, [one, one], STEPS, 1))
    # A machine that changes its speed shows here.
    after = tokens_per_s(train(tools, one, STEPS, 1))
    alone = (before + after) / 2
    print("  one rank                              %8.0f tokens/s before, %.0f after" % (before, after))
    print("  two ranks                             %8.0f tokens/s, %3.0f %% of twice one rank (aim: 85 %%)" %
          (ranks, 100 * ranks / (2 * alone)))
    print("  two runs of one rank, side by side    %8.0f tokens/s, %3.0f %%: what the machine allows" %
          (pair, 100 * pair / (2 * alone)))
    print("  two ranks of what the machine allows  %8.0f %%" % (100 * ranks / pair))
    exposed(tools.run_json("weft-plan", "show", two), read_acts(trace))


def exposed(plan, acts):
    views = [StepView(plan, step) for step in by_step(acts)]
    view = sorted(views, key=lambda it: it.exposed())[len(views) // 2]
    print("  exposed communication and waiting for it: %.1f ms of a step of %.1f ms (%.1f %%)" %
          (view.exposed() * 1e3, view.seconds() * 1e3, 100 * view.exposed() / view.seconds()))
    for name, seconds in view.exposed_by_actor().most_common(5):
        if seconds > 0:
            print("    %-40s %8.2f ms" % (name, seconds * 1e3))
