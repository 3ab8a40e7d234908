#!/usr/bin/env python3
"""A folder of Hugging Face comes in, trains on two ranks, and goes out: round_trip_test.py NAME, of a folder beside it."""
import json
import os
import random
import struct
import sys

sys.path.insert(0, "tests/support")
from programs import TOKENS, ProgramTest, contents, losses, main, raw_safetensors, read_safetensors, write_safetensors  # noqa: E402

NAME = sys.argv.pop(1)
FOLDER = "tests/hugging_face/" + NAME
IMAGES = NAME in ("vit", "mae", "swin", "convnext")
SEQUENCE, VOCAB, CLASSES, BATCH = 16, 509, 5, 8
TABLES = ("vit.embeddings.position_embeddings", "decoder.decoder_pos_embed")  # of MAE: computed, so not rounded
CLOSE = 1e-5  # float32 on one side, float64 on the other


def weights_of(folder):
    """{name: (type, shape, bytes)} of all files of weights."""
    tensors = {}
    for name in sorted(os.listdir(folder)):
        if name.startswith("model") and name.endswith(".safetensors"):
            tensors.update(raw_safetensors(f"{folder}/{name}"))
    return tensors


def config_of(folder):
    """What says something of the model."""
    config = json.loads(contents(folder + "/config.json"))
    return {key: value for key, value in config.items() if value is not None}


def packed(kind, values):
    return struct.pack(f"<{len(values)}{kind}", *values)


class RoundTripTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.path("a.job")
        sequence = () if IMAGES else ("--seq", SEQUENCE)
        self.run_ok("weft-import", FOLDER, "-o", self.job, "--models", "models", *sequence)
        layout = "dist.data=2" if IMAGES else "dist.tensor=2"
        graph = {"t5_1_1": "logits_1_1", "llama_tied": "logits_tied"}.get(NAME, "logits")
        self.logits_plan = self.compiled("logits.plan", layout, "model.graph=" + graph, "batch={global: 2 micro: 2}")
        self.plan_of_training = self.compiled("train.plan", layout)

    def compiled(self, name, *overrides):
        self.run_ok("weft-compile", self.job, *overrides, "-o", self.path(name), "--quiet")
        return self.path(name)

    def data(self):
        """Of a few batches."""
        if NAME in ("gpt2", "llama", "llama_tied", "mistral", "mixtral"):
            return TOKENS
        dice, count = random.Random(1), 2 * BATCH

        def numbers(below, *shape, first=0, kind="I32"):
            size = count
            for dim in shape:
                size *= dim
            values = [dice.randrange(first, below) for _ in range(size)]
            return kind, [count, *shape], packed("i" if kind == "I32" else "B", values)

        if IMAGES:
            config = config_of(FOLDER)
            size = config["image_size"]
            fields = {"images": numbers(256, config["num_channels"], size, size, kind="U8")}
            if NAME != "mae":
                fields["labels"] = numbers(CLASSES)
        else:
            fields = {"tokens": numbers(VOCAB, SEQUENCE, first=4), "mask": numbers(2, SEQUENCE, first=1, kind="U8"),
                      "labels": numbers(VOCAB, SEQUENCE // 4 if NAME.startswith("t5") else SEQUENCE)}
        if NAME == "bert":
            fields.update(types=numbers(2, SEQUENCE), next=numbers(2))
        path = self.path("data.safetensors")
        write_safetensors(path, fields)
        return path

    def trained(self, steps, *flags, init=FOLDER):
        folder = self.path(f"runs-{steps}")
        result = self.run_ok("weft-run", self.plan_of_training, "--data", self.data(), "--steps", steps, "--init", init,
                             "--checkpoint-dir", folder, "--threads", 1, *flags)
        return folder, result

    def exported(self, checkpoint, name, *flags):
        folder = self.path(name)
        self.run_ok("weft-export", checkpoint, "-o", folder, *flags)
        return folder

    def outputs(self, init):
        path = self.path("outputs.safetensors")
        self.run_ok("weft-run", self.logits_plan, "--init", init, "--inputs", FOLDER + "/inputs.safetensors", "--outputs", path)
        return read_safetensors(path)[0]

    def assert_close(self, got, expected, within):
        self.assertEqual(sorted(got), sorted(expected))
        for name, tensor in expected.items():
            self.assertEqual(list(got[name].shape), list(tensor.shape))
            largest = max(abs(value) for value in tensor.values)
            worst = max(abs(a - b) for a, b in zip(got[name].values, tensor.values))
            self.assertLessEqual(worst, within * max(1, largest), name)

    def test_the_logits_are_those_of_transformers(self):
        self.assert_close(self.outputs(FOLDER), read_safetensors(FOLDER + "/outputs.safetensors")[0], CLOSE)

    def test_what_is_not_trained_comes_out_as_it_came_in(self):
        runs, result = self.trained(0)
        self.assertRegex(result.err, r"/model\.safetensors(\.index\.json)?: loaded (\d+) of \2 parameters[\n;]")
        out = self.exported(runs, "out")
        original, copy = weights_of(FOLDER), weights_of(out)
        self.assertEqual(sorted(copy), sorted(original))
        self.assertEqual(copy, original)
        self.assertEqual(config_of(out), config_of(FOLDER))
        for name in ("tokenizer.json", "generation_config.json"):
            for folder in (out, runs + "/step-00000000"):
                self.assertEqual(os.path.exists(f"{folder}/{name}"), os.path.exists(f"{FOLDER}/{name}"))
        self.assertEqual(config_of(runs + "/step-00000000"), config_of(FOLDER))

    def test_what_is_trained_comes_out_whole(self):
        runs, _ = self.trained(10, "--metrics", self.path("m.jsonl"))
        steps = losses(self.path("m.jsonl"))
        self.assertEqual(len(steps), 10)
        self.assertEqual(len(set(steps)), 10)
        out = self.exported(runs, "out")
        original, copy = weights_of(FOLDER), weights_of(out)
        self.assertEqual({name: tensor[:2] for name, tensor in copy.items()},
                         {name: tensor[:2] for name, tensor in original.items()})
        trained = self.outputs(runs)
        self.assertEqual({name: tensor.values for name, tensor in self.outputs(out).items()},
                         {name: tensor.values for name, tensor in trained.items()})
        before = read_safetensors(FOLDER + "/outputs.safetensors")[0]["logits"].values
        self.assertGreater(max(abs(a - b) for a, b in zip(trained["logits"].values, before)), 10 * CLOSE)
        # What has come out comes in again.
        self.run_ok("weft-import", out, "-o", self.path("again.job"), "--models", "models")
        half = self.exported(runs, "half", "--type", "bf16")
        self.assertEqual({tensor[0] for tensor in weights_of(half).values()} - {"I64"}, {"BF16"})
        self.assertEqual(config_of(half)["dtype"], "bfloat16")
        narrow = read_safetensors(half + "/model.safetensors")[0]
        for name, tensor in read_safetensors(out + "/model.safetensors")[0].items():
            for a, b in zip(narrow[name].values, tensor.values):
                self.assertLessEqual(abs(a - b), 2**-8 * abs(b), name)  # half a unit of 8 bits
        wide = read_safetensors(self.exported(self.trained(0, init=half)[0], "wide") + "/model.safetensors")[0]
        self.assertEqual({name: tensor.values for name, tensor in wide.items() if name not in TABLES},
                         {name: tensor.values for name, tensor in narrow.items() if name not in TABLES})


if __name__ == "__main__":
    main()
