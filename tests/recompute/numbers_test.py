#!/usr/bin/env python3
"""Computing again instead of keeping changes no bit of a training run: not the losses, not what is saved."""
import json
import os
import re
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, contents, main, metrics  # noqa: E402

STEPS = 3
# Dropout must draw the same mask a second time, in every micro-batch of every step.
NOISY = ("model.set=dropout=0.2", "model.set=layers=3", "optimizer.clip_norm=1.0", "data.order=SHUFFLED")
LAYOUTS = {
    "one rank": (),
    "one rank, three micro-batches": ("batch.global=12",),
    "data 2 x tensor 2": ("dist.data=2", "dist.tensor=2"),
    "data 2 x tensor 2, two micro-batches": ("batch.global=8", "dist.data=2", "dist.tensor=2"),
    "bfloat16, tensor 2, two micro-batches": ("batch.global=8", "dist.tensor=2", "precision.compute=BF16"),
    "float16, data 2": ("dist.data=2", "precision={compute: F16 loss_scale { initial: 64 }}"),
    "pipeline 2 x tensor 2, 1F1B": ("batch.micro=2", "batch.global=8", "dist.pipeline=2", "dist.tensor=2"),
    "pipeline 3, GPipe": ("batch.micro=2", "batch.global=8", "dist.pipeline=3", "pipeline.schedule=GPIPE"),
    "pipeline 2 x tensor 2, zero bubble": ("batch.micro=2", "batch.global=8", "dist.pipeline=2", "dist.tensor=2",
                                           "pipeline.schedule=ZERO_BUBBLE"),
    "data 2 x tensor 2, ZeRO 3": ("batch.global=8", "dist.data=2", "dist.tensor=2", "zero.stage=3"),
}
FAST_LINKS = 'device { kind: "cpu" }\nnode { count: 1 ranks: 8 link_bytes_s: 1e12 latency_s: 1e-9 }\n'


def pin(scope, policy):
    return f'recompute.layers={{scope: "{scope}" policy: {policy}}}'


# The layers that compute something again, by the override that asks for it.
POLICIES = {
    ("recompute.policy=SELECTIVE",): {"h.0", "h.1", "h.2"},
    ("recompute.policy=FULL",): {"h.0", "h.1", "h.2"},
    ("recompute.policy=FULL", pin("h.1", "NONE")): {"h.0", "h.2"},
    (pin("h.0", "SELECTIVE"), pin("h.2", "FULL")): {"h.0", "h.2"},
}


class NumbersTest(ProgramTest):
    def on_fast_links(self, overrides):
        """Tensor ranks gather the inputs of products, and again in the backward, where messages take next to no time."""
        if "dist.tensor=2" not in overrides:
            return overrides
        return (*overrides, "cluster=" + self.write("fast.cluster", FAST_LINKS))

    def actors(self, plan):
        stages = json.loads(self.run_ok("weft-plan", "show", plan, "--json").out)["stages"]
        return [actor["name"] for stage in stages for actor in stage["actors"]]

    def recomputing(self, plan):
        """The layers with work of the phase `recompute`."""
        return {name.split(".recompute")[0] for name in self.actors(plan) if ".recompute" in name}

    def trained(self, name, plan):
        folder, lines = self.path(name), self.path(name + ".jsonl")
        self.train(plan, STEPS, "--checkpoint-dir", folder, "--metrics", lines)
        saved = f"{folder}/step-{STEPS:08d}"
        files = {file: contents(f"{saved}/{file}") for file in os.listdir(saved) if file.endswith(".safetensors")}
        self.assertIn("model.safetensors", files)
        numbers = [(line["loss"], line["grad_norm"]) for line in metrics(lines)]
        self.assertEqual(len(numbers), STEPS)
        return numbers, files

    def test_policies_agree_bit_by_bit(self):
        for layout, overrides in LAYOUTS.items():
            overrides = self.on_fast_links(overrides)
            plan = self.plan(*NOISY, *overrides)
            self.assertEqual(self.recomputing(plan), set())
            numbers, files = self.trained(layout, plan)
            self.assertEqual(len({loss for loss, _ in numbers}), STEPS)
            for policy, layers in POLICIES.items():
                with self.subTest(layout=layout, policy=policy):
                    plan = self.plan(*NOISY, *overrides, *policy)
                    self.assertEqual(self.recomputing(plan), layers)
                    if "dist.tensor=2" in overrides:  # a split backward has gathers in its units of weights
                        gathers = [name for name in self.actors(plan) if re.search(r"\.(recompute|weight)\.all_gather", name)]
                        self.assertEqual({name.split(".all_gather")[0].rsplit(".", 1)[0] for name in gathers}, layers)
                    again, files_again = self.trained(f"{layout} {policy}", plan)
                    self.assertEqual(again, numbers)
                    self.assertEqual(files_again.keys(), files.keys())
                    for file, content in files.items():
                        self.assertTrue(files_again[file] == content, file)


if __name__ == "__main__":
    main()
