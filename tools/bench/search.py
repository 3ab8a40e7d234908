"""What the search for layouts takes, and what it finds."""

# Model, its folder and job, cluster, keys, and the aim: seconds of one idle core.
MODELS = [("124M on 64 ranks", "gpt2", "124m", "8xh200", ["batch={global: 512}"], 3),
          ("1.5B on 64 ranks", "gpt2", "1.5b", "8xh200", ["batch={global: 512}", "model.set=heads=16"], 15),
          ("8B on data 8, tensor 8", "llama", "8b", "8xh200",
           ["dist.data=8", "dist.tensor=8", "batch={global: 512 micro: 128}", "zero.stage=1"], 2),
          ("39B on 64 ranks", "gpt2", "1.5b", "8xh200",
           ["batch={global: 1024}", "model.set=hidden=8192", "model.set=heads=64", "model.set=vocab=51200"], 30),
          ("175B on 1,024 ranks", "gpt2", "175b", "128x8h200", ["batch={global: 1536}"], 60)]
QUICK = 1
EXACT = "8B on data 8, tensor 8"  # whose parameters' layout is also searched by itself
PEAK_MIB = 2048  # the aim for memory


def search(tools, quick):
    print("Choosing the layout of GPT-2 and Llama in bfloat16 (graph.auto_parallel, a whole process; aim: %d MiB)" % PEAK_MIB)
    print("  %-22s %11s %8s %8s %10s %10s %7s  %s" %
          ("model", "s of a core", "aim", "MiB", "step, ms", "bound, ms", "gap", "chosen"))
    for label, model, job, cluster, keys, aim in MODELS[:QUICK] if quick else MODELS:
        plan = tools.path("chosen.plan")
        used = tools.measured("weft-compile", tools.job(job, model), *keys, "precision.compute=BF16",
                              "graph.auto_parallel=true", "cluster=" + tools.cluster(cluster), "-o", plan, "--quiet")
        decision = tools.run_json("weft-plan", "show", plan)["header"]["decision"]
        best = decision["best"][0]
        print("  %-22s %11.1f %8d %8.0f %10.1f %10.1f %5.1f %%  %s" %
              (label, used.cpu_seconds, aim, used.peak_bytes / 2**20, 1e3 * best["step_s"], 1e3 * decision["bound_s"],
               100 * decision["gap"], best["keys"]), flush=True)
        if label == EXACT:
            seconds = tools.run("exact", tools.job(job, model), *keys, "precision.compute=BF16",
                                "cluster=" + tools.cluster(cluster)).split()[0]
            print("    of that, where its parameters lie on this mesh, exactly: %s s" % seconds, flush=True)


def layouts(tools, quick):
    print("Labels of chains of blocks under a limit of memory (aim: 1 s of a core for blocks of 40 ops on two axes)")
    for line in tools.run("layouts", *["--quick"] if quick else []).splitlines():
        print("  " + line, flush=True)
