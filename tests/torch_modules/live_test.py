#!/usr/bin/env python3
"""The importer itself. It needs torch, and transformers for two tests: run it by hand, see README.md here."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.join(HERE, "..", "..", "python")
sys.path[:0] = [PYTHON, HERE]

import torch  # noqa: E402
from torch.nn import Dropout, Linear, Module, Parameter, Sequential  # noqa: E402
from weft.importing import Failure  # noqa: E402
from weft.importing.from_torch import from_torch  # noqa: E402
import models  # noqa: E402


def squares(output):
    return output.square().mean()


def without_deviations(text):
    """Those of random weights are not the same twice."""
    return re.sub(r"normal \d+\.\d+", "normal", text)


class Of(Module):
    """A module that computes a function of its parameter and inputs."""

    def __init__(self, function, *shape):
        super().__init__()
        self.w, self.function = Parameter(torch.randn(shape or (8, 8))), function

    def forward(self, x):
        return self.function(self.w, x)


def imported(module, *inputs, loss=squares):
    return from_torch(module, inputs, loss)


class ImporterTest(unittest.TestCase):
    def expect_failure(self, pattern, call):
        with self.assertRaises(Failure) as caught:
            call()
        self.assertRegex(str(caught.exception), pattern)

    def test_all_unknown_operators_are_listed_with_their_lines(self):
        class Odd(Of):
            def forward(self, x):
                y = torch.linalg.inv(x @ self.w)
                return torch.special.bessel_j0(y)
        self.expect_failure(
            r"2 operators are not known to Weft:\n  aten\.linalg_inv_ex\.default, from\n    .*live_test\.py:\d+: y = torch\.linalg"
            r"(.|\n)*aten\.special_bessel_j0\.default, from\n    .*live_test\.py:\d+: return torch\.special",
            lambda: imported(Odd(None), torch.randn(4, 8, 8)))

    def test_inputs_without_a_batch(self):
        self.expect_failure("example input input: expected the batch as its first dimension, found a scalar",
                            lambda: imported(Linear(8, 8), torch.tensor(1.0)))
        self.expect_failure(r"example input labels: expected the batch .*, as input has it \(4\), found 3", lambda: imported(
            Linear(8, 8), torch.randn(4, 8), torch.randn(3), loss=lambda output, labels: output.mean() * labels.mean()))
        self.expect_failure("example inputs: expected up to 1 for the module", lambda: imported(
            Linear(8, 8), torch.randn(4, 8), torch.randn(4, 8)))

    def test_no_loss(self):
        self.expect_failure("the loss: expected a scalar of floating point, found f32 of 2 dimensions",
                            lambda: imported(Linear(8, 8), torch.randn(4, 8), loss=None))

    def test_code_that_asks_for_numbers(self):
        def function(w, x):
            return x @ w if x.sum() > 0 else x
        self.expect_failure("torch.export: ", lambda: imported(Of(function), torch.randn(4, 8)))

    def test_the_batch(self):
        text = imported(Of(lambda w, x: (x @ w).reshape(-1) / x.shape[0]), torch.randn(2, 3, 8)).model
        self.assertIn("%x [batch, 3, 8] f32", text)
        self.assertIn("[batch * 24]", text)
        self.assertIn('weft.scale', text)
        self.assertIn('by("1.0 / (batch)")', text)

    def test_dropout_is_that_of_training(self):
        module = Sequential(Linear(8, 8), Dropout(0.25))
        self.assertIn("weft.dropout %0 rate(0.25)", imported(module, torch.randn(2, 8)).model)
        self.assertNotIn("dropout", imported(module.eval(), torch.randn(2, 8)).model)

    def test_ties_and_frozen_parameters(self):
        module = Sequential(Linear(8, 8), Linear(8, 8), Linear(8, 8))
        module[1].weight = module[0].weight
        module[2].weight.requires_grad = False
        found = imported(module, torch.randn(2, 8))
        self.assertEqual(sorted(found.weights), ["0.bias", "0.weight", "1.bias", "2.bias", "2.weight"])
        self.assertEqual(found.model.count("state"), 1)
        self.assertEqual(found.dropped, [])

    def test_a_file_of_many_layers_is_as_long_as_one_of_two(self):
        def text(layers):
            layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
            return without_deviations(imported(torch.nn.TransformerEncoder(layer, layers), torch.randn(2, 6, 32)).model)
        self.assertEqual(text(8), text(2).replace("@layers = 2", "@layers = 8"))

    def test_gpt2_of_many_layers(self):
        import transformers

        def text(layers):
            module = transformers.GPT2LMHeadModel(transformers.GPT2Config(
                vocab_size=64, n_positions=16, n_embd=32, n_layer=layers, n_head=4))
            numbers = torch.zeros(2, 16, dtype=torch.long)
            inputs = {"input_ids": numbers, "labels": numbers}
            return without_deviations(from_torch(module, inputs, models.of_words).model)
        self.assertEqual(text(32), text(2).replace("@layers = 2", "@layers = 32"))

    def test_all_or_no_files(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(folder + "/a.safetensors.part")
            with self.assertRaises(OSError):
                imported(Linear(8, 8), torch.randn(2, 8)).save(folder + "/a.job")
            self.assertEqual(os.listdir(folder), ["a.safetensors.part"])

    def test_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/a.py", "w", encoding="utf-8") as file:
                file.write("import torch\ndef mlp():\n    return torch.nn.Linear(8, 2), (torch.randn(4, 8), torch.zeros(4).long())"
                           ", torch.nn.functional.cross_entropy\ndef two():\n    return 1, 2\n")

            def call(function):
                return subprocess.run([sys.executable, PYTHON + "/weft/importing/from_torch", folder + "/a.py:" + function, "-o",
                                       folder + "/a.job"], capture_output=True, text=True, check=False)
            self.assertRegex(call("none").stderr, "expected a function none, found mlp, two")
            self.assertRegex(call("two").stderr, r"expected \(module, example inputs, loss function or None\), got tuple")
            self.assertEqual(call("none").returncode, 2)
            done = call("mlp")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLessEqual({"a.job", "a.mlir", "a.py", "a.safetensors"}, set(os.listdir(folder)))


if __name__ == "__main__":
    unittest.main()
