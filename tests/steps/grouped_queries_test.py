#!/usr/bin/env python3
"""Fewer heads of keys than ranks of `tensor`: each is on several ranks, which share its queries."""
import json
import sys
import tempfile

sys.path.insert(0, "tests/support")
from programs import ProgramTest, losses, main, raw_safetensors, relative  # noqa: E402

LLAMA = "models/llama/tiny.job"
STEPS = 4
BATCH = ["batch.global=8", "batch.micro=8", "data.format=AUTO"]
# heads, key heads, layout, the mesh that comes of it
LAYOUTS = [
    (4, 2, ["dist.tensor=4"], {"tensor": 2, "group": 2}),
    (4, 1, ["dist.tensor=4"], {"group": 4}),
    (8, 2, ["dist.tensor=8"], {"tensor": 2, "group": 4}),
    (4, 2, ["dist.data=2", "dist.tensor=4"], {"data": 2, "tensor": 2, "group": 2}),
    (4, 1, ["dist.data=2", "dist.tensor=4", "zero.stage=3"], {"data": 2, "group": 4}),
    (4, 2, ["dist.context=2", "dist.tensor=4"], {"context": 2, "tensor": 2, "group": 2}),
    (4, 2, ["dist.tensor=4", "dist.pipeline=2", "batch.micro=4"], {"tensor": 2, "group": 2}),
    (4, 1, ["dist.tensor=4", "recompute.policy=FULL"], {"group": 4}),
    # Nothing to share.
    (4, 2, ["dist.tensor=2"], {"tensor": 2}),
    (4, 4, ["dist.tensor=4"], {"tensor": 4}),
]


class GroupedQueriesTest(ProgramTest):
    def plan_of(self, heads, kv_heads, *layout):
        return self.plan(f"model.set=heads={heads}", f"model.set=kv_heads={kv_heads}", *BATCH, *layout, job=LLAMA)

    def shown(self, plan):
        return json.loads(self.run_ok("weft-plan", "show", plan, "--json").out)

    def losses_of(self, heads, kv_heads, *layout):
        path = self.path("m.jsonl")
        self.train(self.plan_of(heads, kv_heads, *layout), STEPS, "--metrics", path)
        return losses(path)

    def test_every_layout_trains_as_one_rank_does(self):
        for heads, kv_heads, layout, mesh in LAYOUTS:
            one, many = self.losses_of(heads, kv_heads), self.losses_of(heads, kv_heads, *layout)
            for a, b in zip(many, one):
                self.assertLess(relative(a, b), 2e-5, (heads, kv_heads, layout))
            self.assertLess(one[-1], one[0])
            stage = self.shown(self.plan_of(heads, kv_heads, *layout))["stages"][0]
            self.assertEqual({axis["name"]: axis["size"] for axis in stage["placement"]["axes"]}, mesh)

    def test_heads_are_not_padded(self):
        for heads, kv_heads, layout, _ in LAYOUTS:
            shown = self.run_ok("weft-plan", "show", self.plan_of(heads, kv_heads, *layout)).out
            self.assertNotIn("padd", shown, (heads, kv_heads, layout))

    def test_checkpoints_are_those_of_one_rank(self):
        def save(steps, *layout, flags=()):
            folder = tempfile.mkdtemp(dir=self.folder)
            self.train(self.plan_of(4, 2, *layout), steps, "--seed", 3, "--checkpoint-dir", folder, *flags)
            return f"{folder}/step-{steps:08d}/"

        one, many = save(0), save(0, "dist.data=2", "dist.tensor=4")
        for file in ("model.safetensors", "optimizer.safetensors"):
            self.assertEqual(raw_safetensors(many + file), raw_safetensors(one + file), file)
        trained = save(1, "dist.tensor=4") + "model.safetensors"
        again = save(0, "dist.tensor=2", flags=("--init", trained)) + "model.safetensors"
        self.assertEqual(raw_safetensors(again), raw_safetensors(trained))
        self.assertNotEqual(raw_safetensors(trained), raw_safetensors(one + "model.safetensors"))


if __name__ == "__main__":
    main()
