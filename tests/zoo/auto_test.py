#!/usr/bin/env python3
"""What graph.auto_parallel finds for a real size of the zoo on 8 x 8 ranks: it compiles, and docs/models.md says the same.

usage: auto_test.py [--all] JOB ...   with JOB as the table has it, such as llama/8b; --all: just that these are all real sizes
"""
import glob
import re
import sys
import unittest

sys.path.insert(0, "tests/support")
from programs import ProgramTest  # noqa: E402

TABLE = "docs/models.md"
# What the table says above its rows.
KEYS = ["graph.auto_parallel=true", "cluster=../../clusters/8xh200.cluster", "batch.global=512", "batch.micro=0",
        "precision.compute=BF16", "auto.seconds=10"]
NOT_REAL = re.compile(r"models/((mlp|noise)/.*|.*/(tiny|tiny_lora|small))\.job$")


def rows():
    """{job: row} of the table."""
    with open(TABLE, encoding="utf-8") as file:
        return {found[1]: line.rstrip("\n") for line in file for found in [re.match(r"\| `(\w+/[\w.-]+)` \|", line)] if found}


def row_of(job, text):
    """The row of a job, of what the compiler said."""
    def find(pattern):
        found = re.search(pattern, text, re.MULTILINE)
        assert found, f"{job}: expected a line like {pattern}, got {text}"
        return found[1]

    gap = re.search(r"^ +(\S+ %) above ", text, re.MULTILINE)
    again = find(r"^computed again for the backward: AUTO: (.*)$")
    return "| " + " | ".join((
        f"`{job}`", find(r"predicted step (.*)$"), find(r"ranks, (.*) a rank"), gap[1] if gap else "0 %",
        f"`{find(r'^chosen: (.*)$')}`", re.sub(r"[a-z][\w.]*\.(\d+)", r"\1", again))) + " |"


class AutoTest(ProgramTest):
    maxDiff = None
    jobs = []

    def test_the_table_says_what_is_found(self):
        table = rows()
        for job in self.jobs:
            with self.subTest(job=job):
                result = self.run_ok("weft-compile", f"models/{job}.job", *KEYS, "-o", self.path("auto.plan"))
                self.assertEqual(table.get(job), row_of(job, result.out + result.err))
                self.run_ok("weft-plan", "verify", self.path("auto.plan"))


class TableTest(unittest.TestCase):
    def test_every_real_size_is_tested_and_in_the_table(self):
        real = {path[len("models/"):-len(".job")] for path in glob.glob("models/*/*.job") if not NOT_REAL.match(path)}
        self.assertEqual(sorted(AutoTest.jobs), sorted(real))
        self.assertEqual(sorted(rows()), sorted(real))


if __name__ == "__main__":
    AutoTest.jobs = [argument for argument in sys.argv[1:] if argument != "--all"]
    case = TableTest if "--all" in sys.argv else AutoTest
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
