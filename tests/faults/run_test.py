#!/usr/bin/env python3
"""Plans, data and places that a run cannot use."""
import gzip
import os
import struct
import sys
import unittest

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import TOKENS, WEIGHTS, call, contents, corpus, main, write_safetensors  # noqa: E402


class PlanTest(FaultTest):
    """A plan that is not the plan that was compiled."""

    def damaged(self, name, change):
        content = bytearray(contents(self.plan()))
        return self.write(name, change(content))

    def both_refuse(self, path, text):
        self.refused("weft-run", path, "--data", TOKENS, "--steps", 1, line=f"{path}: {text}")
        for command in ("show", "verify", "memory"):
            self.refused("weft-plan", command, path, line=f"{path}: {text}")

    def test_truncated(self):
        size = len(contents(self.plan()))
        for length in (33, size // 2, size - 1):
            path = self.damaged("t.plan", lambda content: content[:length])
            self.both_refuse(path, f"truncated: expected {size - 32} bytes after the head, got {length - 32}")
        path = self.damaged("t.plan", lambda content: content[:20])
        self.both_refuse(path, "truncated: expected at least 32 bytes, got 20")

    def test_foreign(self):
        for content in (b"", b"\x7fELF" + bytes(100), contents("tests/oracle/tiny.job"), contents(WEIGHTS)):
            self.both_refuse(self.write("f.plan", content), "not a plan: expected a file that weft-compile wrote")

    def test_of_another_version(self):
        for version, advice in ((1, "compile the job again with this version of weft"),
                                (15, "a newer weft wrote it: run it with that, or compile the job again")):
            path = self.damaged("v.plan", lambda content, v=version: content[:8] + struct.pack("<Q", v) + content[16:])
            self.both_refuse(path, f"plan version: expected 14, got {version}; {advice}")

    def test_flipped_bit_and_bytes_behind_the_end(self):
        size = len(contents(self.plan()))

        def flip(content):
            content[size // 2] ^= 4
            return content

        path = self.damaged("b.plan", flip)
        self.refused("weft-run", path, "--data", TOKENS, says=[path + ": damaged: expected hash "])
        self.refused("weft-plan", "show", path, says=[path + ": damaged: expected hash "])
        path = self.damaged("b.plan", lambda content: content + b"x")
        self.both_refuse(path, f"damaged: expected {size - 32} bytes after the head, got more")

    def test_missing(self):
        path = self.path("none.plan")
        self.both_refuse(path, "cannot be opened: No such file or directory")
        self.both_refuse(self.folder, "cannot be read: Is a directory")

    def test_without_end(self):
        self.both_refuse("/dev/zero", "not a plan: expected a file that weft-compile wrote")

    def test_that_does_not_fit_into_memory(self):
        # 1.6 TB of activations, parameters and moments.
        self.refused("weft-run", self.plan("--set", "hidden=65536"), "--data", TOKENS, "--steps", 1, "--quiet",
                     "--checkpoint-dir", self.path("new"), status=1,
                     says=["host memory: expected at most the ", " for 1 rank: ", " of arenas"])


class CheckTest(FaultTest):
    """`--check` says whether a plan could be run, and does nothing else."""

    def test_what_can_be_run(self):
        os.mkdir(self.path("runs"))
        before = self.files()
        result = call("weft-run", self.plan(), "--check", "--checkpoint-dir", self.path("runs"))
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertRegex(result.out, "^" + self.plan() + r": can be run here, 1 rank of [0-9.]+ [KM]iB\n")
        self.assertEqual(call("weft-run", self.plan(), "--check", "--quiet").out, "")
        self.assertEqual(self.files(), before)

    def test_what_cannot(self):
        path = self.write("t.plan", contents(self.plan())[:-1])
        self.refused("weft-run", path, "--check", says=[path + ": truncated: expected "])
        large = self.plan("--set", "hidden=65536")
        self.refused("weft-run", large, "--check", status=1, says=[large + ": host memory: expected at least ", ", which a rank takes, got "])
        none = self.path("none")
        self.refused("weft-run", self.plan(), "--check", "--checkpoint-dir", none,
                     line=f"--checkpoint-dir: {none}: expected a folder, found none")
        self.refused("weft-run", "--check", says=["expected a plan"])

    @unittest.skipIf(os.path.exists("/dev/nvidiactl"), "there is a GPU")
    def test_a_plan_for_another_device(self):
        plan = self.plan("cluster=../../clusters/8xh200.cluster")
        self.refused("weft-run", plan, "--check", status=1, says=["driver"])


class DataTest(FaultTest):
    def refused_data(self, data, **expected):
        """No checkpoint folder comes, and the metrics of before stay as they are."""
        self.write("m.jsonl", "the metrics of before\n")
        self.refused("weft-run", expected.pop("plan", None) or self.plan(), "--data", data, "--steps", 2, "--quiet",
                     "--checkpoint-dir", self.path("new"), "--metrics", self.path("m.jsonl"), **expected)

    def test_missing_empty_or_short(self):
        none = self.path("none.txt")
        self.refused_data(none, line=none + ": cannot open: No such file or directory")
        empty = self.write("empty.txt", b"")
        self.refused_data(empty, line=empty + ": expected tokens, got an empty file")
        short = self.write("short.txt", b"to be or not to be")
        self.refused_data(short, line=short + ": expected at least 257 tokens, for 4 sequences a step of 64 each "
                          "and a label for the last, got 18")
        self.refused_data("/dev/null", line="/dev/null: expected a regular file of tokens")
        self.refused_data(self.folder, line=self.folder + ": expected one of labels.npy and labels.idx, also with .gz, or a folder "
                          "of shards, for the input `labels`, got none")
        self.refused("weft-run", self.plan(), "--steps", 2, "--quiet",
                     line="--data: expected a file, as the plan reads `labels`, got none")

    def test_truncated_token_file(self):
        path = self.write("t.bin", contents(TOKENS)[:-1000])
        self.refused_data(path, line=path + ": truncated: expected 132096 bytes for the 65536 tokens of the header, "
                          "got 131096")
        path = self.write("t.bin", contents(TOKENS)[:100])
        self.refused_data(path, line=path + ": truncated: expected a header of 1024 bytes, got 100")

    def test_token_outside_the_vocabulary(self):
        text = bytearray(corpus(20))
        text[5 * 64 + 3] = 200  # the second step would read it
        path = self.write("high.txt", bytes(text))
        for layout in ((), ("dist.data=2", "dist.tensor=2")):
            self.refused_data(path, plan=self.plan("--set", "vocab=128", "data.format=TEXT", *layout),
                              line=path + ": expected tokens below 128, the rows of `wte.weight`, got 200 at 323")

    def test_images_that_are_tokens(self):
        self.refused_data(TOKENS, plan=self.plan('data.augment={field: "images" flip: true}'),
                          line=TOKENS + ": expected records of images, as data.augment is for `images`, got tokens")

    def test_text_for_another_vocabulary(self):
        text = self.write("corpus.txt", corpus(20))
        self.refused_data(text, plan=self.plan("--set", "vocab=512"), line=text + ": expected tokens as uint16 or uint32 "
                          "(.bin, .npy) below 512, the rows of `wte.weight`, got text; with data.format=TEXT its bytes are "
                          "tokens")

    def test_numpy_array_of_other_elements(self):
        header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (2000,), }".ljust(117) + b"\n"
        path = self.write("train.npy", b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + bytes(16000))
        self.refused_data(path, line=path + ": tokens: expected a NumPy array of '<u2' (uint16) or '<u4' (uint32), "
                          "got '<i8'")
        self.refused_data(path, plan=self.plan("data.format=TEXT"), says=["got a NumPy array (.npy)"])
        header = b"{'descr': '<u2', 'fortran_order': False, 'shape': (20, 50), }".ljust(117) + b"\n"
        path = self.write("rows.npy", b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + bytes(2000))
        self.refused_data(path, line=path + ": tokens: expected a NumPy array of one dimension, got 2")

    def test_files_of_other_kinds(self):
        text = "text, or tokens as raw uint16 (data.format=U16, or a name that ends with .bin) or uint32 (U32)"
        for name, content, got in (("train.txt", gzip.compress(corpus(20)), "a gzip archive"),
                                   ("train.npz", b"PK\x03\x04" + bytes(2000), "a zip archive (as .npz and .pt are)"),
                                   ("train.parquet", b"PAR1" + bytes(2000), "a Parquet file"),
                                   ("train", b"plain at first\0" + bytes(2000), "a byte 0 at 14")):
            path = self.write(name, content)
            self.refused_data(path, line=f"{path}: expected {text}, got {got}")
        path = self.write("train.bin", gzip.compress(corpus(20)) + b"\0")
        self.refused_data(path, line=path + ": expected tokens as raw U16, got a gzip archive")
        path = self.write("train.bin", b"PAR1" + bytes(2000))
        self.refused_data(path, line=path + ": expected tokens as raw U16, got a Parquet file")
        path = self.write("odd.bin", corpus(20)[:1001])
        self.refused_data(path, line=path + ": expected whole U16 tokens of 2 bytes, got 1001 bytes")
        self.refused_data(TOKENS, plan=self.plan("data.format=TEXT"),
                          line=f"{TOKENS}: expected {text}, got llm.c's token file")


class PipeTest(FaultTest):
    """Pipes whose other end nobody opens: to wait for that would be to wait for ever."""

    def test_is_refused(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        plan = self.plan()
        for flags, text in ((["--data", pipe], "expected a regular file of tokens"),
                            (["--data", TOKENS, "--init", pipe], "expected a regular file"),
                            (["--data", TOKENS, "--metrics", pipe],
                             "metrics cannot be written: expected a pipe that somebody reads, found no reader")):
            with self.subTest(flags=flags):
                self.refused("weft-run", plan, "--quiet", *flags, line=f"{pipe}: {text}")


class DivergenceTest(FaultTest):
    """A learning rate with which nothing stays a number."""

    def test_ends_the_run_and_keeps_the_checkpoint(self):
        for layout in ((), ("dist.data=2", "dist.tensor=2")):
            plan = self.plan("optimizer.adamw.lr=1e30", *layout)
            folder = self.path(f"saved{len(layout)}")
            run = ("weft-run", plan, "--data", TOKENS, "--steps", 4, "--quiet", "--checkpoint-dir", folder)
            result = call(*run, "--checkpoint-every", 1)
            self.assertEqual(result.status, 1, result.err)
            self.one_line("weft-run", result, "step 2: loss: expected a finite number, got nan; step 1 was saved last "
                          "(--debug-nan says which kernel made it, --allow-nonfinite goes on)")
            self.assertEqual(sorted(os.listdir(folder)), ["latest", "step-00000001"])
            # The same again from there, and nothing changes.
            self.refused(*run, "--resume", status=1, says=["step 2: loss: expected a finite number"])
            result = call(*run, "--resume", "--allow-nonfinite")
            self.assertEqual((result.status, result.err), (0, ""))
            self.assertIn("step-00000004", os.listdir(folder))


class FunctionTest(FaultTest):
    def refused_inputs(self, tensors, text):
        path = self.path("in.safetensors")
        write_safetensors(path, tensors)
        self.write("out.safetensors", "the outputs of before")
        self.refused("weft-run", self.plan("model.graph=logits"), "--init", WEIGHTS, "--inputs", path, "--outputs",
                     self.path("out.safetensors"), "--quiet", says=[path, text])

    def test_inputs(self):
        good = struct.pack("<256i", *range(256))
        self.refused_inputs({"other": ("I32", [4, 64], good)}, "expected a tensor `tokens`, got `other`")
        self.refused_inputs({"tokens": ("I32", [2, 128], good)}, "shape: expected [4,64], got [2,128]")
        self.refused_inputs({"tokens": ("F32", [4, 64], good)}, "`tokens`: dtype: expected i32, got f32")
        plan = self.plan("model.graph=logits")
        self.refused("weft-run", plan, "--quiet",
                     line="--inputs: expected a file, or --data, as the plan reads `tokens`, got none")
        none = self.path("none.safetensors")
        self.refused("weft-run", plan, "--inputs", none, "--quiet", says=[none, "No such file or directory"])
        text = self.write("text.safetensors", "not a safetensors file at all")
        self.refused("weft-run", plan, "--inputs", text, "--quiet", says=[text + ": not a safetensors file"])

    def test_token_outside_the_vocabulary(self):
        path = self.path("in.safetensors")
        write_safetensors(path, {"tokens": ("I32", [4, 64], struct.pack("<256i", *[256] * 256))})
        self.refused("weft-run", self.plan("model.graph=logits"), "--inputs", path, "--outputs",
                     self.path("out.safetensors"), "--quiet", says=["expected 0 to 255, got 256"])


class PlacesTest(FaultTest):
    """Outputs that cannot be written are refused before the work."""

    def test_training(self):
        file = self.write("file", "a file")
        for flag in ("--metrics", "--trace", "--checkpoint-dir"):
            for path, reason in ((file + "/x", "cannot be created: Not a directory"),
                                 ("/proc/none/x", "cannot be created: No such file or directory")):
                self.refused("weft-run", self.plan(), "--data", TOKENS, "--steps", 2, "--quiet", flag, path,
                             line=f"{flag}: {path}: {reason}")
        for flag in ("--metrics", "--trace"):
            self.refused("weft-run", self.plan(), "--data", TOKENS, "--steps", 2, "--quiet", flag, self.folder,
                         line=f"{flag}: {self.folder}: expected the name of a file, got that of a folder")
        self.refused("weft-run", self.plan(), "--data", TOKENS, "--steps", 2, "--quiet", "--checkpoint-dir", file,
                     says=[f"--checkpoint-dir: {file}: "])

    def test_functions(self):
        tokens = self.path("in.safetensors")
        write_safetensors(tokens, {"tokens": ("I32", [4, 64], struct.pack("<256i", *range(256)))})
        path = self.path("none/out.safetensors")
        self.refused("weft-run", self.plan("model.graph=logits"), "--inputs", tokens, "--outputs", path, "--quiet",
                     line=f"--outputs: {path}: cannot be created: No such file or directory")

    def test_compiler(self):
        job = "tests/oracle/tiny.job"
        for extra in ((), ("--stop-after=shard",)):
            path = self.path("none/a.plan")
            self.refused("weft-compile", job, *extra, "-o", path,
                         says=[path, "cannot be created: No such file or directory"])
            self.refused("weft-compile", job, *extra, "-o", self.folder,
                         line=f"{self.folder}: expected the name of a file, got that of something else")
            self.refused("weft-compile", job, *extra, "-o", "/dev/null",
                         line="/dev/null: expected the name of a file, got that of something else")
        file = self.write("file", "a file")
        self.refused("weft-compile", job, f"--dump-ir={file}/x", "-o", self.path("a.plan"),
                     says=[f"--dump-ir: cannot write {file}/x/01-elaborate.mlir: Not a directory"])

    def test_no_space_for_a_plan(self):
        self.write("a.plan", "the plan of before")
        for extra in ((), ("--stop-after=shard",)):
            self.refused("weft-compile", "tests/oracle/tiny.job", *extra, "-o", self.path("a.plan"), status=1,
                         shell="ulimit -f 8", says=["cannot be written: File too large"])

    def test_no_space_for_outputs(self):
        tokens = self.path("in.safetensors")
        write_safetensors(tokens, {"tokens": ("I32", [4, 64], struct.pack("<256i", *range(256)))})
        self.write("out.safetensors", "the outputs of before")
        self.refused("weft-run", self.plan("model.graph=logits"), "--inputs", tokens, "--outputs",
                     self.path("out.safetensors"), "--quiet", status=1, shell="ulimit -f 64", says=["File too large"])

    def test_no_space_for_a_timeline(self):
        self.write("t.json", "the timeline of before")
        self.refused("weft-run", self.plan(), "--data", TOKENS, "--steps", 2, "--quiet", "--trace",
                     self.path("t.json"), status=1, shell="ulimit -f 1", says=["File too large"])


if __name__ == "__main__":
    main()
