#!/usr/bin/env python3
"""Model files that were written for an older form of the language compile, and train as those of models/ do.

The files beside this one stay as they are: a change of the language that breaks them breaks those of its users.
"""
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, losses, main  # noqa: E402

FROZEN, TODAY = "tests/language/gpt2/tiny.job", "models/gpt2/tiny.job"


class FrozenTest(ProgramTest):
    def trained(self, job, *layout):
        path = self.path("losses.jsonl")
        plan = self.plan("model.set=dropout=0.0", "batch.global=4", "batch.micro=4", "data.format=AUTO", *layout, job=job)
        self.train(plan, 5, "--metrics", path)
        return losses(path)

    def test_it_trains_as_todays(self):
        one = self.trained(FROZEN)
        self.assertEqual(len(set(one)), 5)
        self.assertEqual(one, self.trained(TODAY))

    def test_its_sbp_is_obeyed(self):
        layout = ("dist.data=2", "dist.tensor=2")
        self.assertEqual(self.trained(FROZEN, *layout), self.trained(TODAY, *layout))


if __name__ == "__main__":
    main()
