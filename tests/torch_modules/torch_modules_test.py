#!/usr/bin/env python3
"""Imported modules train to PyTorch's losses, in layouts too: see README.md here."""
import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, command, main, metrics, read_safetensors, relative  # noqa: E402

FOLDER = "tests/torch_modules/"
NAMES = sorted(os.path.basename(path)[:-len(".job")] for path in glob.glob(FOLDER + "*.job"))
STEPS = 10
KEYS = ["batch.global=4", "batch.micro=4", "data.order=SEQUENTIAL", "optimizer.adamw.lr=1e-3", "optimizer.adamw.weight_decay=0.1"]


class TorchModulesTest(ProgramTest):
    def trained(self, name, *layout):
        """(loss, norm of the gradients) of each step."""
        path = self.path("%s%d.jsonl" % (name, len(os.listdir(self.folder))))
        plan = self.plan(*KEYS, *layout, job=FOLDER + name + ".job")
        self.train(plan, STEPS, "--init", FOLDER + name + ".safetensors", "--metrics", path,
                   data=FOLDER + name + "_data.safetensors")
        return [(line["loss"], line["grad_norm"]) for line in metrics(path)]

    def expect_pytorchs(self, name, *layout):
        with open(FOLDER + name + "_losses.txt", encoding="utf-8") as file:
            expected = [tuple(map(float, line.split())) for line in file]
        found = self.trained(name, *layout)
        self.assertEqual((len(expected), len(found)), (STEPS, STEPS))
        for (step, loss, norm), (own_loss, own_norm) in zip(expected, found):
            # Before the first update nothing but rounding differs. Adam's first updates are the signs of gradients, also of
            # those that are almost 0.
            of_loss, of_norm = (1e-6, 1e-6) if step == 0 else (1e-5, 1e-4)
            self.assertLess(relative(own_loss, loss), of_loss, f"{name} {layout} step {step:.0f}")
            self.assertLess(relative(own_norm, norm), of_norm, f"{name} {layout} step {step:.0f}")

    def test_one_rank(self):
        self.assertGreater(len(NAMES), 20)
        for name in NAMES:
            with self.subTest(name):
                self.expect_pytorchs(name)

    def test_data_and_tensor(self):
        for name in NAMES:
            with self.subTest(name):
                self.expect_pytorchs(name, "dist.data=2", "dist.tensor=2")

    def test_micro_batches_and_stages(self):
        for name in ("gpt2", "bert", "t5"):
            with self.subTest(name):
                self.expect_pytorchs(name, "dist.pipeline=2", "batch.micro=2")

    def test_another_batch(self):
        """The batch of a file is a job's: nothing in it is the batch of the example."""
        for name in NAMES:
            with self.subTest(name):
                plan = self.plan(*KEYS, "batch.global=3", "batch.micro=3", job=FOLDER + name + ".job")
                self.train(plan, 1, data=FOLDER + name + "_data.safetensors")

    def test_weights_are_those_of_the_model(self):
        """Every tensor of the weights is a parameter of the plan, in the shape that files have."""
        for name in NAMES:
            with self.subTest(name):
                shown = self.run_ok("weft-compile", FOLDER + name + ".job", "--stop-after=elaborate", "-o", "-").out
                tensors, _ = read_safetensors(FOLDER + name + ".safetensors")
                for tensor in tensors:
                    self.assertIn(f'weft.parameter "{tensor}"', shown)
                self.assertEqual(shown.count("weft.parameter"), len(tensors))

    def test_layers_are_repeated(self):
        """What torch.nn.ModuleList has several of, a file has once."""
        for name in set(NAMES) - {"mlp", "swin", "many_operators"}:
            with open(FOLDER + name + ".mlir", encoding="utf-8") as file:
                self.assertIn("model.repeat layers", file.read(), name)


class CommandTest(ProgramTest):
    def call(self, *arguments):
        done = subprocess.run([sys.executable, "-S", "-B", "python/weft/importing/from_torch", *arguments], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr.strip()

    def test_wrong_requests(self):
        script = self.write("a.py", "")
        for arguments, message in (
                ((), "expected FILE.py:FUNCTION -o NAME.job, got nothing"),
                (("a.py", "-o", "a.job"), "a.py: expected FILE.py:FUNCTION"),
                (("a.py:f", "-o", "a.mlir"), "-o: expected a name that ends in .job, got a.mlir"),
                (("no.py:f", "-o", "a.job"), "no.py: expected a file of Python, found none"),
                ((script + ":f", "-o", "a.job"), "expected the Python package `torch`, found none; pip install torch numpy, in a "
                 "virtual environment (python3 -m venv), brings it")):
            self.assertEqual(self.call(*arguments), (2, "weft import: " + message))

    def test_weft_import_hands_over(self):
        """To the package above the program, else to an installed one."""
        os.makedirs(self.path("a/bin"))
        shutil.copy(command("weft-import")[0], self.path("a/bin"))
        os.chmod(self.write("a/bin/python3", "#!/bin/bash\nprintf '<%s>' \"$@\"\nexit 7\n"), 0o755)

        def call(*arguments):
            done = subprocess.run([self.path("a/bin/weft-import"), *arguments], capture_output=True, text=True, check=False,
                                  env={"PATH": self.path("a/bin") + ":/bin"})
            return done.returncode, done.stdout or done.stderr
        status, said = call("--torch", "a.py:f", "-o", "a.job")
        self.assertEqual(status, 7)
        self.assertRegex(said, r"^<-c><import importlib, sys\n(.|\n)*><from_torch><a\.py:f><-o><a\.job>$")
        os.makedirs(self.path("python/weft/importing/from_torch"))
        self.write("python/weft/importing/from_torch/__main__.py", "")
        self.assertEqual(call("-o", "a.job", "--torch=a.py:f"),
                         (7, "<%s><a.py:f><-o><a.job>" % os.path.realpath(self.path("python/weft/importing/from_torch"))))
        self.assertEqual(call("--torch", "a.py:f"), (2, "weft-import: expected -o NAME.job (see --help)\n"))
        for more in (["--seq=4"], ["folder"], ["--quiet"]):
            self.assertEqual(call("--torch", "a.py:f", "-o", "a.job", *more),
                             (2, "weft-import: --torch: expected with -o alone (see --help)\n"))


if __name__ == "__main__":
    main()
