"""Compile times of jobs whose memory is hard to plan: long steps, many stages, much that is transferred."""

import os

INTERLEAVED = ["pipeline.schedule=INTERLEAVED", "pipeline.chunks=2", "dist.pipeline=4", "batch.micro=8", "batch.global=128"]
JOBS = [("124M, 4 stages, interleaved, 16 micro-batches", "124m", "8xh200", INTERLEAVED),
        ("1.5B, likewise", "1.5b", "8xh200", INTERLEAVED),
        ("1.5B, likewise, memory unknown", "1.5b", "", INTERLEAVED),
        ("tiny, 100,000 micro-batches", "tiny", "", ["batch.global=100000", "batch.micro=1"]),
        ("175B, data 8 x tensor 8, ZeRO 3, 96 micro-batches", "175b", "128x8h200",
         ["dist.data=8", "dist.tensor=8", "zero.stage=3", "batch.micro=8", "batch.global=768",
          "precision.compute=BF16", "recompute.policy=FULL"]),
        ("1T, data 2 x tensor 8 x pipeline 64, 256 micro-batches", "175b", "128x8h200",
         ["model.set=layers=128", "model.set=hidden=25600", "model.set=heads=160", "dist.data=2", "dist.tensor=8",
          "dist.pipeline=64", "batch.micro=2", "batch.global=512", "precision.compute=BF16", "recompute.policy=FULL"])]
QUICK = 4


def compilation(tools, quick):
    print("Compiling jobs whose memory is hard to plan (a whole process; aim: 30 s of a core, 124M 2 s)")
    print("  %-56s %12s %10s %10s" % ("job", "s of a core", "MiB", "plan, MiB"))
    for label, job, cluster, overrides in JOBS[:QUICK] if quick else JOBS:
        plan = tools.path("compiled.plan")
        extra = ["cluster=" + tools.cluster(cluster)] if cluster else []
        compiled = tools.measured("weft-compile", tools.job(job), *overrides, *extra, "-o", plan, "--quiet")
        print("  %-56s %12.2f %10.0f %10.2f" %
              (label, compiled.cpu_seconds, compiled.peak_bytes / 2**20, os.path.getsize(plan) / 2**20), flush=True)
