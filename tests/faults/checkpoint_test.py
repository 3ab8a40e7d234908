#!/usr/bin/env python3
"""Checkpoints that do not fit, are damaged, or cannot be written."""
import os
import shutil
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import (TOKENS, WEIGHTS, call, contents, losses, main, raw_safetensors, read_safetensors,  # noqa: E402
                      write_safetensors)


class CheckpointTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.runs = self.path("runs")
        self.train(self.plan(), 2, "--checkpoint-dir", self.runs)
        self.step = self.runs + "/step-00000002"

    def refused_resume(self, *flags, plan=None, folder=None, **expected):
        self.write("m.jsonl", '{"step":0,"of":"before"}\n{"step":1,"of":"before"}\n')
        self.refused("weft-run", plan or self.plan(), "--data", TOKENS, "--steps", 4, "--quiet", "--checkpoint-dir",
                     folder or self.runs, "--resume", "--metrics", self.path("m.jsonl"), *flags, **expected)

    def test_shapes_and_names(self):
        model = self.step + "/model.safetensors"
        self.refused_resume("--allow-changed", plan=self.plan("--set", "hidden=32"),
                            line=model + ": `wte.weight`: shape: expected [256,32], got [256,64]")
        self.refused_resume("--allow-changed", plan=self.plan("--set", "layers=3"),
                            says=[self.step + ": expected a tensor `h.2.ln_1.weight`, got `"])
        self.refused_resume("--allow-changed", plan=self.plan("optimizer={sgd { lr: 0.1 momentum: 0.9 }}"),
                            says=[self.step + ": expected a tensor `momentum."])

    def test_what_the_state_means(self):
        # Shapes and names fit all the same.
        for overrides, change in ((("--set", "heads=2"), "model.set heads 4 -> 2"),
                                  (("optimizer={adam { lr: 1e-3 }}",), "optimizer rule adamw -> adam"),
                                  (("optimizer={sgd { lr: 1e-3 }}",), "optimizer rule adamw -> sgd"),
                                  (("--set", "seq=32"), "model.set seq 64 -> 32")):
            self.refused_resume(plan=self.plan(*overrides), says=[
                f"{self.step}: expected the model, optimizer and form of data that it was saved with, got {change}",
                "; pass --allow-changed if that is meant"])
        other = self.write("other.bin", contents(TOKENS)[:-2] + b"\1\0")
        result = call("weft-run", self.plan("batch={global: 8 micro: 8}", "--set", "heads=2"), "--data", other, "--steps", 3,
                      "--threads", 1, "--checkpoint-dir", self.runs, "--resume", "--allow-changed",
                      "--other-data")
        self.assertEqual(result.status, 0, result.err)
        self.assertRegex(result.err, "changed since the checkpoint: model.set heads 4 -> 2, batch.global 4 -> 8, "
                         f"batch.micro 4 -> 8, data {TOKENS} \\(65,536 tokens, uint16, hash \\w+\\) -> {other} "
                         "\\(65,536 tokens, uint16, hash \\w+\\)\n")

    def test_other_data(self):
        other = self.write("other.bin", contents(TOKENS)[:-2] + b"\1\0")
        self.refused("weft-run", self.plan(), "--data", other, "--steps", 4, "--quiet", "--checkpoint-dir", self.runs,
                     "--resume", says=[f"{other}: expected the data of {self.step}, {TOKENS} (65,536 tokens, uint16, hash ",
                                       f"), got {other} (65,536 tokens, uint16, hash ",
                                       "); pass --other-data if that is meant"])
        moved = self.write("moved.bin", contents(TOKENS))
        self.train(self.plan("dist.data=2"), 3, "--checkpoint-dir", self.runs, "--resume", data=moved)

    def test_seed(self):
        self.refused("weft-run", self.plan(), "--data", TOKENS, "--steps", 4, "--quiet", "--checkpoint-dir", self.runs,
                     "--resume", "--seed", 9, line="--seed: expected that of the checkpoint, 1, got 9")

    def test_a_flipped_byte_is_found(self):
        for name in ("model.safetensors", "optimizer.safetensors", "manifest.json"):
            path = f"{self.step}/{name}"
            good = contents(path)
            for place in (3, 20, len(good) // 2, len(good) - 2):
                with self.subTest(name=name, place=place):
                    bad = bytearray(good)
                    bad[place] ^= 1
                    self.write(path, bytes(bad))
                    self.refused_resume(says=[self.step])
            self.write(path, good)
        self.train(self.plan(), 3, "--checkpoint-dir", self.runs, "--resume")

    def test_truncated_and_missing_files(self):
        for name in ("model.safetensors", "optimizer.safetensors", "manifest.json"):
            path = f"{self.step}/{name}"
            good = contents(path)
            for length in (0, 5, len(good) // 2, len(good) - 1):
                with self.subTest(name=name, length=length):
                    self.write(path, good[:length])
                    self.refused_resume(says=[self.step])
            os.remove(path)
            with self.subTest(name=name, missing=True):
                self.refused_resume(says=[self.runs])
            self.write(path, good)
        os.remove(self.runs + "/latest")
        os.remove(self.step + "/manifest.json")
        self.refused_resume(line=self.step + ": expected manifest.json, found none")

    def test_marker_without_its_checkpoint(self):
        for marker in ("step-00000007", ""):
            self.write(self.runs + "/latest", marker)
            result = self.run_ok("weft-run", self.plan(), "--data", TOKENS, "--steps", 2, "--threads", 1, "--checkpoint-dir",
                                 self.runs, "--resume")
            self.assertIn(f"{self.runs}/latest: expected the name of a checkpoint, got `{marker}`; trying {self.step}\n",
                          result.err)
            self.assertIn(f"resuming after step 2 from {self.step}\n", result.err)
            os.rename(self.step, self.runs + "/away")
            self.refused_resume(line=f"{self.runs}/latest: expected the name of a checkpoint, got `{marker}`")
            os.rename(self.runs + "/away", self.step)

    def test_a_whole_one_before_a_damaged_one(self):
        self.train(self.plan(), 4, "--checkpoint-dir", self.path("whole"))
        for layout in ((), ("dist.data=2",)):
            self.train(self.plan(), 3, "--checkpoint-dir", self.runs, "--resume")
            path = self.runs + "/step-00000003/optimizer.safetensors"
            self.write(path, contents(path)[:-1] + b"\x99")
            result = self.run_ok("weft-run", self.plan(*layout), "--data", TOKENS, "--steps", 4, "--threads", 1,
                                 "--checkpoint-dir", self.runs, "--resume")
            self.assertRegex(result.err, path + r": `[^`]+`: damaged: expected checksum \w+, got \w+; trying " + self.step)
            self.assertIn(f"resuming after step 2 from {self.step}\n", result.err)
            if not layout:
                for name in ("model.safetensors", "optimizer.safetensors"):
                    self.assertEqual(contents(f"{self.runs}/step-00000004/{name}"),
                                     contents(f"{self.path('whole')}/step-00000004/{name}"))
            shutil.rmtree(self.runs + "/step-00000004")
            self.write(self.runs + "/latest", "step-00000002\n")

    def test_a_new_run_in_the_folder_of_another(self):
        self.refused("weft-run", self.plan(), "--data", TOKENS, "--steps", 4, "--quiet", "--checkpoint-dir", self.runs,
                     "--checkpoint-keep", 1, line=f"--checkpoint-dir: {self.runs}: expected no checkpoints of an earlier "
                     "run, got step-00000002; pass --resume to go on from there, or another folder")

    def test_init(self):
        tensors = raw_safetensors(WEIGHTS)
        path = self.path("init.safetensors")

        def refused(text):
            self.refused("weft-run", self.plan(), "--data", TOKENS, "--steps", 1, "--quiet", "--init", path,
                         "--checkpoint-dir", self.path("new"), says=[path + ": " + text])

        write_safetensors(path, {name: tensor for name, tensor in tensors.items() if name != "h.1.mlp.c_fc.bias"})
        refused("expected a tensor `h.1.mlp.c_fc.bias`, got `")
        dtype, shape, content = tensors["wte.weight"]
        write_safetensors(path, {**tensors, "wte.weight": (dtype, shape[::-1], content)})
        refused("`wte.weight`: shape: expected [256,64], got [64,256]")
        write_safetensors(path, {**tensors, "ln_f.bias": ("I32", [64], bytes(256))})
        refused("`ln_f.bias`: dtype: expected f32, got i32")
        write_safetensors(path, tensors)
        whole = contents(path)
        for content in (whole[:-1], whole[:100], whole[:4], b"", whole + b"x", b"{" + whole):
            self.write(path, content)
            refused("")

    def no_space(self, blocks):
        """A save of step 4 that runs out of space; what it says."""
        before = self.files()
        result = call("weft-run", self.plan(), "--data", TOKENS, "--steps", 4, "--quiet", "--checkpoint-dir",
                      self.runs, "--resume", shell=f"ulimit -f {blocks}")
        self.assertEqual(result.status, 1, result.err)
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn("File too large", result.err)
        self.assertEqual(self.files(), before)
        return result.err

    def test_no_space_while_saving_keeps_the_checkpoint_of_before(self):
        # KiB: none, part of the model (471 KiB), the model but not the optimizer (943 KiB).
        for blocks, name in ((0, ".lock"), (100, "model.safetensors"), (600, "optimizer.safetensors")):
            with self.subTest(blocks=blocks):
                self.assertIn(name, self.no_space(blocks))
        # It is whole, and a run that goes on from it is that of an undisturbed one.
        read_safetensors(self.step + "/model.safetensors")
        self.train(self.plan(), 4, "--checkpoint-dir", self.runs, "--resume", "--metrics", self.path("rest.jsonl"))
        self.train(self.plan(), 4, "--checkpoint-dir", self.path("whole"))
        for name in ("model.safetensors", "optimizer.safetensors"):
            self.assertEqual(contents(f"{self.runs}/step-00000004/{name}"),
                             contents(f"{self.path('whole')}/step-00000004/{name}"))

    def test_no_space_while_training_goes_on(self):
        for asked in ("on", "off"):
            with self.subTest(asynchronous=asked):
                before = self.files()
                result = call("weft-run", self.plan(), "--data", TOKENS, "--steps", 10**9, "--quiet", "--checkpoint-dir", self.runs,
                              "--resume", "--checkpoint-every", 2, "--checkpoint-async", asked, shell="ulimit -f 600")
                self.assertEqual(result.status, 1, result.err)
                self.assertRegex(result.err, r"^weft-run: \S+/optimizer\.safetensors\S*: cannot \w+: File too large\n$")
                self.assertEqual(self.files(), before)

    def test_no_space_for_metrics(self):
        before = contents(self.step + "/model.safetensors")
        # Generated kernels are loaded from a file in memory, which is smaller than this.
        result = call("weft-run", self.plan(), "--data", TOKENS, "--steps", 2000, "--quiet", "--metrics",
                      self.path("m.jsonl"), shell="ulimit -f 128")
        self.assertEqual(result.status, 1, result.err)
        self.assertEqual(result.err, f"weft-run: {self.path('m.jsonl')}: metrics cannot be written: File too large\n")
        self.assertEqual(contents(self.step + "/model.safetensors"), before)

    def test_a_folder_that_only_looks_like_one(self):
        other = self.path("other")
        shutil.copytree(self.runs, other)
        os.remove(other + "/latest")
        # Without the marker the newest whole checkpoint counts.
        os.makedirs(other + "/step-00000009")
        self.train(self.plan(), 3, "--checkpoint-dir", other, "--resume", "--metrics", self.path("m.jsonl"))
        self.assertTrue(os.path.exists(other + "/step-00000003/manifest.json"))


if __name__ == "__main__":
    main()
