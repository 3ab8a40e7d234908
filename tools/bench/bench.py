"""Benchmarks of whole runs, as ratios measured in one run on this machine.

Run it through tools/bench/run, which builds what it needs.
"""

import argparse
import tempfile

import activations
import checkpoints
import compilation
import data
import generation
import levels
import offload
import overlap
import registers
import search
import simulation
import training
import turns
import verification
from programs import Tools, fail, text_corpus

# Name: (what it measures, function of the tools and of --quick). In the order in which all are run.
PARTS = {
    "throughput": ("training rates beside the best matrix product", training.throughput),
    "products": ("float32 matrix products beside OpenBLAS's, where it is installed", training.products),
    "ranks": ("step time of more ranks beside one", training.ranks),
    "busy": ("step time while others want the cores, beside that while they do not", training.busy),
    "memory": ("what the plan says, and what the process takes", training.memory),
    "start": ("compilation, start-up, plan sizes, acts", training.start),
    "compile": ("compile time of jobs whose memory is hard to plan", compilation.compilation),
    "simulate": ("step time in virtual time beside measured, calibrated in the same run", simulation.simulate),
    "families": ("kernels traced beside predicted, by family, calibrated in the same run", simulation.families),
    "choice": ("twelve layouts measured, beside the one that the compiler chooses", simulation.choice),
    "schedules": ("bubbles of pipelines: measured, simulated, formula", simulation.schedules),
    "data": ("what each source of data reads a second beside what a step takes, and whether steps wait", data.data),
    "checkpoints": ("steps with checkpoints written aside, and standing, beside steps without", checkpoints.checkpoints),
    "overlap": ("two data-parallel ranks beside twice one", overlap.overlap),
    "turns": ("two tensor ranks over a slow link: micro-batches in turns beside one after the other", turns.turns),
    "offload": ("steps with what lies below the device, in files or the host's memory, beside steps without, and simulated", offload.offload),
    "levels": ("collectives among two hosts of four ranks: on two levels beside directly, measured and predicted", levels.levels),
    "search": ("seconds, memory and gap of graph.auto_parallel for large models", search.search),
    "layouts": ("seconds of a core and gaps of the exact search for layouts, on GPT-like chains", search.layouts),
    "generate": ("tokens/s and time to the first token, beside transformers where python3 has it", generation.generate),
    "activations": ("planned activations of large models beside the formulas for Megatron-LM", activations.activations),
    "registers": ("registers, shared memory and occupancy of generated GPU kernels, where ptxas is installed",
                  registers.registers),
    "verifier": ("compile time of large jobs, and the share of the proof", verification.verifier),
}


def main():
    parts = "\n".join("  %-12s%s" % (name, what) for name, (what, _) in PARTS.items())
    parser = argparse.ArgumentParser(description=__doc__ + "\nparts:\n" + parts,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder with the built programs")
    parser.add_argument("--root", required=True, help="folder of the checkout")
    parser.add_argument("--quick", action="store_true", help="small models and jobs only")
    parser.add_argument("parts", nargs="*", default=list(PARTS), help="all if none is named")
    arguments = parser.parse_args()
    for part in arguments.parts:
        if part not in PARTS:
            fail("expected %s, got %s" % (", ".join(PARTS), part))
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        tools = Tools(arguments.bin, arguments.root, folder)
        text_corpus(tools.path("corpus.txt"))
        for part in arguments.parts:
            PARTS[part][1](tools, arguments.quick)


if __name__ == "__main__":
    main()
