#!/usr/bin/env python3
"""A thousand kills: run by hand from the root of a build, as `tests/processes/soak.py [COUNT [SEED]]`.

Each is a case of kill_test.py with a seed of its own, which is all that it takes to see it again: SEED .. SEED + COUNT - 1.
Seven of ten go on with the same layout, as processes or as threads of one process, and must end with the same bytes; the
others go on with another layout, and must end with the same losses within 2e-5. --log FILE has a line a case: with a
file that has some, the soak goes on with the others. Needs the programs that `bazel build //tools/...` makes.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import sys
import threading
import time

sys.path.insert(0, "tests/processes")
from processes import LAYOUTS, MICRO, PROGRAMS, ProcessesTest, numbers, saved  # noqa: E402
from programs import TOKENS, relative  # noqa: E402

STEPS = 8
BOUND = 2e-5
# The larger a layout, the longer a case: eight processes share the cores that there are.
WEIGHTS = {"data": 3, "tensor": 3, "pipeline": 3, "data x pipeline": 3, "data x tensor x pipeline": 1}


class Case(ProcessesTest):
    """One kill, in a folder of its own."""

    def __init__(self, seed, wholes):
        super().__init__()
        self.seed, self.wholes = seed, wholes
        self.rng = random.Random(f"soak {seed}")
        self.layout = self.rng.choices(list(WEIGHTS), WEIGHTS.values())[0]
        self.way = self.rng.choice(["processes"] * 4 + ["threads"] * 3 + ["another layout"] * 3)
        self.result = {"seed": seed, "layout": self.layout, "resumed": self.way}

    def runTest(self):
        begin = time.monotonic()
        resume = {"processes": None, "threads": self.as_threads, "another layout": self.in_another}[self.way]
        err = self.killed_and_resumed(self.seed, self.layout, STEPS, *self.wholes[self.layout], resume=resume)
        self.result.update(said=err.strip(), seconds=round(time.monotonic() - begin, 1))

    def as_threads(self, flags, expected, expected_numbers):
        self.go_on(self.layout, flags)
        self.assertEqual(saved(flags[3]), expected)
        self.assertEqual(numbers(flags[-1]), expected_numbers)

    def in_another(self, flags, _, expected_numbers):
        other = self.rng.choice([name for name in LAYOUTS if name != self.layout])
        self.go_on(other, flags)
        got = numbers(flags[-1])
        self.assertEqual([line["step"] for line in got], list(range(1, STEPS + 1)))
        worst = max(relative(line["loss"], whole["loss"]) for line, whole in zip(got, expected_numbers))
        self.result.update(resumed=f"another layout: {other}", off=worst)
        self.assertLess(worst, BOUND)

    def go_on(self, layout, flags):
        plan = self.plan(*MICRO, *LAYOUTS[layout][0])
        self.run_ok("weft-run", plan, "--data", TOKENS, "--threads", 1, "--quiet", *flags, "--resume")


def run_case(seed, wholes):
    case = Case(seed, wholes)
    case.setUp()
    try:
        case.runTest()
        case.result["ok"] = True
    except Exception as error:  # what a case did not expect is its result
        case.result.update(ok=False, error=f"{type(error).__name__}: {error}"[:4000])
    finally:
        case.doCleanups()
    return case.result


def done_before(path):
    if path is None or not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def summary(results, seconds):
    failed = [it for it in results if not it["ok"]]
    kinds = collections.Counter((it["layout"], it["resumed"].split(":")[0]) for it in results)
    for (layout, resumed), count in sorted(kinds.items()):
        print(f"{count:5} {layout}, resumed as {resumed}")
    said = sum(" is lost: " in it.get("said", "") for it in results)
    print(f"{said} ended with the line of the lost rank, {len(results) - len(failed) - said} were done before the kill")
    print(f"largest difference of a loss in another layout: {max([it['off'] for it in results if 'off' in it] or [0]):.1e}")
    for it in failed:
        print(f"FAILED seed {it['seed']}: {it['layout']}: {it['error']}")
    print(f"{len(results) - len(failed)} of {len(results)} runs went on as undisturbed, {seconds:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=1000)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="cases side by side: most of one is waiting for mpirun")
    parser.add_argument("--log", help="a line of JSON a case; what it has is not done again")
    arguments = parser.parse_args()
    for name, path in PROGRAMS.items():
        PROGRAMS[name] = path if os.path.exists(path) else "bazel-bin/" + path
    results = [it for it in done_before(arguments.log) if it["seed"] in range(arguments.seed, arguments.seed + arguments.count)]
    done = {it["seed"] for it in results}
    left = [seed for seed in range(arguments.seed, arguments.seed + arguments.count) if seed not in done]
    begin = time.monotonic()
    setup = ProcessesTest()
    setup.setUp()
    wholes = {layout: setup.undisturbed(layout, STEPS) for layout in LAYOUTS}
    lock = threading.Lock()

    def work(seed):
        result = run_case(seed, wholes)
        with lock:
            results.append(result)
            if arguments.log is not None:
                with open(arguments.log, "a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")
            if not result["ok"] or len(results) % 20 == 0:
                print(f"{len(results)} of {arguments.count}, seed {seed}: {'ok' if result['ok'] else result['error']}", flush=True)

    pool = concurrent.futures.ThreadPoolExecutor(arguments.jobs)
    try:
        list(pool.map(work, left))
    except KeyboardInterrupt:
        print("stopped; with the same --log it goes on")
    finally:
        pool.shutdown(cancel_futures=True)
        setup.doCleanups()
        summary(results, time.monotonic() - begin)
    return 0 if all(it["ok"] for it in results) else 1


if __name__ == "__main__":
    sys.exit(main())
