#!/usr/bin/env python3
"""Ranks that do the same: a slow one is named, and replicas of which one has lost a bit."""
import json
import os
import re
import signal
import sys
import time

sys.path.insert(0, "tests/processes")
from processes import LAYOUTS, MICRO, ProcessesTest  # noqa: E402
from programs import LIMIT_S, contents, main, raw_safetensors  # noqa: E402

STEPS = 3


def events(path, kind):
    return [line[kind] for line in map(json.loads, contents(path).decode().splitlines()) if kind in line]


def places(process, pattern):
    """The addresses at which a process has these bytes, in memory that it may write."""
    with open(f"/proc/{process}/maps", encoding="utf-8") as maps, open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in maps:
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if found is None:
                continue
            begin, end = (int(word, 16) for word in found.groups())
            memory.seek(begin)
            try:
                there = memory.read(end - begin)
            except OSError:  # of a device
                continue
            at = there.find(pattern)
            while at >= 0:
                yield begin + at
                at = there.find(pattern, at + 1)


class AlikeTest(ProcessesTest):
    def test_a_slow_rank_is_named(self):
        layout, processes = LAYOUTS["data"]
        lines = self.path("m.jsonl")
        run = self.start(processes, self.plan(*MICRO, *layout), "--steps", 10**9, "--slow-ranks-every", 10, "--metrics", lines)
        run.find_ranks()
        self.assertTrue(run.await_lines(lines, 3), "ended before")
        end = time.monotonic() + LIMIT_S
        named = []
        while not named and time.monotonic() < end:  # it does nothing most of the time, in a kernel or elsewhere
            run.send(1, signal.SIGSTOP)
            time.sleep(0.1)
            run.send(1, signal.SIGCONT)
            time.sleep(0.01)
            named = [slow for slow in events(lines, "slow_rank") if slow["rank"] == 1]
        run.process.send_signal(signal.SIGTERM)
        self.assertEqual(run.end()[0], 0)
        self.assertGreater(named[0]["times"], 1.25)
        self.assertEqual(named[0]["host"], os.uname().nodename)
        self.assertEqual((named[0]["step"] % 10, named[0]["since"] % 10), (0, 1))

    def test_replicas_are_equal_in_every_layout(self):
        for name, (layout, processes) in LAYOUTS.items():
            with self.subTest(layout=name):
                lines = self.path(name + ".jsonl")
                self.run_processes(processes, self.plan(*MICRO, *layout), "--steps", STEPS, "--compare-replicas-every", 1,
                                   "--metrics", lines)
                self.assertEqual(events(lines, "replicas"), [{"step": step, "equal": True} for step in range(1, STEPS + 1)])

    def test_a_bit_that_one_rank_has_lost_is_found(self):
        layout, processes = LAYOUTS["data"]
        plan = self.plan(*MICRO, *layout, "optimizer.adamw.lr=1e-30")  # its parameters stay as they begin
        self.train(plan, 0, "--checkpoint-dir", self.path("begin"))
        (name, (_, _, content)), = [item for item in raw_safetensors(self.path("begin/step-00000000/model.safetensors")).items()
                                    if item[0].endswith("wpe.weight")]
        lines = self.path("m.jsonl")
        run = self.start(processes, plan, "--steps", 10**9, "--compare-replicas-every", 2, "--metrics", lines)
        run.find_ranks()
        self.assertTrue(run.await_lines(lines, 5), "ended before")
        victim = run.ranks[1]
        found = list(places(victim, content[:64]))
        self.assertTrue(found)
        with open(f"/proc/{victim}/mem", "r+b", buffering=0) as memory:
            for place in found:
                memory.seek(place)
                memory.write(bytes([content[0] ^ 1]))
        status, err = run.end()
        self.assertEqual(status, 1, err)
        host = os.uname().nodename
        self.assertRegex(err, rf"weft-run: step \d*[02468]: expected the same bits of all replicas: `{name}`: rank 1 "
                         rf"\(host {host}\) has other bits than rank 0; nothing was saved\n")
        compared = events(lines, "replicas")
        self.assertEqual([one["equal"] for one in compared], [True] * (len(compared) - 1) + [False])
        self.assertIn(f"`{name}`", compared[-1]["difference"])


if __name__ == "__main__":
    main()
