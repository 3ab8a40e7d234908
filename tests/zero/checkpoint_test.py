#!/usr/bin/env python3
"""Checkpoints of shares, and what the compiler says of shares that there are none of."""
import sys

sys.path.insert(0, "tests/support")
from programs import JOB, ProgramTest, corpus, losses, main, relative  # noqa: E402

NOISY = ("model.set=dropout=0.1", "batch={global: 8 micro: 4}")


class ZeroTest(ProgramTest):
    def test_shares_resume_on_one_rank_and_back(self):
        data = self.write("corpus.txt", corpus(40))
        one, shares = self.plan(*NOISY), self.plan(*NOISY, "dist.data=4", "zero={stage: 3}")
        self.train(one, 9, "--metrics", self.path("whole.jsonl"), data=data)
        expected = losses(self.path("whole.jsonl"))
        flags = ("--checkpoint-dir", self.path("parts"), "--metrics", self.path("parts.jsonl"), "--resume")
        for plan, stop in ((shares, 3), (one, 6), (shares, 9)):
            self.train(plan, stop, *flags, data=data)
        got = losses(self.path("parts.jsonl"))
        self.assertEqual(len(got), 9)
        for step, (loss, whole) in enumerate(zip(got, expected)):
            self.assertLess(relative(loss, whole), 2e-5, f"step {step}")

    def test_says_what_it_does_not_split(self):
        def said(*overrides):
            return self.run_ok("weft-compile", JOB, *overrides, "-o", self.path("a.plan")).out

        self.assertIn("zero.stage = 1 splits nothing: dist.data is 1\n", said("zero.stage=1"))
        self.assertIn("zero.stage = 2 splits nothing: zero.group is 1\n", said("dist.data=2", "zero={stage: 2 group: 1}"))
        self.assertNotIn("zero", said("dist.data=2", "zero.stage=1"))
        # The bias of c_fc, split over tensor, has no other dimension: 2 layers of 128 elements.
        self.assertIn("zero.stage = 1 leaves 1.00 KiB of parameters whole, which no dimension of theirs lets it split\n",
                      said("dist={data: 2 tensor: 2}", "zero.stage=1"))


if __name__ == "__main__":
    main()
