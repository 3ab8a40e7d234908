"""Metrics of a run to Weights & Biases, as they come: to_wandb.py PLAN PROJECT [FLAG=VALUE ...], such as data=corpus.txt steps=200.

With a file of `weft run --metrics` in place of a plan it sends what is there: to_wandb.py metrics.jsonl PROJECT.
Needs the package `wandb`, and what that needs: an account or WANDB_MODE=offline.
"""
import json
import sys

import wandb

import weft


def lines_of(source, flags):
    """What the run says of itself, then its steps."""
    if source.endswith(".jsonl"):
        with open(source, encoding="utf-8") as file:
            for line in map(json.loads, file):
                yield line.get("run"), line
        return
    run = weft.run(source, **flags)
    for step in run:
        yield run.about, step


def main():
    source, project, *rest = sys.argv[1:]
    flags = dict(flag.split("=", 1) for flag in rest)
    sent = wandb.init(project=project)
    for about, line in lines_of(source, flags):
        if about:
            sent.config.update(about, allow_val_change=True)
        if "step" in line:
            sent.log({key: value for key, value in line.items() if key != "step"}, step=line["step"])
    sent.finish()


if __name__ == "__main__":
    main()
