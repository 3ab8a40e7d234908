#!/usr/bin/env python3
"""A function over a whole data set: every sample once, the last batch cut, the same numbers in every layout."""
import json
import math
import os
import random
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import (JOB, WEIGHTS, corpus, main, raw_safetensors, read_safetensors, write_safetensors)  # noqa: E402

MODEL = """
model.import "MODELS/layers.mlir"
model.import "MODELS/images.mlir"
model.config @classes = 6
model.layer @logits(%pixels) {
  %w = weft.parameter "w" [4, 3, classes] init(normal 0.02) sbp(tensor = S(2))
  %y = weft.einsum "bij,ijo->bo" %pixels, %w
  model.return %y
}
model.graph @train(%pixels [batch, 4, 3] f32, %class [batch] i32) {
  %y = model.call @logits (%pixels)
  %loss, %count = weft.cross_entropy %y, %class
  weft.minimize %loss per %count
}
model.graph @evaluate(%pixels [batch, 4, 3] f32, %class [batch] i32) {
  %y = model.call @logits (%pixels)
  %losses = model.call @cross_entropies (%y, %class) [1]
  %hits = model.call @hits (%y, %class)
  weft.output "loss" %losses
  weft.output "accuracy" %hits
  weft.output "logits" %y
}
model.graph @mean(%pixels [batch, 4, 3] f32, %class [batch] i32) {
  %y = model.call @logits (%pixels)
  %loss, %count = weft.cross_entropy %y, %class
  weft.output "loss" %loss
}
model.graph @logits_alone(%pixels [batch, 4, 3] f32) {
  %y = model.call @logits (%pixels)
  weft.output "logits" %y
}
"""
TRAINED = 'model { file: "m.mlir" graph: "train" } batch { global: 8 } optimizer { sgd { lr: 1e-2 } } seed: 3\n'
RECORDS, CLASSES = 22, 6  # two batches and most of a third
LAYOUTS = ((), ("dist.data=2", "dist.tensor=2"), ("dist.tensor=2",), ("dist.data=4",))


class EvaluationTest(FaultTest):
    def setUp(self):
        super().setUp()
        dice = random.Random(1)
        self.pixels = [dice.uniform(-1, 1) for _ in range(RECORDS * 12)]
        self.classes = [dice.randrange(CLASSES) for _ in range(RECORDS)]
        self.write("m.mlir", MODEL.replace("MODELS", os.path.abspath("models")))
        self.job = self.write("m.job", TRAINED)
        self.data = self.save_records("set.safetensors", RECORDS)

    def save_records(self, name, count):
        write_safetensors(self.path(name), {
            "pixels": ("F32", [count, 4, 3], struct.pack(f"<{count * 12}f", *self.pixels[:count * 12])),
            "class": ("I32", [count], struct.pack(f"<{count}i", *self.classes[:count]))})
        return self.path(name)

    def compiled(self, graph, *overrides):
        path = self.path("-".join((graph, *overrides)) + ".plan")
        self.run_ok("weft-compile", self.job, "model.graph=" + graph, *overrides, "-o", path, "--quiet")
        return path

    def trained(self):
        """A folder of checkpoints whose parameters tell the classes a little."""
        self.train(self.compiled("train"), 40, "--checkpoint-dir", self.path("runs"), data=self.data)
        return self.path("runs")

    def evaluated(self, plan, init, data, *flags):
        """(samples, means) as the metrics have them."""
        path = self.path("e.jsonl")
        self.run_ok("weft-run", plan, "--data", data, "--init", init, "--metrics", path, "--threads", 1, *flags)
        with open(path, encoding="utf-8") as file:
            about, line = map(json.loads, file)
        self.assertEqual(about["run"]["init"], init)
        return line["samples"], line["means"]

    def expected(self, weights, count):
        """(loss, accuracy, logits) of the first records, computed here in float64."""
        w = read_safetensors(weights)[0]["w"].values
        losses, hits, logits = [], [], []
        for i in range(count):
            y = [sum(self.pixels[i * 12 + k] * w[k * CLASSES + c] for k in range(12)) for c in range(CLASSES)]
            losses.append(math.log(sum(map(math.exp, y))) - y[self.classes[i]])
            hits.append(max(range(CLASSES), key=y.__getitem__) == self.classes[i])
            logits += y
        return sum(losses) / count, sum(hits) / count, logits

    def test_every_sample_counts_once_in_every_layout(self):
        runs = self.trained()
        weights = runs + "/step-00000040/model.safetensors"
        for count in (RECORDS, 16, 3):  # a short last batch, none, and less than a batch
            data = self.save_records(f"{count}.safetensors", count)
            loss, accuracy, logits = self.expected(weights, count)
            for layout in LAYOUTS:
                with self.subTest(count=count, layout=layout):
                    out = self.path("out.safetensors")
                    samples, means = self.evaluated(self.compiled("evaluate", *layout), runs, data, "--quiet",
                                                    "--outputs", out)
                    self.assertEqual(samples, count)
                    self.assertEqual(sorted(means), ["accuracy", "loss"])
                    self.assertAlmostEqual(means["loss"], loss, delta=1e-6)
                    self.assertAlmostEqual(means["accuracy"], accuracy, delta=1e-9)
                    tensors = read_safetensors(out)[0]
                    self.assertEqual({name: tensor.shape for name, tensor in tensors.items()},
                                     {"accuracy": [count], "loss": [count], "logits": [count, CLASSES]})
                    for got, value in zip(tensors["logits"].values, logits):
                        self.assertAlmostEqual(got, value, delta=1e-6)
        self.assertGreater(self.expected(weights, RECORDS)[1], 1 / CLASSES)

    def test_says_what_it_reads_and_finds(self):
        runs = self.trained()
        run = self.run_ok("weft-run", self.compiled("evaluate", "dist.data=2"), "--data", self.data, "--init", runs)
        self.assertRegex(run.out, r"^22 samples\naccuracy  0\.\d+\nloss      \d\.\d+\n$")
        for line in ("evaluate: 2 ranks (data = 2)\n", "22 records of class i32 (largest 5 of 6), pixels f32[4,3], each once,"
                     " in 3 steps\n", f"{runs}/step-00000040/model.safetensors: loaded 1 of 1 parameters\n", "step 3/3  "):
            self.assertIn(line, run.err)
        untrained = self.run_ok("weft-run", self.compiled("evaluate"), "--data", self.data)
        self.assertIn("no --init: the parameters have their initial values\n", untrained.err)

    def test_predictions_need_no_labels(self):
        runs, out = self.trained(), self.path("out.safetensors")
        result = self.run_ok("weft-run", self.compiled("logits_alone"), "--init", runs, "--data",
                             f"pixels={self.data}", "--outputs", out)
        self.assertEqual(result.out, "22 samples\n")
        for got, value in zip(read_safetensors(out)[0]["logits"].values,
                              self.expected(runs + "/step-00000040/model.safetensors", RECORDS)[2]):
            self.assertAlmostEqual(got, value, delta=1e-6)

    def test_texts_are_evaluated_too(self):
        """GPT-2 on ten sequences, four a batch: the loss of a training step on the same ones."""
        text = self.write("ten.txt", corpus(10))
        ten = self.path("ten.jsonl")
        self.run_ok("weft-run", self.plan("batch.global=10", "batch.micro=10", "data.format=TEXT"), "--data", text, "--steps",
                    1, "--init", WEIGHTS, "--metrics", ten, "--quiet")
        with open(ten, encoding="utf-8") as file:
            loss = json.loads(file.readlines()[1])["loss"]
        for layout in ((), ("dist.data=2", "dist.tensor=2"), ("dist.pipeline=2",)):
            with self.subTest(layout=layout):
                plan = self.plan("model.graph=evaluate", "data.format=TEXT", *layout)
                samples, means = self.evaluated(plan, WEIGHTS, text, "--quiet")
                self.assertEqual(samples, 10)
                self.assertAlmostEqual(means["loss"], loss, delta=1e-5)

    def refused_run(self, graph, *flags, **says):
        self.refused("weft-run", self.compiled(graph), "--quiet", *flags, **says)

    def test_bad_requests(self):
        runs = self.trained()
        self.refused_run("mean", "--data", self.data, line="--data: output `loss`: expected values of each sample, "
                         "[batch, ...] with a batch of 8, so that what fills the last step does not count, got a scalar")
        self.refused_run("logits_alone", "--data", f"pixels={self.data}",
                         line="--outputs: expected a file, as no output is one number a sample, [8], whose mean is shown")
        self.refused_run("evaluate", "--data", self.data, "--init", self.path("none"),
                         says=[self.path("none") + ": "])
        os.mkdir(self.path("empty"))
        self.refused_run("evaluate", "--data", self.data, "--init", self.path("empty"),
                         says=[self.path("empty") + ": expected a checkpoint, model.safetensors or model.safetensors.index.json, found none"])
        self.refused("weft-run", self.plan("model.graph=evaluate"), "--data",
                     f"0.5 {self.write('a.txt', corpus(4))} 0.5 {self.path('a.txt')}", "--quiet",
                     line="--data: expected one data set, as each sample is read once, got a blend of 2")
        path = runs + "/step-00000040/model.safetensors"
        with open(path, "r+b") as file:
            file.seek(-4, os.SEEK_END)
            file.write(b"\x55")
        self.refused_run("evaluate", "--data", self.data, "--init", runs, "--outputs", self.path("out.safetensors"),
                         says=[path + ": `w`: damaged: expected checksum "])
        self.assertEqual(sorted(raw_safetensors(path)), ["w"])


if __name__ == "__main__":
    main()
