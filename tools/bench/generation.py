"""Generation beside transformers: the same weights, prompt and tokens, in turn."""

import itertools
import json
import os
import subprocess
import sys

from programs import fail, median

ROUNDS = 3
PROMPT, TOKENS = 64, 64


def has_transformers():
    return subprocess.run([sys.executable, "-c", "import torch, transformers"], stderr=subprocess.DEVNULL).returncode == 0


def generate(tools, quick):
    print("Generation, a prompt of %d tokens, %d more (medians of %d rounds)" % (PROMPT, TOKENS, ROUNDS))
    beside = has_transformers()
    if not beside:
        print("  python3 has no transformers: Weft alone")
    name = "small" if quick else "124m"
    model = ["batch.global=1", "batch.micro=1", "model.set=dropout=0.0"]
    plan = tools.compile(name, model + ["data.format=TEXT"], "generate")
    weights, folder = tools.path("weights"), tools.path("folder")
    tools.run("weft-run", plan, "--data", tools.path("corpus.txt"), "--steps", "0", "--checkpoint-dir", weights, "--quiet")
    tools.run("weft-export", weights, "-o", folder, "--models", os.path.join(tools.root, "models"), "--quiet")
    prompt = ",".join(str(7919 * i % 251) for i in range(PROMPT))
    for precision, threads in itertools.product(("F32", "BF16"), (1, 2)):
        job = [tools.job(name), *model, "precision.compute=" + precision, "--init", weights, "--prompt-ids", prompt,
               "--tokens", str(TOKENS), "--end", "none", "--threads", str(threads), "--quiet"]
        own, others, answers = [], [], set()
        for _ in range(ROUNDS):
            metrics = tools.path("metrics.json")
            answers.add(tools.run("weft-generate", *job, "--metrics", metrics).strip())
            with open(metrics, encoding="utf-8") as file:
                own.append(json.load(file))
            if beside:
                script = os.path.join(tools.root, "tools", "bench", "peers", "transformers_generate.py")
                done = subprocess.run([sys.executable, script, folder, prompt, str(TOKENS), str(threads), precision],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                if done.returncode != 0:
                    fail("transformers: no result")
                others.append(json.loads(done.stdout.splitlines()[-1]))
                answers.add(",".join(map(str, others[-1].pop("answer"))))
        line = "  %-5s %-4s %d thread%s" % (name, precision.lower(), threads, "s" if threads > 1 else " ")
        for key, unit, scale in (("first_token_s", "ms to the first", 1e3), ("tokens_per_s", "tokens/s", 1)):
            mine = median([one[key] for one in own])
            line += "  %8.1f %s" % (mine * scale, unit)
            if beside:
                line += " (transformers %.1f)" % (median([one[key] for one in others]) * scale)
        print(line + ", caches %.1f MiB%s" % (own[0]["cache_bytes"] / 2**20,
                                             ", the same tokens" if len(answers) == 1 else ", other tokens"), flush=True)
