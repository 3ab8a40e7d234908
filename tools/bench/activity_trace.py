#!/usr/bin/env python3
"""A GPU's own record of a training run, as the trace that weft-run --trace --trace-kernels writes.

    weft-plan show PLAN --kernels --json >plan.json
    activity_trace.py plan.json ACTIVITY.tsv[.gz] -o trace.json
    weft-plan explain PLAN --with trace.json        # or weft-plan report PLAN --trace trace.json

ACTIVITY.tsv is what libweft-activity.so writes, as `gpu_check --keep` keeps it. On a GPU weft-run knows when the host
began a kernel; here each kernel of the plan has the seconds in which the GPU ran it. For a plan of one rank on one
stream. The record has names of kernels, of which a library chose some: they are told apart by the plan's order. A record that does
not go through the plan kernel by kernel is refused.
"""

import argparse
import collections
import gzip
import json
import re
import sys

import kernel_table

# What works for the kernel before it, or behind it.
AFTER = re.compile(r"epilogue|splitKreduce|_sums$|convert_dq|reduce_head|^square_totals$|^sum_in_order$|^embedding_grad_parts$")
BEFORE = re.compile(r"^fill$|dot_do_o|^embedding_(sort|merge)$")
PORTS = ("input", "output")

Kernel = collections.namedtuple("Kernel", "actor index name")


def plain(name):
    """Without arguments and template parameters."""
    return re.sub(r"^void ", "", name).split("(")[0].split("<")[0]


def order_of(plan):
    """The kernels of one step in the order in which the rank runs them: (Kernel, micro-batch)."""
    stage = plan["stages"][0]
    if len(plan["stages"]) != 1 or sum(stream["kind"] == "compute" for stream in stage["streams"]) != 1:
        sys.exit("activity_trace: expected a plan of one stage with one stream that computes")
    actors = {actor["name"]: actor for actor in stage["actors"]}
    stream = next(it for it in stage["streams"] if it["kind"] == "compute")
    order = []
    for run in stream["runs"]:
        offsets = run.get("offsets", [0] * len(run["actors"]))
        for turn in range(run["repeat"]):
            for name, offset in zip(run["actors"], offsets):
                micro_batch = run["first_micro_batch"] + turn * run.get("stride", 1) + offset
                for index, kernel in enumerate(actors[name].get("kernels", [])):
                    if kernel["name"] not in PORTS:
                        order.append((Kernel(name, index, kernel["name"]), micro_batch))
    return order


def belongs(kernel, name):
    """Whether a GPU's kernel of this name may be what does the plan's."""
    generated = re.match(r"k\d+_(.*)", name)
    if generated:
        words = re.sub(r"_batch$", "", generated.group(1))
        return "_".join(kernel.name.split("+"))[:40].startswith(words[:40])
    if "einsum" in kernel.name:
        return re.search("nvjet|gemm|cutlass|xmma|product", name) is not None
    if kernel.name in ("attention", "attention_grad"):
        return re.search("bprop|attention_grad" if "grad" in kernel.name else "fprop|attention", name) is not None
    if kernel.name == "reduce":
        return re.match("(max|sum)_(rows|columns)", name) is not None
    return name.startswith({"square_sum": "square_parts"}.get(kernel.name, kernel.name))


def aligned(order, events):
    """[(Kernel, micro-batch, begin, end)] of one step's events, in ns; None if they do not go through the order."""
    found, before = [], 0
    for event in events:
        if event.kind == "copy":
            continue
        name = plain(event.name) if event.kind == "kernel" else event.kind
        length = event.end - event.begin
        if AFTER.search(name) or (found and re.search(r"_batch$|^square_parts$", name) and found[-1][3] == name):
            if not found:
                return None
            found[-1][2] += length
        elif BEFORE.search(name):
            before += length
        else:
            found.append([event.begin, event.begin, event.begin + length + before, name])
            before = 0
    if len(found) != len(order):
        return None
    if not all(belongs(kernel, it[3]) for (kernel, _), it in zip(order, found)):
        return None
    return [(kernel, micro, begin, end) for (kernel, micro), (begin, _, end, _) in zip(order, found)]


def trace_of(plan, events):
    order = order_of(plan)
    marker = next(i for i, (kernel, _) in enumerate(order) if kernel.name == kernel_table.MARKER)
    turned = order[marker:] + order[:marker]
    steps = [aligned(turned, part) for _, part in kernel_table.steps(events)]
    if not steps or None in steps:
        sys.exit("activity_trace: expected steps of %d kernels in the plan's order, got others" % len(order))
    rank = plan["stages"][0]["placement"]["ranks"][0]
    out = [{"ph": "M", "name": "process_name", "pid": rank, "args": {"name": "rank %d" % rank}},
           {"ph": "M", "name": "thread_name", "pid": rank, "tid": 0, "args": {"name": "compute kernels"}}]
    for step, found in enumerate(steps):
        for kernel, micro, begin, end in found:
            out.append({"ph": "X", "name": "%s/%d %s" % kernel, "cat": "kernel", "pid": rank, "tid": 0, "ts": begin * 1e-3,
                        "dur": (end - begin) * 1e-3, "args": {"step": step + 1, "micro_batch": micro}})
    return {"traceEvents": out, "displayTimeUnit": "ms", "otherData": {"kernels": "device"}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", help="what weft-plan show --kernels --json printed")
    parser.add_argument("activity", help="what libweft-activity.so wrote, gzipped or not")
    parser.add_argument("-o", dest="out", required=True, help="the trace to write")
    arguments = parser.parse_args()
    with open(arguments.plan, encoding="utf-8") as file:
        plan = json.load(file)
    opened = gzip.open if arguments.activity.endswith(".gz") else open
    with opened(arguments.activity, "rt", encoding="utf-8") as lines:
        events = kernel_table.events_of(lines)
    trace = trace_of(plan, events)
    with open(arguments.out, "w", encoding="utf-8") as file:
        json.dump(trace, file)


if __name__ == "__main__":
    main()
