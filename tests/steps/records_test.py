#!/usr/bin/env python3
"""Training on records: inputs of other names, types and shapes than tokens, from arrays of several formats."""
import gzip
import os
import random
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import call, losses, main, raw_safetensors, saved_step, write_safetensors  # noqa: E402
import json  # noqa: E402

MODEL = """
model.config @classes = 6
model.graph @train(%pixels [batch, 4, 3] f32, %class [batch] i32) {
  %w = weft.parameter "w" [4, 3, classes] init(normal 0.02) sbp(tensor = S(2))
  %y = weft.einsum "bij,ijo->bo" %pixels, %w
  %loss, %count = weft.cross_entropy %y, %class
  weft.minimize %loss per %count
}
"""
JOB = 'model { file: "m.mlir" } batch { global: 8 } optimizer { sgd { lr: 1e-5 } } seed: 3\n'
RECORDS = 22  # three steps are more than an epoch
LAYOUTS = ((), ("batch.micro=2",), ("dist.data=2", "dist.tensor=2"), ("batch.micro=4", "dist.data=2"))


def npy(descr, shape, data, fortran=False):
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    return b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + text.ljust(117).encode() + b"\n" + data


def idx(shape, data):
    return bytes([0, 0, 8, len(shape)]) + b"".join(struct.pack(">I", size) for size in shape) + data


class RecordsTest(FaultTest):
    def setUp(self):
        super().setUp()
        dice = random.Random(1)
        self.pixels = bytes(dice.randrange(256) for _ in range(RECORDS * 12))
        self.classes = bytes(dice.randrange(6) for _ in range(RECORDS))
        self.write("m.mlir", MODEL)
        self.job = self.write("m.job", JOB)
        os.mkdir(self.path("set"))
        self.write("set/pixels.npy", npy("|u1", (RECORDS, 4, 3), self.pixels))
        self.write("set/class.npy", npy("<i8", (RECORDS,), struct.pack(f"<{RECORDS}q", *self.classes)))

    def compiled(self, *overrides):
        path = self.path("-".join(("m", *overrides)) + ".plan")
        self.run_ok("weft-compile", self.job, *overrides, "-o", path, "--quiet")
        return path

    def losses_of(self, plan, steps, *flags, data=None):
        path = self.path("m.jsonl")
        if "--resume" not in flags and os.path.exists(path):
            os.remove(path)
        self.train(plan, steps, "--metrics", path, *flags, data=data or self.path("set"))
        return losses(path)

    def test_every_layout_reads_the_same(self):
        one = self.losses_of(self.compiled(), 6)
        self.assertGreater(len(set(one)), 5)
        for layout in LAYOUTS[1:]:
            with self.subTest(layout=layout):
                for got, expected in zip(self.losses_of(self.compiled(*layout), 6), one):
                    self.assertAlmostEqual(got, expected, delta=1e-5)

    def test_every_format_reads_the_same(self):
        plan = self.compiled()
        expected = self.losses_of(plan, 4)
        images = self.write("train-images-idx3-ubyte.gz", gzip.compress(idx((RECORDS, 4, 3), self.pixels)))
        labels = self.write("train-labels-idx1-ubyte", idx((RECORDS,), self.classes))
        tensors = self.path("set.safetensors")
        write_safetensors(tensors, {
            "pixels": ("F32", [RECORDS, 4, 3], struct.pack(f"<{RECORDS * 12}f", *self.pixels)),
            "class": ("I32", [RECORDS], struct.pack(f"<{RECORDS}i", *self.classes))})
        os.mkdir(self.path("mixed"))
        self.write("mixed/pixels.idx.gz", gzip.compress(idx((RECORDS, 4, 3), self.pixels)))
        self.write("mixed/class.npy", npy("<u2", (RECORDS,), struct.pack(f"<{RECORDS}H", *self.classes)))
        for data in (f"pixels={images},class={labels}", tensors, self.path("mixed"), f"class={tensors},pixels={images}"):
            with self.subTest(data=data):
                self.assertEqual(self.losses_of(plan, 4, data=data), expected)

    def test_says_what_is_read(self):
        run = self.run_ok("weft-run", self.compiled(), "--data", self.path("set"), "--steps", 11, "--threads", 1)
        self.assertIn(self.path("set") + ": 22 records of class i64 (largest 5 of 6), pixels u8[4,3], 4 epochs in 11 steps\n",
                      run.err)

    def test_a_resumed_run_is_the_same_run(self):
        whole = self.losses_of(self.compiled(), 8, "--checkpoint-dir", self.path("whole"))
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                runs = ("--checkpoint-dir", self.path("runs" + "-".join(layout)))
                self.losses_of(self.compiled(), 3, *runs)
                resumed = self.losses_of(self.compiled(*layout), 8, *runs, "--resume")
                if not layout:
                    self.assertEqual(resumed, whole)
                    self.assertEqual(saved_step(runs[1] + "/step-00000008")["model.safetensors"],
                                     saved_step(self.path("whole/step-00000008"))["model.safetensors"])
                for got, expected in zip(resumed, whole):
                    self.assertAlmostEqual(got, expected, delta=1e-5)

    def test_a_checkpoint_says_what_was_read(self):
        plan, runs = self.compiled(), self.path("runs")
        self.losses_of(plan, 2, "--checkpoint-dir", runs)
        with open(runs + "/step-00000002/manifest.json", encoding="utf-8") as file:
            run = json.load(file)["run"]
        self.assertEqual((run["data"], run["data_form"], run["data_records"]),
                         (self.path("set"), "class i64, pixels u8[4,3]", "22"))
        os.rename(self.path("set"), self.path("moved"))
        self.losses_of(plan, 3, "--checkpoint-dir", runs, "--resume", data=self.path("moved"))
        self.write("moved/pixels.npy", npy("|u1", (RECORDS, 4, 3), self.pixels[:-1] + b"\1"))
        self.refused("weft-run", plan, "--data", self.path("moved"), "--steps", 4, "--quiet", "--checkpoint-dir", runs,
                     "--resume", says=[self.path("moved") + ": expected the data of " + runs + "/step-00000003, ",
                                       " (22 records, class i64, pixels u8[4,3], hash ", "; pass --other-data if that is "])
        self.losses_of(plan, 4, "--checkpoint-dir", runs, "--resume", "--other-data", data=self.path("moved"))

    def refused_set(self, line, **arrays):
        """A set with other arrays; None: without that one."""
        for name, content in arrays.items():
            if content is None:
                os.remove(self.path(f"set/{name}.npy"))
            else:
                self.write(f"set/{name}.npy", content)
        for layout in LAYOUTS[::2]:
            self.refused("weft-run", self.compiled(*layout), "--data", self.path("set"), "--steps", 1, "--quiet",
                         "--checkpoint-dir", self.path("new"), line=self.path("set") + line)

    def test_bad_sets(self):
        good = {name: open(self.path(f"set/{name}.npy"), "rb").read() for name in ("pixels", "class")}
        cases = (
            ("/pixels.npy: `pixels`: expected 21 records, as `class` has, got 22",
             {"class": npy("|u1", (21,), self.classes[:21])}),
            ("/pixels.npy: `pixels`: expected what fits the plan's f32[rows,4,3], got records of i32[4,3]",
             {"pixels": npy("<i4", (RECORDS, 4, 3), bytes(RECORDS * 48))}),
            ("/pixels.npy: `pixels`: expected what fits the plan's f32[rows,4,3], got records of u8[12]",
             {"pixels": npy("|u1", (RECORDS, 12), self.pixels)}),
            ("/pixels.npy: expected the last dimension to vary fastest (C's order), got Fortran's order",
             {"pixels": npy("|u1", (RECORDS, 4, 3), self.pixels, fortran=True)}),
            ("/pixels.npy: truncated: expected u8[22,4,3] by the file's header, got 263 bytes of it",
             {"pixels": good["pixels"][:-1]}),
            ("/pixels.npy: expected an array: NumPy's (.npy) or IDX, also gzipped, or a .safetensors file, got a PDF",
             {"pixels": b"%PDF-1.7 and so on"}),
            ("/class.npy: `class`: expected ids from 0 to 5, the classes of the cross entropy, got 6 in record 4",
             {"class": npy("|u1", (RECORDS,), bytes(4) + b"\6" + bytes(RECORDS - 5))}),
            ("/class.npy: `class`: expected ids from 0 to 5, the classes of the cross entropy, got -1 in record 21",
             {"class": npy("<i8", (RECORDS,), bytes(8 * RECORDS - 8) + b"\xff" * 8)}),
            ("/class.npy: `class`: expected at least 8 records, for a step, got 7",
             {"class": npy("|u1", (7,), self.classes[:7]), "pixels": npy("|u1", (7, 4, 3), self.pixels[:84])}),
            (": expected one of class.npy and class.idx, also with .gz, or a folder of shards, for the input `class`, got none", {"class": None}),
        )
        for line, arrays in cases:
            with self.subTest(line=line):
                self.refused_set(line, **arrays)
                for name, content in good.items():
                    self.write(f"set/{name}.npy", content)

    def test_ids_are_looked_at_in_every_layout(self):
        os.mkdir(self.path("words"))
        good = npy("<i4", (8, 64), bytes(8 * 64 * 4))
        wrong = {-1: "tokens", 256: "labels"}
        what = {"tokens": "the rows of `wte.weight`", "labels": "the classes of the cross entropy"}
        for layout in ([], ["dist.context=2"], ["dist.tensor=2"], ["dist.context=3", "dist.data=2"]):
            plan = self.plan("batch.global=8", "batch.micro=8", *layout)
            for word, name in wrong.items():
                for other in what:
                    self.write(f"words/{other}.npy", good)
                self.write(f"words/{name}.npy", good[:-4] + struct.pack("<i", word))
                self.refused("weft-run", plan, "--data", self.path("words"), "--steps", 1, "--quiet",
                             line=self.path(f"words/{name}.npy: `{name}`: expected ids from 0 to 255, {what[name]}, ") +
                             f"got {word} in record 7")

    def test_numbers_of_rows_that_are_taken_are_looked_at(self):
        self.write("m.mlir", "model.graph @rows(%ids [batch] i32) {\n"
                   '  %w = weft.parameter "table" [5, 2] init(zeros)\n'
                   "  %0 = weft.take %w, %ids dim(0)\n"
                   '  weft.output "rows" %0\n}\n')
        job = self.write("m.job", 'model { file: "m.mlir" }\nbatch { global: 4 micro: 4 }\n')
        write_safetensors(self.path("ids.safetensors"), {"ids": ("I32", [4], struct.pack("<4i", 0, 4, 5, 0))})
        self.refused("weft-run", self.plan(job=job), "--data", self.path("ids.safetensors"), "--seed", 1,
                     says=["`ids`: expected ids from 0 to 4, the rows of `table`, got 5 in record 2"])

    def test_inputs_of_every_type_reach_a_function(self):
        tensors = {"bytes": ("U8", [8, 4, 3], bytes(range(160, 256))), "long": ("I64", [8], struct.pack("<8q", *range(8))),
                   "half": ("BF16", [8, 2], bytes(range(32))), "deep": ("F32", [8, 1, 2, 1, 2], bytes(range(128)))}
        types = {"U8": "u8", "I64": "i64", "BF16": "bf16", "F32": "f32"}
        inputs = ", ".join("%%%s [batch, %s] %s" % (name, ", ".join(map(str, shape[1:])), types[dtype])
                           for name, (dtype, shape, _) in tensors.items()).replace("[batch, ]", "[batch]")
        self.write("m.mlir", "model.graph @copy(%s) {\n%s}\n" % (
            inputs, "".join(f'  weft.output "{name}" %{name}\n' for name in tensors)))
        self.write("m.job", 'model { file: "m.mlir" } batch { global: 8 }\n')
        write_safetensors(self.path("in.safetensors"), tensors)
        for layout in ((), ("dist.data=2",), ("dist.data=4",)):
            with self.subTest(layout=layout):
                out = self.path("out.safetensors")
                self.run_ok("weft-run", self.compiled(*layout), "--inputs", self.path("in.safetensors"), "--outputs", out,
                            "--quiet")
                self.assertEqual(raw_safetensors(out), tensors)

    def test_labels_that_do_not_count(self):
        labels = npy("<i4", (RECORDS,), struct.pack(f"<{RECORDS}i", *[-100] * 4, *self.classes[4:]))
        self.write("set/class.npy", labels)
        self.losses_of(self.compiled(), 1)

    def test_one_file_of_tokens(self):
        text = self.write("corpus.txt", "a text" * 100)
        result = call("weft-run", self.compiled(), "--data", text, "--steps", 1)
        self.assertEqual(result.status, 2)
        self.assertEqual(result.err, f"weft-run: {text}: expected records for the plan's inputs (a .safetensors file, a folder, "
                         "FIELD=FILE,...), got tokens, and no input `tokens` of [batch, sequence] to read them\n")


if __name__ == "__main__":
    main()
