#!/usr/bin/env python3
"""What a model keeps from step to step: running statistics and moving averages, in every layout what one rank has, and what
their definitions say."""
import json
import os
import random
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import losses, main, metrics, raw_safetensors, relative, write_safetensors  # noqa: E402

CHANNELS, RECORDS, BATCH, STEPS, RATE, MOMENTUM = 8, 24, 8, 4, 0.1, 0.75
MODEL = """
model.import "%s/models/averages.mlir"
model.layer @fc(%%x) [width] {
  %%w = weft.parameter "weight" [width, width] init(normal 0.5) sbp(tensor = S(1))
  %%y = weft.einsum "bi,io->bo" %%x, %%w
  model.return %%y
}
model.layer @net(%%x) {
  %%0 = model.call @batch_norm "bn" (%%x) [8]
  %%1 = model.repeat 2 "h" @fc(%%0) [8]
  model.return %%1
}
model.graph @train(%%x [batch, 8] f32) {
  %%y = model.call @net "fast" (%%x)
  %%m = model.call @constant_momentum "momentum" () [0.75]
  %%0 = model.call @net "slow" (%%x) averages "fast" momentum(%%m)
  %%target = weft.add %%0, %%x
  %%1 = weft.sub %%y, %%target
  %%2 = weft.square %%1
  %%loss = weft.reduce mean %%2 over [0, 1]
  weft.minimize %%loss
}
model.graph @evaluate(%%x [batch, 8] f32) {
  %%y = model.call @evaluated_batch_norm "fast.bn" (%%x) [8]
  %%0 = weft.reduce mean %%y over [1]
  weft.output "y" %%0
}
model.layer @kept(%%x) {
  %%0 = model.call @evaluated_batch_norm "bn" (%%x) [8]
  %%1 = model.repeat 2 "h" @fc(%%0) [8]
  model.return %%1
}
model.graph @evaluate_slow(%%x [batch, 8] f32) {
  %%y = model.call @kept "slow" (%%x)
  %%0 = weft.square %%y
  %%1 = weft.reduce mean %%0 over [1]
  weft.output "y" %%1
}
"""
JOB = """model { file: "m.mlir" graph: "train" } batch { global: 8 } data { order: SEQUENTIAL } seed: 3
optimizer { adamw { lr: 1e-2 weight_decay: 0.1 } }
"""
AVERAGED = ("bn.weight", "bn.bias", "h.0.weight", "h.1.weight")
LAYOUTS = (
    ("dist.data=2",), ("dist.data=2", "dist.tensor=2"), ("dist.data=4", "zero.stage=1"), ("dist.data=2", "zero.stage=2"),
    ("dist.data=2", "dist.tensor=2", "zero.stage=3"), ("dist.pipeline=2",), ("dist.data=2", "dist.pipeline=2", "zero.stage=3"),
    ("recompute.policy=FULL",),
)
CUT = (("batch.micro=4",), ("batch.micro=4", "dist.data=2"), ("batch.micro=4", "dist.pipeline=2"),
       ("batch.micro=4", "dist.data=2", "dist.pipeline=2", "zero.stage=2"))


def floats(entry):
    return struct.unpack(f"<{len(entry[2]) // 4}f", entry[2])


class StateTest(FaultTest):
    def setUp(self):
        super().setUp()
        dice = random.Random(1)
        self.write("m.mlir", MODEL % os.getcwd())
        self.rows = [[struct.unpack("f", struct.pack("f", dice.gauss(2, 3)))[0] for _ in range(CHANNELS)]
                     for _ in range(RECORDS)]
        self.data = self.path("set.safetensors")
        write_safetensors(self.data, {
            "x": ("F32", [RECORDS, CHANNELS], struct.pack(f"<{RECORDS * CHANNELS}f", *sum(self.rows, [])))})

    def trained(self, *layout, steps=STEPS, flags=()):
        """Losses, and the parameters after each step: {step: {name: numbers}}."""
        name = "-".join(layout) or "one"
        plan, runs, path = self.path("m.plan"), self.path(name), self.path(name + ".jsonl")
        self.run_ok("weft-compile", self.write("m.job", JOB), *layout, "-o", plan, "--quiet")
        self.train(plan, steps, "--metrics", path, "--checkpoint-dir", runs, "--checkpoint-every", 1, *flags,
                   data=self.data)
        kept = {}
        for step in range(1, steps + 1):
            file = raw_safetensors(f"{runs}/step-{step:08d}/model.safetensors")
            kept[step] = {key: floats(entry) for key, entry in file.items()}
        return losses(path), kept

    def close(self, some, others, bound=1e-5):
        self.assertEqual(len(some), len(others))
        for a, b in zip(some, others):
            self.assertAlmostEqual(a, b, delta=bound * max(1, abs(b)))

    def test_every_layout_keeps_the_same(self):
        for base, layouts in (((), LAYOUTS), (CUT[0], CUT[1:])):
            one_losses, one = self.trained(*base)
            for layout in layouts:
                with self.subTest(layout=layout):
                    found_losses, found = self.trained(*layout)
                    for a, b in zip(found_losses, one_losses):
                        self.assertLess(relative(a, b), 2e-5)
                    self.assertEqual(found[STEPS].keys(), one[STEPS].keys())
                    for step in one:
                        for name, numbers in one[step].items():
                            self.close(found[step][name], numbers, 1e-4)

    def test_what_is_kept_is_evaluated_between_steps(self):
        found = {}
        for layout in ((), *LAYOUTS):
            keys = ("evaluation.graph=evaluate_slow", *layout)
            self.trained(*keys, flags=("--eval-data", self.data))
            lines = metrics(self.path("-".join(keys) + ".jsonl"))
            found[layout] = {line["step"]: line["eval_y"] for line in lines if "eval_y" in line}
        one = found.pop(())
        self.assertEqual(sorted(one), [3, 4])  # an epoch is three steps
        self.assertGreater(abs(one[4] - one[3]), 1e-3)
        for layout, values in found.items():
            with self.subTest(layout=layout):
                self.close(values.values(), one.values(), 2e-5)

    def test_what_a_job_says_of_parameters_that_are_not_evaluated(self):
        keys = ("evaluation.graph=evaluate", "dist.data=2", "dist.tensor=2", "optimizer.frozen=fast.h.0.weight",
                "graph.pin={parameter: \"fast.h.*\" axis: \"tensor\" state: \"S(0)\"}")
        self.trained(*keys, flags=("--eval-data", self.data))
        lines = metrics(self.path("-".join(keys) + ".jsonl"))
        self.assertEqual([line["step"] for line in lines if "eval_y" in line], [3, 4])

    def test_averages_follow_what_was_before_the_update(self):
        _, kept = self.trained()
        for name in AVERAGED:
            # In the first step the average is a copy of what the parameter was: its initial value, which no file has.
            for step in range(2, STEPS + 1):
                before = kept[step - 1]
                expected = [MOMENTUM * slow + (1 - MOMENTUM) * fast
                            for slow, fast in zip(before["slow." + name], before["fast." + name])]
                self.close(kept[step]["slow." + name], expected, 1e-6)
        self.assertEqual(kept[1]["slow.bn.weight"], (1,) * CHANNELS)
        self.assertNotEqual(kept[1]["fast.bn.weight"], kept[1]["slow.bn.weight"])
        self.assertEqual([kept[step]["momentum.steps"] for step in kept], [(1,), (2,), (3,), (4,)])

    def running(self, micro):
        """What running_mean and running_var are after each step, by their definition."""
        mean, variance, after = [0.0] * CHANNELS, [1.0] * CHANNELS, []
        for step in range(STEPS):
            batch = [self.rows[(step * BATCH + i) % RECORDS] for i in range(BATCH)]
            parts = [batch[i:i + micro] for i in range(0, BATCH, micro)]
            for c in range(CHANNELS):
                means = [sum(row[c] for row in part) / micro for part in parts]
                variances = [sum((row[c] - m)**2 for row in part) / (micro - 1) for part, m in zip(parts, means)]
                mean[c] += RATE * (sum(means) / len(parts) - mean[c])
                variance[c] += RATE * (sum(variances) / len(parts) - variance[c])
            after.append((list(mean), list(variance)))
        return after

    def test_running_statistics_are_what_they_are_defined_as(self):
        for layout, micro in ((), BATCH), (("dist.data=2",), BATCH), (("batch.micro=4", "dist.data=2"), 4):
            with self.subTest(layout=layout):
                _, kept = self.trained(*layout)
                for step, (mean, variance) in enumerate(self.running(micro), 1):
                    for net in "fast", "slow":
                        self.close(kept[step][net + ".bn.running_mean"], mean)
                        self.close(kept[step][net + ".bn.running_var"], variance)

    def test_a_resumed_run_goes_on_with_it(self):
        whole, kept = self.trained()
        plan, runs = self.path("m.plan"), self.path("runs")
        self.train(plan, 2, "--checkpoint-dir", runs, data=self.data)
        self.run_ok("weft-compile", self.path("m.job"), "dist.data=2", "zero.stage=1", "-o", plan, "--quiet")
        path = self.path("resumed.jsonl")
        self.train(plan, STEPS, "--checkpoint-dir", runs, "--resume", "--metrics", path, data=self.data)
        last = raw_safetensors(f"{runs}/step-{STEPS:08d}/model.safetensors")
        for name, numbers in kept[STEPS].items():
            self.close(floats(last[name]), numbers, 1e-4)

    def test_an_evaluation_reads_the_running_statistics(self):
        _, kept = self.trained()
        plan, found = self.path("e.plan"), self.path("found.jsonl")
        self.run_ok("weft-compile", self.path("m.job"), "model.graph=evaluate", "dist.data=2", "-o", plan, "--quiet")
        self.run_ok("weft-run", plan, "--data", self.data, "--init", self.path("one"), "--metrics", found, "--quiet")
        with open(found, encoding="utf-8") as file:
            mean = json.loads(file.readlines()[1])["means"]["y"]
        at = {name: kept[STEPS]["fast.bn." + name] for name in ("weight", "bias", "running_mean", "running_var")}
        numbers = [(row[c] - at["running_mean"][c]) / (at["running_var"][c] + 1e-5)**0.5 * at["weight"][c] + at["bias"][c]
                   for row in self.rows for c in range(CHANNELS)]
        self.assertAlmostEqual(mean, sum(numbers) / len(numbers), delta=1e-5)

    def test_initial_values_of_a_file(self):
        """State is loaded as parameters are, and missed as they are."""
        _, kept = self.trained()
        file = f"{self.path('one')}/step-{STEPS:08d}/model.safetensors"
        plan, runs = self.path("m.plan"), self.path("again")
        self.train(plan, 0, "--init", file, "--checkpoint-dir", runs, data=self.data)
        again = raw_safetensors(f"{runs}/step-{0:08d}/model.safetensors")
        self.assertEqual({name: floats(entry) for name, entry in again.items()}, kept[STEPS])
        tensors = raw_safetensors(file)
        write_safetensors(self.path("less.safetensors"),
                          {name: entry for name, entry in tensors.items() if "running" not in name})
        self.refused("weft-run", plan, "--data", self.data, "--init", self.path("less.safetensors"), "--quiet",
                     says=["running_mean", "pass --init-partial"])


if __name__ == "__main__":
    main()
