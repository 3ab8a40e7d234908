#!/usr/bin/env python3
"""A checkpoint of some processes is one of any number of them, and of one that has all ranks."""
import sys

sys.path.insert(0, "tests/processes")
from processes import LAYOUTS, MICRO, ProcessesTest, numbers, saved  # noqa: E402
from programs import main, relative  # noqa: E402


class ResumeTest(ProcessesTest):
    def go_on(self, name, steps, layout, apart):
        """Goes on with the run `name`; the ranks are processes if `apart`, else threads of one."""
        overrides, processes = LAYOUTS[layout]
        plan = self.plan(*MICRO, *overrides)
        flags = ("--checkpoint-dir", self.path(name), "--metrics", self.path(name + ".jsonl"), "--resume")
        if apart:
            self.run_processes(processes, plan, "--steps", steps, *flags)
        else:
            self.train(plan, steps, *flags)

    def test_between_processes_and_threads(self):
        layout = "data x pipeline"
        self.go_on("whole", 6, layout, False)
        for step, apart in ((2, True), (4, False), (6, True)):
            self.go_on("parts", step, layout, apart)
        self.assertEqual(saved(self.path("parts")), saved(self.path("whole")))
        self.assertEqual(numbers(self.path("parts.jsonl")), numbers(self.path("whole.jsonl")))

    def test_into_other_numbers_of_processes(self):
        self.go_on("whole", 8, "data", False)
        for step, layout in ((2, "data x tensor x pipeline"), (4, "tensor"), (6, "data x pipeline"), (8, "pipeline")):
            self.go_on("parts", step, layout, True)
        got, expected = numbers(self.path("parts.jsonl")), numbers(self.path("whole.jsonl"))
        self.assertEqual(len(got), 8)
        for line, whole in zip(got, expected):
            self.assertLess(relative(line["loss"], whole["loss"]), 2e-5, f"step {line['step']}")


if __name__ == "__main__":
    main()
