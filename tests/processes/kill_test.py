#!/usr/bin/env python3
"""Twenty runs that lose a rank at a random moment, and go on as if nothing had happened."""
import sys

sys.path.insert(0, "tests/processes")
from processes import ProcessesTest  # noqa: E402
from programs import main  # noqa: E402

STEPS = 8


class KillTest(ProcessesTest):
    def kill_at(self, layout, seeds):
        expected, expected_numbers = self.undisturbed(layout, STEPS)
        for seed in seeds:
            with self.subTest(layout=layout, seed=seed):
                self.killed_and_resumed(seed, layout, STEPS, expected, expected_numbers)

    def test_two_processes(self):
        self.kill_at("data", range(10))

    def test_four_processes(self):
        self.kill_at("data x pipeline", range(10, 20))


if __name__ == "__main__":
    main()
