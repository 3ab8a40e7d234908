#!/usr/bin/env python3
"""Sizes that no axis divides: the numbers, the checkpoints and the batches are those of one rank."""
import json
import struct
import sys

sys.path.insert(0, "tests/support")
from programs import (ProgramTest, corpus, losses, main, metrics, read_safetensors, relative,  # noqa: E402
                      write_safetensors)

# 257 rows of the vocabulary, 3 heads of 20, 60 hidden, batches of 5.
ODD = [flag for setting in ("vocab=257", "heads=3", "hidden=60") for flag in ("--set", setting)]
BATCH = ["batch.global=5", "batch.micro=5"]
STEPS = 6
LAYOUTS = [
    ["dist.tensor=2"],
    ["dist.tensor=4"],
    ["dist.data=3"],
    ["dist.data=2", "dist.tensor=2"],
    ["dist.data=2", "dist.tensor=3"],
    ["dist.tensor=2", "dist.pipeline=2"],
    ["dist.data=2", "zero.stage=3"],
    ["dist.data=2", "dist.tensor=2", "recompute.policy=FULL"],
]
# Sums in another order, over a few steps of an optimizer that divides by small numbers.
CLOSE = 1e-4


class UnevenTest(ProgramTest):
    def losses_of(self, *overrides, flags=(), steps=STEPS, name="m.jsonl"):
        path = self.path(name)
        self.train(self.plan(*ODD, *overrides), steps, "--metrics", path, *flags)
        return losses(path)

    def close(self, got, expected, where):
        self.assertEqual(len(got), len(expected))
        for a, b in zip(got, expected):
            self.assertAlmostEqual(a, b, delta=CLOSE, msg=f"{where}")

    def test_every_layout_trains_as_one_rank_does(self):
        one = self.losses_of(*BATCH)
        self.assertLess(one[-1], one[0] - 0.1)
        for layout in LAYOUTS:
            self.close(self.losses_of(*BATCH, *layout), one, layout)

    def test_what_is_dropped_does_not_notice_padding(self):
        dropout = ["--set", "dropout=0.2", *BATCH]
        one = self.losses_of(*dropout)
        self.assertNotEqual(one, self.losses_of(*BATCH))
        for layout in (["dist.data=3"], ["dist.tensor=2"], ["dist.data=2", "dist.tensor=2"]):
            self.close(self.losses_of(*dropout, *layout), one, layout)

    def test_the_last_micro_batch_may_have_fewer_samples(self):
        one = self.losses_of("batch.global=5", "batch.micro=5")
        for layout in ([], ["dist.data=2"], ["dist.pipeline=2"], ["dist.tensor=2"], ["dist.data=2", "zero.stage=2"]):
            for micro in (2, 3):
                self.close(self.losses_of("batch.global=5", f"batch.micro={micro}", *layout), one, (micro, layout))

    def step_metrics(self, job, data, *overrides):
        path = self.path("metrics")
        self.train(self.plan("batch.global=5", *overrides, job=job), 3, "--metrics", path, data=data)
        return [(line["loss"], line.get("accuracy")) for line in metrics(path)]

    def few_samples_agree(self, job, data):
        one = self.step_metrics(job, data, "batch.micro=5")
        self.assertNotEqual(one[0], one[1])
        for layout in (["batch.micro=2"], ["batch.micro=3", "dist.data=2"], ["batch.micro=2", "dist.pipeline=2"]):
            many = self.step_metrics(job, data, *layout)
            self.close([loss for loss, _ in many], [loss for loss, _ in one], layout)
            self.assertEqual([accuracy for _, accuracy in many], [accuracy for _, accuracy in one], layout)

    def test_few_samples_count_as_many_in_an_accuracy(self):
        data = self.path("images.safetensors")
        write_safetensors(data, {"images": ("U8", [15, 28, 28], bytes(i * i % 251 for i in range(15 * 784))),
                                 "labels": ("U8", [15], bytes(i % 10 for i in range(15)))})
        self.few_samples_agree("models/vit/tiny.job", data)

    # The gradient of a bias that all samples share sums over them.
    def test_few_samples_sum_to_the_gradient_of_a_bias(self):
        data = self.path("words.safetensors")
        words = struct.pack("<1920i", *(i * i % 251 for i in range(1920)))
        write_safetensors(data, {"tokens": ("I32", [15, 128], words), "labels": ("I32", [15, 128], words),
                                 "mask": ("U8", [15, 128], bytes(1 for _ in range(1920)))})
        self.few_samples_agree("models/t5/tiny.job", data)

    def test_tokens_and_flops_are_those_of_the_samples(self):
        def header(*layout):
            shown = self.run_ok("weft-plan", "show", self.plan(*ODD, "batch.global=5", *layout), "--json").out
            return json.loads(shown)["header"]

        one = header("batch.micro=5")
        self.assertEqual(one["tokens_per_step"], 5 * 64)
        for layout in (["batch.micro=5", "dist.data=3"], ["batch.micro=5", "dist.tensor=4"], ["batch.micro=2"],
                       ["batch.micro=3", "dist.data=2"]):
            many = header(*layout)
            self.assertEqual(many["tokens_per_step"], one["tokens_per_step"], layout)
            self.assertLess(relative(many["flops_per_step"], one["flops_per_step"]), 1e-9, layout)

    def test_checkpoints_have_no_padding(self):
        whole = self.losses_of(*BATCH, steps=STEPS)
        runs = self.path("runs")
        shapes = {}
        for number, layout in enumerate((["dist.data=2", "dist.tensor=2"], ["dist.tensor=4"], [], ["dist.tensor=3"])):
            flags = ["--checkpoint-dir", runs, *(["--resume"] if number else [])]
            got = self.losses_of(*BATCH, *layout, flags=flags, steps=number + 1, name="r.jsonl")
            self.close(got, whole[:number + 1], layout)
            tensors, _ = read_safetensors(f"{runs}/step-{number + 1:08}/model.safetensors")
            shapes = shapes or {name: tensor.shape for name, tensor in tensors.items()}
            self.assertEqual({name: tensor.shape for name, tensor in tensors.items()}, shapes)
        self.assertEqual(shapes["wte.weight"], [257, 60])
        self.assertEqual(shapes["h.0.attn.c_attn.weight"], [60, 180])

    def test_a_function_yields_what_there_is(self):
        tokens = self.path("tokens.safetensors")
        write_safetensors(tokens, {"tokens": ("I32", [5, 64], struct.pack("<320i", *corpus(5)[:-1]))})

        def logits(*layout):
            out = self.path("logits")
            self.run_ok("weft-run", self.plan(*ODD, *BATCH, "model.graph=logits", *layout), "--inputs", tokens,
                        "--outputs", out, "--quiet")
            return read_safetensors(out)[0]["logits"]

        one = logits()
        self.assertEqual(one.shape, [5, 64, 257])
        top = max(abs(value) for value in one.values)
        for layout in (["dist.data=2", "dist.tensor=2"], ["dist.data=3"], ["dist.tensor=4"]):
            many = logits(*layout)
            self.assertEqual(many.shape, one.shape)
            error = max(abs(a - b) for a, b in zip(many.values, one.values))
            self.assertLess(error, 256 * 2**-24 * top, layout)


if __name__ == "__main__":
    main()
