"""How much longer steps are with checkpoints: written aside, and while the run stands."""

import json
import os
import shutil

from programs import fail, median

EVERY = 8  # steps
OFTEN_S = 300  # as with --checkpoint-every 5m


def seconds_a_step(tools, plan, steps, *flags):
    """Of the steps behind the first one, with what they waited for checkpoints on the way; and the lines of these."""
    metrics = tools.path("checkpoints.jsonl")
    shutil.rmtree(tools.path("checkpoints"), ignore_errors=True)
    if os.path.exists(metrics):
        os.remove(metrics)
    tools.run("weft-run", plan, "--data", tools.path("corpus.txt"), "--steps", str(steps), "--metrics", metrics, "--quiet", *flags)
    with open(metrics, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    stepped = sum(line["tokens"] / line["tokens_per_s"] for line in lines if line.get("step", 0) > 1)
    saved = [line["checkpoint"] for line in lines if "checkpoint" in line and line["checkpoint"]["step"] < steps]
    return (stepped + sum(line["stood_s"] for line in saved)) / (steps - 1), saved


def checkpoints(tools, quick):
    job, steps, rounds = ("small", 17, 1) if quick else ("124m", 33, 3)
    plan = tools.compile(job, ["model.set=seq=256", "model.set=positions=256", "data.format=TEXT", "batch.global=4", "batch.micro=4"],
                         "checkpoints")
    saving = ["--checkpoint-dir", tools.path("checkpoints"), "--checkpoint-every", str(EVERY), "--checkpoint-keep", "1"]
    ways = {"none": [], "standing": saving + ["--checkpoint-async", "off"], "aside": saving + ["--checkpoint-async", "on"]}
    print("Checkpoints, %s, one every %d steps of %d, all cores, %d rounds in turn" % (job, EVERY, steps, rounds))
    seconds = {way: [] for way in ways}
    lines = {way: [] for way in ways}
    for _ in range(rounds):
        for way, flags in ways.items():
            took, saved = seconds_a_step(tools, plan, steps, *flags)
            if flags and len(saved) != (steps - 1) // EVERY:
                fail("expected %d checkpoints on the way, got %d" % ((steps - 1) // EVERY, len(saved)))
            seconds[way].append(took)
            lines[way] += saved
    alone = median(seconds["none"])
    for way in ways:
        print("  %-9s %8.1f ms a step, %6.3f x that without (rounds: %s)" % (
            way, median(seconds[way]) * 1e3, median(seconds[way]) / alone,
            ", ".join("%.3f" % (one / none) for one, none in zip(seconds[way], seconds["none"]))))
        if lines[way]:
            print("            a checkpoint: %.1f ms stood, %.1f ms until it was written" % (
                median([line["stood_s"] for line in lines[way]]) * 1e3, median([line["write_s"] for line in lines[way]]) * 1e3))
            # A round has a checkpoint for each EVERY of the steps behind the first one.
            lost = median([one - none for one, none in zip(seconds[way], seconds["none"])]) * EVERY
            print("            it costs the steps %.1f ms: 2 %% of them with one every %.0f s, %.2f %% with one every %d s" % (
                lost * 1e3, lost / 0.02, 100 * lost / OFTEN_S, OFTEN_S))
