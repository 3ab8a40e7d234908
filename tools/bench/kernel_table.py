"""What a GPU did in a training step: the file that libweft-activity.so writes (activity.cc), as a table by kernel and as
shares of the step.
"""

import collections
import re

Event = collections.namedtuple("Event", "kind stream begin end name")  # times in ns

# Runs once a step, after all gradients are there and before the first update.
MARKER = "clip_scale"


def events_of(lines):
    """The events, by their beginning."""
    events = []
    for line in lines:
        kind, stream, begin, end, name = line.rstrip("\n").split("\t", 4)
        events.append(Event(kind, int(stream), int(begin), int(end), name))
    return sorted(events, key=lambda it: it.begin)


def read(path):
    with open(path, encoding="utf-8") as lines:
        return events_of(lines)


def short(name):
    """A kernel's name without its arguments and the longest of its template parameters."""
    name = re.sub(r"^(void|__global__) ", "", name.split("(")[0] if "<" not in name else name)
    name = re.sub(r"<.{40,}>", "<...>", re.sub(r"\(.*\)$", "", name))
    return name if len(name) <= 60 else name[:57] + "..."


def busy(events):
    """(begin, end) of the times in which anything ran, ascending and without overlaps."""
    spans = []
    for it in events:
        if spans and it.begin <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], it.end)
        else:
            spans.append([it.begin, it.end])
    return spans


def steps(events, marker=MARKER, warmup=2):
    """Lists of the events between one marker and the next, without the first steps."""
    marks = [it.begin for it in events if it.kind == "kernel" and it.name.split("(")[0] == marker]
    periods = list(zip(marks, marks[1:]))[warmup:]
    found = [[it for it in events if begin <= it.begin < end] for begin, end in periods]
    return [(end - begin, part) for (begin, end), part in zip(periods, found)]


def gaps(part):
    """ns between works of one step, longest first."""
    spans = busy(part)
    return sorted((b[0] - a[1] for a, b in zip(spans, spans[1:])), reverse=True)


def by_kernel(parts):
    """[(name, calls a step, ns a step)], the longest first."""
    calls, time = collections.Counter(), collections.Counter()
    for part in parts:
        for it in part:
            name = short(it.name) if it.kind == "kernel" else it.kind
            calls[name] += 1
            time[name] += it.end - it.begin
    return [(name, calls[name] / len(parts), total / len(parts)) for name, total in time.most_common()]


def summary(events, marker=MARKER, warmup=2):
    """Of the mean step: seconds, the share in which nothing ran, that share without the longest gap of each step (in which
    the host reads the step's loss and puts the next batch), and the table. None without two steps."""
    found = steps(events, marker, warmup)
    if not found:
        return None
    period = sum(length for length, _ in found)
    idle = longest = 0
    for length, part in found:
        between = gaps(part)
        idle += length - sum(end - begin for begin, end in busy(part))
        longest += max(between[:1] + [length - (max(it.end for it in part) - part[0].begin)])
    return {"steps": len(found), "step_s": period / len(found) * 1e-9, "idle_share": idle / period,
            "gap_share": max(0, idle - longest) / period,
            "kernels": [{"name": name, "calls": calls, "seconds": ns * 1e-9, "share": ns * len(found) / period}
                        for name, calls, ns in by_kernel([part for _, part in found])]}


def totals(events):
    """The table of a whole run, for programs without a marker: shares of the time in which anything ran."""
    all_busy = sum(end - begin for begin, end in busy(events))
    return [{"name": name, "calls": calls, "seconds": ns * 1e-9, "share": ns / all_busy}
            for name, calls, ns in by_kernel([events])]


def lines(table, most=25):
    """The table as text; what is left over is one line."""
    text = ["  %-60s %8s %10s %7s" % ("kernel", "calls", "ms", "share")]
    shown, rest = table[:most], table[most:]
    if rest:
        shown = shown + [{"name": "(%d others)" % len(rest), "calls": sum(it["calls"] for it in rest),
                          "seconds": sum(it["seconds"] for it in rest), "share": sum(it["share"] for it in rest)}]
    return text + ["  %-60s %8.1f %10.3f %6.1f%%" % (it["name"], it["calls"], it["seconds"] * 1e3, 100 * it["share"])
                   for it in shown]
