"""Predicts published training runs: table 1 of Narayanan et al., "Efficient Large-Scale Language Model Training on GPU
Clusters Using Megatron-LM" (SC 2021), with the configurations of Megatron-LM's examples/sc21 (run_table_1.sh). figures.py
predicts what its figures show.

Rates of `clusters/dgx_a100.cluster` are fitted on the rows marked so; the other rows are predicted with them. Usage:
  published.py --bin FOLDER --root FOLDER [--fit | --auto] [--rows 1.7B,7.5B]
--bin has weft-compile and weft-plan. Without --fit the cluster file is taken as it stands. Status 1 if a row that was
not fitted is off by more than 10 %. --auto: beside each row what graph.auto_parallel finds for the same model, batch and
GPUs; status 1 if that takes longer than the published layout is predicted to."""

import argparse
import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile

CLUSTERS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../clusters")
SEQUENCE, VOCABULARY = 2048, 51200
LIMIT = 0.10
Row = collections.namedtuple("Row", "name heads hidden layers tensor pipeline ranks batch micro chunks tflops fitted")

# `tflops`: TFLOP/s a GPU as published.
ROWS = [Row("1.7B", 24, 2304, 24, 1, 1, 32, 512, 16, 1, 137, False),
        Row("3.6B", 32, 3072, 30, 2, 1, 64, 512, 16, 1, 138, True),
        Row("7.5B", 32, 4096, 36, 4, 1, 128, 512, 16, 1, 142, False),
        Row("18.4B", 48, 6144, 40, 8, 1, 256, 1024, 8, 1, 135, True),
        Row("39.1B", 64, 8192, 48, 8, 2, 512, 1536, 4, 1, 138, False),
        Row("76.1B", 80, 10240, 60, 8, 4, 1024, 1792, 2, 3, 140, True),
        Row("145.6B", 96, 12288, 80, 8, 8, 1536, 2304, 2, 2, 148, False),
        Row("310.1B", 128, 16384, 96, 8, 16, 1920, 2160, 1, 2, 155, True),
        Row("529.6B", 128, 20480, 105, 8, 35, 2520, 2520, 1, 3, 163, False),
        Row("1008.0B", 160, 25600, 128, 8, 64, 3072, 3072, 1, 1, 163, False)]


def step_flops(row):
    """As the paper counts them (its equation 3): with recomputation."""
    s, l, h = SEQUENCE, row.layers, row.hidden
    return 96 * row.batch * s * l * h * h * (1 + s / (6 * h) + VOCABULARY / (16 * l * h))


def published_seconds(row):
    return step_flops(row) / (row.tflops * 1e12 * row.ranks)


class Weft:
    def __init__(self, bin_dir, root, folder):
        self.bin_dir, self.root, self.folder = bin_dir, root, folder

    def run(self, program, *arguments):
        done = subprocess.run([os.path.join(self.bin_dir, program), *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit("published: %s %s: %s" % (program, " ".join(arguments), done.stderr))
        return done.stdout

    def compile(self, row):
        """The plan of the published layout."""
        keys = ["dist.data=%d" % (row.ranks // row.tensor // row.pipeline), "dist.tensor=%d" % row.tensor,
                "dist.pipeline=%d" % row.pipeline, "batch.global=%d" % row.batch, "batch.micro=%d" % self.micro(row)]
        if row.chunks > 1:
            keys += ["pipeline.schedule=INTERLEAVED", "pipeline.chunks=%d" % row.chunks]
        cuts = row.pipeline * row.chunks
        keys += ["pipeline.cuts=h.%d" % (i * row.layers // cuts) for i in range(1, cuts)]
        return self.compile_with(row, row.name, keys)

    def choose(self, row):
        """The plan of the layout that the compiler chooses, which may recompute less than all."""
        return self.compile_with(row, row.name + "-chosen",
                                 ["graph.auto_parallel=true", "batch={global: %d}" % row.batch, "recompute={}"])

    def compile_with(self, row, name, keys):
        plan = os.path.join(self.folder, name + ".plan")
        sizes = {"layers": row.layers, "hidden": row.hidden, "heads": row.heads}
        keys = keys + ["model.set=%s=%d" % size for size in sizes.items()]
        keys += ["cluster=" + os.path.join(self.root, "clusters", "dgx_a100.cluster"),
                 "cluster.node.count=%d" % ((row.ranks + 7) // 8)]
        self.run("weft-compile", os.path.join(self.root, "tools/bench/published/megatron.job"), *keys, "-o", plan,
                 "--quiet")
        return plan

    def keys_chosen(self, plan):
        return json.loads(self.run("weft-plan", "show", plan, "--json"))["header"]["decision"]["best"][0]["keys"]

    @staticmethod
    def micro(row):
        """Samples of a micro-batch over all data ranks, as jobs count them."""
        return row.micro * (row.ranks // row.tensor // row.pipeline)

    def seconds(self, plan, keys=()):
        return json.loads(self.run("weft-plan", "simulate", plan, *keys, "--json"))["step_s"]


# What is fitted, and where the search begins: FLOP/s of the largest products, bytes/s of attention. Smaller products are
# slower as they are on an H100: the table's runs have products of much the same size, which do not tell.
START = {"products": 200e12, "attention": 1.0e12}
PRODUCT = re.compile(r'product { m: (\d+) n: (\d+) k: (\d+) type: "bf16" flops_s: (\S+) }')


def product_rates(rates):
    """(m, n, k, FLOP/s) for the shapes that were measured on an H100."""
    with open(os.path.join(CLUSTERS, "dgx_h100.cluster"), encoding="utf-8") as text:
        measured = [tuple(map(float, it)) for it in PRODUCT.findall(text.read())]
    largest = max(measured)[-1]
    return [(m, n, k, rates["products"] * rate / largest) for m, n, k, rate in measured]


def calibration(rates):
    """Lines of a cluster file."""
    with open(os.path.join(CLUSTERS, "dgx_a100.cluster"), encoding="utf-8") as text:
        lines = [line.rstrip() for line in text if line.startswith("  nccl {")]
    lines += ['  product { m: %d n: %d k: %d type: "bf16" flops_s: %.4g }' % it for it in product_rates(rates)]
    return lines + ['  kernel { family: "%s" bytes: 1e9 bytes_s: %.4g }' % (family, rates["attention"])
                    for family in ("attention_unfused", "attention_unfused_grad")]


def keys_of(rates):
    return ['cluster.calibration={device_kind: "cuda" %s}' % " ".join(calibration(rates))]  # replaces all of it


def errors(weft, plans, rates):
    """log(predicted / published) of each row."""
    return [math.log(weft.seconds(plan, keys_of(rates)) / published_seconds(row)) for row, plan in plans]


def fit(weft, plans):
    """The rates of least squares of errors(): Gauss-Newton in their logarithms, by differences of 2 %."""
    rates = dict(START)
    for _ in range(6):
        now = errors(weft, plans, rates)
        slopes = {}
        for name in rates:
            moved = errors(weft, plans, dict(rates, **{name: rates[name] * 1.02}))
            slopes[name] = [(b - a) / math.log(1.02) for a, b in zip(now, moved)]
        a, b = slopes["products"], slopes["attention"]
        dot = lambda x, y: sum(p * q for p, q in zip(x, y))
        # Solves the normal equations of two unknowns.
        det = dot(a, a) * dot(b, b) - dot(a, b) ** 2
        move = {"products": -(dot(b, b) * dot(a, now) - dot(a, b) * dot(b, now)) / det,
                "attention": -(dot(a, a) * dot(b, now) - dot(a, b) * dot(a, now)) / det}
        for name in rates:
            rates[name] *= math.exp(max(-0.5, min(0.5, move[name])))
        if max(map(abs, move.values())) < 0.002:
            break
    return rates


def compare_with_chosen(weft, rows):
    """1 if the search finds less than people did, for any row."""
    print("%-8s %6s %12s %12s %12s %8s  %s" %
          ("model", "GPUs", "published s", "predicted s", "chosen s", "ratio", "chosen"))
    worst = 0
    for row in rows:
        predicted, plan = weft.seconds(weft.compile(row)), weft.choose(row)
        chosen = weft.seconds(plan)
        worst = max(worst, chosen / predicted)
        print("%-8s %6d %12.3f %12.3f %12.3f %8.3f  %s" % (row.name, row.ranks, published_seconds(row), predicted, chosen,
                                                           chosen / predicted, weft.keys_chosen(plan)), flush=True)
    return 1 if worst > 1 else 0


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--root", required=True)
    return parser


def main():
    parser = arguments()
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--auto", action="store_true")
    parser.add_argument("--rows", default="")
    options = parser.parse_args()
    rows = [row for row in ROWS if not options.rows or row.name in options.rows.split(",")]
    if not rows:
        sys.exit("published: --rows: expected some of %s, got %s" % (", ".join(r.name for r in ROWS), options.rows))
    with tempfile.TemporaryDirectory() as folder:
        weft = Weft(options.bin, os.path.abspath(options.root), folder)
        if options.auto:
            sys.exit(compare_with_chosen(weft, rows))
        plans = [(row, weft.compile(row)) for row in rows]
        keys = []
        if options.fit:
            rates = fit(weft, [it for it in plans if it[0].fitted])
            print("fitted: products %.4g FLOP/s, attention %.4g bytes/s" % (rates["products"], rates["attention"]))
            print("\n".join(calibration(rates)))
            keys = keys_of(rates)
        print("%-8s %6s %12s %12s %8s %8s  %s" % ("model", "GPUs", "published s", "predicted s", "TFLOP/s", "ratio", ""))
        worst = 0
        for row, plan in plans:
            predicted, published = weft.seconds(plan, keys), published_seconds(row)
            ratio = predicted / published
            print("%-8s %6d %12.3f %12.3f %8.1f %8.3f  %s" % (row.name, row.ranks, published, predicted,
                                                              row.tflops / ratio, ratio,
                                                              "fitted" if row.fitted else "held out"), flush=True)
            if not row.fitted:
                worst = max(worst, abs(ratio - 1))
    print("held-out rows are off by at most %.1f %%" % (100 * worst))
    sys.exit(1 if worst > LIMIT else 0)


if __name__ == "__main__":
    main()
