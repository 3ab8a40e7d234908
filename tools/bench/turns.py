"""Two tensor ranks on hosts with a slow link between them: micro-batches in turns (batch.overlap) beside one after the
other, and what the simulator says of both with rates that `weft calibrate` has measured over the same link."""

import os

from over_link import over_link
from programs import read_metrics, step_seconds

# For four sequences each rank sends 75 MB, through a link that serves one direction at a time.
DELAY_S, BYTES_PER_S = 2e-4, 120e6
SECONDS, QUICK_SECONDS = 180, 60  # of the calibration
STEPS, ROUNDS = 3, 3
# Sequences of a micro-batch and how many are under way: the same work in each row, and the same memory in the first two.
ROWS = (("4 sequences, one after the other", 4, 1), ("2 sequences, two in turns", 2, 2), ("2 sequences, one after the other", 2, 1))


def turns(tools, quick):
    print("Two tensor ranks on two hosts, one thread each, over a link of %.0f MB/s and %.1f ms" % (BYTES_PER_S / 1e6, DELAY_S * 1e3))
    cluster = tools.path("hosts.cluster")
    with open(cluster, "w") as out:
        out.write('device { kind: "cpu" } node { count: 2 ranks: 1 }\n')
    measured = tools.path("link.cluster")
    calibrate = ["weft-calibrate", "--cluster", cluster, "-o", measured, "--quiet", "--seconds",
                 str(QUICK_SECONDS if quick else SECONDS)]
    said, _ = over_link(tools, [calibrate], DELAY_S, BYTES_PER_S)
    if said is not None:
        print("  skipped: " + said)
        return
    model = ["model.set=layers=6", "model.set=hidden=768", "model.set=heads=12", "model.set=vocab=512", "model.set=seq=256",
             "model.set=positions=256", "model.set=dropout=0.0", "data.format=TEXT", "batch.global=16", "dist.tensor=2",
             "cluster=" + measured]
    plans = [tools.compile("small", model + ["batch.micro=%d" % micro, "batch.overlap=%d" % together], "turns%d" % row)
             for row, (_, micro, together) in enumerate(ROWS)]
    seconds = [[] for _ in plans]
    for _ in range(1 if quick else ROUNDS):
        runs = []
        for row, plan in enumerate(plans):
            metrics = tools.path("turns%d.jsonl" % row)
            if os.path.exists(metrics):
                os.remove(metrics)
            runs.append(["weft-run", plan, "--data", tools.path("corpus.txt"), "--steps", str(STEPS), "--threads", "1", "--metrics",
                         metrics, "--quiet"])
        over_link(tools, runs, DELAY_S, BYTES_PER_S)
        for row in range(len(plans)):
            seconds[row].append(step_seconds(read_metrics(tools.path("turns%d.jsonl" % row))))
    best = [min(row) for row in seconds]
    simulated = [tools.run_json("weft-plan", "simulate", plan)["step_s"] for plan in plans]
    for (name, _, _), took, predicted in zip(ROWS, best, simulated):
        print("  %-36s measured %7.1f ms, %4.2f of the first  simulated %7.1f ms, %4.2f  simulated/measured %.2f" %
              (name, took * 1e3, took / best[0], predicted * 1e3, predicted / simulated[0], predicted / took))
