"""Compile times of large jobs, and what proving their plans takes."""

import os

JOBS = [("1.5B, data 8 x tensor 8", "1.5b", "8x8cpu", ["dist.data=8", "dist.tensor=8", "model.set=heads=16"]),
        ("1.5B, pipeline 8 x tensor 8 x data 16", "1.5b", "128x8h200",
         ["dist.pipeline=8", "dist.tensor=8", "dist.data=16", "batch.micro=16", "model.set=heads=16"]),
        ("175B, pipeline 16 x tensor 8 x data 8", "175b", "128x8h200",
         ["dist.pipeline=16", "dist.tensor=8", "dist.data=8", "precision.compute=BF16",
          "recompute.policy=FULL"])]


def verifier(tools, quick):
    print("Compiling and proving plans (loaded: the whole process that reads a plan, checks and proves it)")
    for label, job, cluster, overrides in JOBS[:1] if quick else JOBS:
        plan = tools.path("verified.plan")
        compiled = tools.measured("weft-compile", tools.job(job), *overrides, "cluster=" + tools.cluster(cluster),
                                        "-o", plan, "--quiet")
        verified = min(tools.measured("weft-plan", "verify", plan) for _ in range(5))
        print("  %s: compiled in %.2f s (%.2f s of a core, %.0f MiB), plan of %.2f MiB" %
              (label, compiled.seconds, compiled.cpu_seconds, compiled.peak_bytes / 2**20, os.path.getsize(plan) / 2**20))
        # Milliseconds of a core: load, parse, then what the verifier does, which is also the end of a compilation.
        checks, proof = [float(word) for word in tools.run("verify", plan).split("\n")[1].split()[2:4]]
        print("    loaded in %.3f s; of that the verifier %.3f s of a core: %.1f %% of the compilation "
              "(aims: compile 15 s, load 1 s, verify 5 %%)" %
              (verified.seconds, (checks + proof) / 1000, (checks + proof) / 10 / compiled.cpu_seconds), flush=True)
