"""Predicts what figures 12 to 16 of Narayanan et al. (SC 2021; see published.py) show, with the configurations of
Megatron-LM's examples/sc21 (run_figure_12.sh to run_figure_16.sh), and checks where their maxima are and which way they
go. No rate is fitted on them. Usage:
  figures.py --bin FOLDER --root FOLDER [--figures 13,16]
Status 1 if a claim of the paper does not hold."""

import os
import sys
import tempfile

from published import Row, Weft, arguments, step_flops

# Heads, hidden size and layers of the models.
GPT_175B, GPT_162B, GPT_6B, GPT_91B = (96, 12288, 96), (128, 20480, 32), (32, 3840, 32), (128, 15360, 32)
SIZES = (2, 4, 8, 16, 32)


def row(name, model, tensor, pipeline, ranks, batch, micro=1, chunks=1):
    return Row(name, *model, tensor, pipeline, ranks, batch, micro, chunks, None, False)


def falls(rates):
    return all(a > b for a, b in zip(rates, rates[1:]))


class Figure:
    """Lines of a chart: by their name the runs from left to right. `claims` takes TFLOP/s by line, and gives what the
    paper says and whether it holds."""

    def __init__(self, number, title, lines, claims):
        self.number, self.title, self.lines, self.claims = number, title, lines, claims


def claims_12(rates):
    plain, interleaved = rates["plain"], rates["interleaved"]
    gains = [b / a for a, b in zip(plain, interleaved)]
    return [("interleaved is faster with every batch", min(gains) > 1), ("the gap closes with the batch", falls(gains))]


def figures():
    lines = {name: [row("12-%s-%d" % (name, batch), GPT_175B, 8, 12, 96, batch, chunks=chunks)
                    for batch in (12, 24, 36, 48, 60)] for name, chunks in (("plain", 1), ("interleaved", 4))}
    yield Figure(12, "175B on 96 GPUs, batches of 12 to 60", lines, claims_12)
    lines = {"batch %d" % batch: [row("13-%d-%d" % (batch, p), GPT_162B, 64 // p, p, 64, batch) for p in SIZES]
             for batch in (32, 128)}
    yield Figure(13, "162B on 64 GPUs, pipeline 2 x tensor 32 to 32 x 2", lines,
                 lambda rates: [("the maximum is at pipeline 8 x tensor 8, " + name, max(line) == line[2])
                                for name, line in rates.items()])
    lines = {"batch %d" % batch: [row("14-%d-%d" % (batch, p), GPT_6B, 1, p, 64, batch) for p in SIZES]
             for batch in (32, 128, 512)}
    yield Figure(14, "5.9B on 64 GPUs, pipeline 2 x data 32 to 32 x 2", lines,
                 lambda rates: [("falls with the stages, " + name, falls(line)) for name, line in rates.items()] +
                 [("larger batches are faster", all(falls(runs[::-1]) for runs in zip(*rates.values())))])
    lines = {"batch %d" % batch: [row("15-%d-%d" % (batch, t), GPT_6B, t, 1, 64, batch) for t in SIZES]
             for batch in (32, 128, 512)}
    yield Figure(15, "5.9B on 64 GPUs, tensor 2 x data 32 to 32 x 2", lines,
                 lambda rates: [("falls with the tensor ranks, " + name, falls(line)) for name, line in rates.items()])
    lines = {"batch %d" % batch: [row("16-%d-%d" % (batch, micro), GPT_91B, 8, 8, 64, batch, micro) for micro in (1, 2, 4, 8)]
             for batch in (128, 512)}
    yield Figure(16, "91B on 64 GPUs, tensor 8 x pipeline 8, micro-batches of 1, 2, 4 and 8", lines,
                 lambda rates: [("the maximum is at a micro-batch of 2, " + name, max(line) == line[1])
                                for name, line in rates.items()])


BY_NUMBER = {it.number: it for it in figures()}


def rate(weft, run):
    """TFLOP/s a GPU, as the paper counts them."""
    return step_flops(run) / weft.seconds(weft.compile(run)) / run.ranks / 1e12


def show(weft, figure):
    """Claims that do not hold."""
    print("figure %d: %s; TFLOP/s a GPU" % (figure.number, figure.title))
    rates = {}
    for name, runs in figure.lines.items():
        rates[name] = [rate(weft, run) for run in runs]
        print("  %-12s %s" % (name, " ".join("%7.1f" % it for it in rates[name])), flush=True)
    claims = figure.claims(rates)
    for claim, holds in claims:
        print("  %-4s %s" % ("yes" if holds else "NO", claim), flush=True)
    return sum(not holds for _, holds in claims)


def main():
    parser = arguments()
    parser.add_argument("--figures", default="")
    options = parser.parse_args()
    wanted = [int(it) for it in options.figures.split(",") if it]
    with tempfile.TemporaryDirectory() as folder:
        weft = Weft(options.bin, os.path.abspath(options.root), folder)
        sys.exit(1 if sum(show(weft, it) for number, it in BY_NUMBER.items() if not wanted or number in wanted) else 0)


if __name__ == "__main__":
    main()
