#!/usr/bin/env python3
"""Attention over a sequence that is split along `context`: either its heads are split in its place, by all-to-alls, or keys
and values are gathered. The cost model says which; both train as one rank does."""
import json
import re
import sys

sys.path.insert(0, "tests/support")
from programs import JOB, ProgramTest, losses, main, relative  # noqa: E402

LLAMA = "models/llama/tiny.job"
STEPS = 3
# One sequence a micro-batch, so that there is nothing to split but the sequence and the heads.
ONE_SEQUENCE = ("batch.micro=1", "batch.global=2", "data.format=AUTO")
FAST_LINKS = 'device { kind: "cpu" }\nnode { count: 1 ranks: 8 link_bytes_s: 1e12 latency_s: 1e-9 }\n'
HEADS, KEYS = "all_to_all", "all_gather"
# The job, its layout, whether links are fast, and what moves in front of attention. Where messages cost their latency, two
# gathers are cheaper than four all-to-alls. Two heads of keys cannot be split over four ranks.
LAYOUTS = [
    (JOB, ("dist.context=2",), True, HEADS),
    (JOB, ("dist.context=4",), True, HEADS),
    (JOB, ("dist.context=2", "dist.pipeline=2"), True, HEADS),
    (JOB, ("dist.context=2", "dist.tensor=2"), True, HEADS),
    (JOB, ("dist.context=2", "recompute.policy=SELECTIVE"), True, HEADS),
    (JOB, ("dist.context=2", "recompute.policy=FULL"), True, HEADS),
    (JOB, ("dist.context=2",), False, KEYS),
    (JOB, ("dist.context=4",), False, KEYS),
    (LLAMA, ("dist.context=2",), True, HEADS),
    (LLAMA, ("dist.context=2", "dist.tensor=2"), True, HEADS),
    (LLAMA, ("dist.context=4",), True, KEYS),
    (LLAMA, ("dist.context=2",), False, KEYS),
]


class LongSequencesTest(ProgramTest):
    def losses_of(self, plan):
        path = self.path("m.jsonl")
        self.train(plan, STEPS, "--metrics", path)
        return losses(path)

    def moved(self, plan):
        """The kinds of collectives over `context` in front of the first attention."""
        stage = json.loads(self.run_ok("weft-plan", "show", plan, "--json").out)["stages"][0]
        context = [axis["name"] for axis in stage["placement"]["axes"]].index("context")
        return {collective["kind"] for actor in stage["actors"] if ".0.forward" in "." + actor["name"]
                for collective in actor.get("collectives", [])
                if collective["axes"] == [context] and re.search(r"\.0\.(self_)?attn$", collective["location"])}

    def test_either_way_trains_as_one_rank_does(self):
        for job, layout, fast, kind in LAYOUTS:
            with self.subTest(job=job, layout=layout, fast=fast):
                cluster = ("cluster=" + self.write("fast.cluster", FAST_LINKS),) if fast else ()
                plan = self.plan(*ONE_SEQUENCE, *layout, *cluster, job=job)
                self.assertEqual(self.moved(plan), {kind})
                one, many = self.losses_of(self.plan(*ONE_SEQUENCE, job=job)), self.losses_of(plan)
                for a, b in zip(many, one):
                    self.assertLess(relative(a, b), 2e-5)


if __name__ == "__main__":
    main()
