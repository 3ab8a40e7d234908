#!/usr/bin/env python3
"""A thousand kills: run by hand from the root of a build, as `tests/processes/soak.py [COUNT [SEED]]`.

Each is a case of kill_test.py with a seed of its own, which is all that it takes to see it again. Needs the
programs that `bazel build //tools/...` makes; ends at the first case that fails.
"""
import os
import sys
import time

sys.path.insert(0, "tests/processes")
from processes import LAYOUTS, PROGRAMS, ProcessesTest  # noqa: E402

STEPS = 8


class Soak(ProcessesTest):
    def runTest(self):
        pass


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for name, path in PROGRAMS.items():
        PROGRAMS[name] = path if os.path.exists(path) else "bazel-bin/" + path
    soak = Soak()
    soak.setUp()
    layouts, expected = sorted(LAYOUTS), {}
    begin = time.monotonic()
    try:
        for seed in range(first, first + count):
            layout = layouts[seed % len(layouts)]
            if layout not in expected:
                expected[layout] = soak.undisturbed(layout, STEPS)
            soak.killed_and_resumed(seed, layout, STEPS, *expected[layout])
            print(f"seed {seed}: {layout}: as undisturbed, {time.monotonic() - begin:.0f} s", flush=True)
    finally:
        soak.doCleanups()
    print(f"{count} of {count} runs went on as undisturbed")


if __name__ == "__main__":
    main()
