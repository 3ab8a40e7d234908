#!/usr/bin/env python3
"""Every rule of the optimizer and every schedule beside their papers' formulas (README.md), in every layout: 20 steps."""
import json
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import main, metrics, raw_safetensors  # noqa: E402

STEPS = 20
JOB = "tests/optimizers/linear.job"
# The numbers are those of references.py.
RULES = {
    "adamw": "adamw { lr: 0.01 beta2: 0.95 weight_decay: 0.1 }",
    "lion": "lion { lr: 0.003 weight_decay: 0.3 }",
    "lamb": "lamb { lr: 0.02 weight_decay: 0.1 }",
    "lars": "lars { lr: 0.5 trust: 0.02 weight_decay: 0.01 }",
    "adafactor": "adafactor { lr: 0.05 weight_decay: 0.1 }",
    "muon": "muon { lr: 0.01 weight_decay: 0.1 }",
    # Of a key that two groups say, the last counts.
    "groups": """adamw { lr: 0.01 beta2: 0.95 weight_decay: 0.1 }
                 groups { pattern: ".*" lr_scale: 0.5 } groups { pattern: ".*(bias|ln).*" weight_decay: 0.2 lr_scale: 1 }
                 groups { pattern: "heads.weight" weight_decay: 0 }""",
    "muon_groups": """muon { lr: 0.01 weight_decay: 0.1 } groups { pattern: "tall[.].*" adamw: true }""",
}
LAYOUTS = [
    (),
    ("dist.tensor=2",),
    ("dist.data=2", "dist.tensor=2"),
    ("dist.data=2", "dist.tensor=2", "zero.stage=1"),
    ("dist.data=2", "dist.tensor=2", "zero.stage=2"),
    ("dist.data=2", "dist.tensor=2", "zero.stage=3"),
    ("dist.data=4", "zero.stage=3"),
    ("dist.tensor=5",),  # which divides nothing: dimensions are padded
    ("graph.fusion=false",),
]
# Numbers in each tensor that is kept beside the parameters.
LIKE_PARAMETERS = [96, 48, 48, 12]
STATE = {
    "lion": LIKE_PARAMETERS,
    "lamb": 2 * LIKE_PARAMETERS,
    "lars": LIKE_PARAMETERS,
    "adafactor": [8, 12, 12, 4, 4, 12, 12],
    "muon": [96, 48, 48, 12, 12],
    "muon_groups": [96, 48, 48, 48, 12, 12],
}
ALIGNMENT = 64  # bytes of which each buffer is a multiple

with open("tests/optimizers/references.json", encoding="utf-8") as references:
    REFERENCES = json.load(references)


def floats(entry):
    return struct.unpack(f"<{len(entry[2]) // 4}f", entry[2])


class OptimizersTest(FaultTest):
    def trained(self, optimizer, *keys, steps=STEPS):
        """What the run left: the folder of the last checkpoint, and the lines of its metrics."""
        plan = self.plan(f"optimizer={{{optimizer}}}", *keys, job=JOB)
        runs, lines = self.path(f"runs{len(self.runs)}"), self.path("metrics.jsonl")
        self.runs.append(runs)
        self.train(plan, steps, "--metrics", lines, "--checkpoint-dir", runs, "--init", "tests/optimizers/weights.safetensors",
                   data="tests/optimizers/data.safetensors")
        return f"{runs}/step-{steps:08d}", metrics(lines)

    def setUp(self):
        super().setUp()
        self.runs = []

    def expect_rule(self, case):
        for layout in LAYOUTS:
            folder, _ = self.trained(RULES[case], *layout)
            found = raw_safetensors(f"{folder}/model.safetensors")
            self.assertEqual(sorted(found), sorted(REFERENCES["rules"][case]))
            for name, wanted in REFERENCES["rules"][case].items():
                worst = max(abs(a - b) for a, b in zip(floats(found[name]), wanted["values"], strict=True))
                self.assertLessEqual(worst, wanted["bound"], f"{case} {layout} {name}")

    def test_adamw(self):
        self.expect_rule("adamw")

    def test_lion(self):
        self.expect_rule("lion")

    def test_lamb(self):
        self.expect_rule("lamb")

    def test_lars(self):
        self.expect_rule("lars")

    def test_adafactor(self):
        self.expect_rule("adafactor")

    def test_muon(self):
        self.expect_rule("muon")

    def test_groups(self):
        self.expect_rule("groups")

    def test_groups_of_muon(self):
        self.expect_rule("muon_groups")

    def test_state(self):
        """What is kept from step to step is no more than the rule needs."""
        for case, numbers in STATE.items():
            plan = self.plan(f"optimizer={{{RULES[case]}}}", job=JOB)
            memory = json.loads(self.run_ok("weft-plan", "memory", plan, "--json").out)
            bytes_kept = sum(-(-4 * count // ALIGNMENT) * ALIGNMENT for count in numbers)
            self.assertEqual(memory["stages"][0]["categories"]["optimizer"], bytes_kept, case)

    def test_norms_are_sent_together(self):
        """That of all gradients, for clipping, and then of every share of an update, or of a gradient, in one operation."""
        for case, norms in (("lion", 0), ("lamb", 4), ("lars", 3)):
            plan = self.plan(f"optimizer={{{RULES[case]}}}", "dist.data=2", "zero.stage=2", job=JOB)
            (program,) = json.loads(self.run_ok("weft-plan", "show", plan, "--json").out)["stages"]
            sums = [len(actor["collectives"]) for actor in program["actors"]
                    if actor["name"].startswith("optimizer.all_reduce")]
            self.assertEqual(sums, [1, norms] if norms else [1], case)

    def test_a_step_that_overflows_changes_nothing(self):
        """In float16: the first step does, by its loss scale, and the second does not."""
        keys = ("precision={compute: F16 loss_scale { initial: 16777216 backoff_factor: 0.001 }}",)
        before = raw_safetensors("tests/optimizers/weights.safetensors")
        for case, rule in RULES.items():
            folder, lines = self.trained(rule, *keys, steps=1)
            self.assertEqual(lines[0]["skipped_steps"], 1)
            self.assertEqual({name: entry[2] for name, entry in raw_safetensors(f"{folder}/model.safetensors").items()},
                             {name: entry[2] for name, entry in before.items()}, case)
            for name, entry in raw_safetensors(f"{folder}/optimizer.safetensors").items():
                self.assertTrue(name.startswith("loss_scale") or set(entry[2]) == {0}, f"{case} {name}")
            folder, lines = self.trained(rule, *keys, steps=2)
            self.assertEqual(lines[1]["skipped_steps"], 1)
            for name, entry in raw_safetensors(f"{folder}/model.safetensors").items():
                self.assertNotEqual(entry[2], before[name][2], f"{case} {name}")
                self.assertTrue(all(abs(number) < 100 for number in floats(entry)), f"{case} {name}")

    def test_schedules(self):
        for schedule, wanted in REFERENCES["schedules"].items():
            _, lines = self.trained(f"sgd {{ lr: 0.5 }} schedule {{ {schedule} }}")
            for line, share in zip(lines, wanted, strict=True):
                self.assertLessEqual(abs(line["lr"] - 0.5 * share), 2**-24 * 0.5 * share, f"{schedule} {line['step']}")


if __name__ == "__main__":
    main()
