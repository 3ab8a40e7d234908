"""What a trace of weft-run says: acts of actors and kernels by rank and step."""

import collections
import json

Act = collections.namedtuple("Act", "rank stream name step micro_batch begin end")  # seconds


def read_acts(path):
    """The acts of a trace without those of the first step, which pays for warm-up."""
    with open(path) as text:
        events = json.load(text)["traceEvents"]
    streams = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    acts = []
    for e in events:
        if e["ph"] != "X" or e["args"]["step"] == 1:
            continue
        begin = e["ts"] * 1e-6
        acts.append(Act(e["pid"], streams[e["pid"], e["tid"]], e["name"], e["args"]["step"],
                        e["args"]["micro_batch"], begin, begin + e["dur"] * 1e-6))
    return acts


def is_kernel(act):
    return act.stream.endswith(" kernels")


def by_step(acts):
    steps = collections.defaultdict(list)
    for act in acts:
        steps[act.step].append(act)
    return list(steps.values())


def merged(spans):
    """(begin, end) pairs without overlaps, ascending."""
    out = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return out


def length(spans):
    return sum(end - begin for begin, end in merged(spans))


def without(spans, taken):
    """Seconds of `spans` that no span of `taken` covers."""
    return length(list(spans) + list(taken)) - length(taken)


class StepView:
    """One step of all ranks of a plan: who computed when, who communicated."""

    def __init__(self, plan, acts):
        # By rank: the names of the actors that run kernels on a compute stream,
        # and of those that communicate on any.
        self.computing, self.communicating = {}, {}
        for stage in plan["stages"]:
            compute = {a["name"] for a in stage["actors"]
                       if a.get("kernel_count", 0) > 0 and stage["streams"][a["stream"]]["kind"] == "compute"}
            communicate = {a["name"] for a in stage["actors"] if a.get("kernel_count", 0) == 0}
            for rank in stage["placement"]["ranks"]:
                self.computing[rank], self.communicating[rank] = compute, communicate
        self.acts = [act for act in acts if not is_kernel(act)]
        self.begin = min(act.begin for act in self.acts)
        self.end = max(act.end for act in self.acts)

    def seconds(self):
        return self.end - self.begin

    def spans(self, rank, kind):
        names = (self.computing if kind == "computing" else self.communicating)[rank]
        return [(act.begin, act.end) for act in self.acts if act.rank == rank and act.name in names]

    def bubble(self):
        """The share of the step in which compute streams run no kernel."""
        busy = sum(length(self.spans(rank, "computing")) for rank in self.computing)
        return 1 - busy / (self.seconds() * len(self.computing))

    def exposed(self):
        """Seconds a rank in which it communicates, or waits to, and does not compute; the mean of all."""
        return sum(without(self.spans(rank, "communicating"), self.spans(rank, "computing"))
                   for rank in self.computing) / len(self.computing)

    def exposed_by_actor(self):
        """Name of an actor: seconds of its own that are exposed, on the first rank."""
        rank = min(self.computing)
        computing = self.spans(rank, "computing")
        seconds = collections.Counter()
        for act in self.acts:
            if act.rank == rank and act.name in self.communicating[rank]:
                seconds[act.name] += without([(act.begin, act.end)], computing)
        return seconds
