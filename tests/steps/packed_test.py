#!/usr/bin/env python3
"""Sequences that hold several documents: each is learnt as if it were alone, in every layout."""
import os
import random
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import losses, main  # noqa: E402

SEQ = 16
# Of the documents, in the order of the file: each fills up a sequence with its neighbours. One more token is the label of
# the last, which does not count.
DOCUMENTS = [[5, 11], [16], [3, 4, 9], [1, 1, 14]]
END = 7  # in no document, where a test asks for it
STEPS = 12  # so many that positions are felt, without a warm-up
MODELS = {
    "gpt2": ["seq=16", "positions=16", "layers=2"],
    "llama": ["seq=16", "layers=2"],
}
LAYOUTS = ([], ["batch.micro=2"], ["batch.micro=1"], ["dist.data=2", "dist.tensor=2"], ["dist.context=2"],
           ["dist.pipeline=2", "batch.micro=2"], ["dist.data=2", "dist.context=2", "batch.micro=2"],
           ["dist.data=2", "batch.micro=3"], ["dist.data=2", "zero.stage=3"])
# Sums in another order; what is wrong is off by a hundred times as much.
CLOSE = 1e-5


def shorts(tokens):
    return struct.pack(f"<{len(tokens)}H", *tokens)


def index(lengths):
    places = [2 * sum(lengths[:i]) for i in range(len(lengths))]
    return (b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, len(lengths), len(lengths) + 1) +
            struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack(f"<{len(places)}q", *places) +
            struct.pack(f"<{len(lengths) + 1}q", *range(len(lengths) + 1)))


def npy(rows):
    text = "{'descr': '<i4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    data = b"".join(struct.pack(f"<{len(row)}i", *row) for row in rows)
    return b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + text.ljust(117).encode() + b"\n" + data


class PackedTest(FaultTest):
    def setUp(self):
        super().setUp()
        dice = random.Random(3)
        # Each ends with a token that no other place has.
        self.documents = [[dice.randrange(8, 256) for _ in range(length - 1)] + [END] for row in DOCUMENTS for length in row]
        self.documents.append([9])
        tokens = sum(self.documents, [])
        self.set = self.write("set.bin", shorts(tokens))
        self.write("set.idx", index([len(document) for document in self.documents]))
        self.raw = self.write("raw.bin", shorts(tokens))

    def compiled(self, model, graph, *overrides, batch=4):
        sets = [f"model.set={setting}" for setting in MODELS[model]]
        return self.plan(f"model.graph={graph}", *sets, f"batch.global={batch}", f"batch.micro={batch}", "data.format=AUTO",
                         "data.order=SEQUENTIAL", "optimizer.schedule.warmup_cosine.warmup=0", *overrides, job=f"models/{model}/tiny.job")

    def losses_of(self, plan, data, *flags, steps=STEPS, name="m.jsonl"):
        path = self.path(name)
        self.train(plan, steps, "--metrics", path, *flags, data=data)
        return losses(path)

    def close(self, got, expected, where):
        self.assertEqual(len(got), len(expected))
        for a, b in zip(got, expected):
            self.assertAlmostEqual(a, b, delta=CLOSE, msg=f"{where}")

    def alone(self, model):
        """The losses of the documents alone, a row each, by the graph that knows nothing of documents."""
        os.makedirs(self.path("alone"), exist_ok=True)
        documents = self.documents[:-1]
        self.write("alone/tokens.npy", npy([document + [0] * (SEQ - len(document)) for document in documents]))
        self.write("alone/labels.npy", npy([document[1:] + [-100] * (SEQ - len(document) + 1) for document in documents]))
        return self.losses_of(self.compiled(model, "train", batch=len(documents)), self.path("alone"))

    def test_the_losses_are_those_of_the_documents_alone(self):
        for model in MODELS:
            alone = self.alone(model)
            self.assertLess(alone[-1], alone[0] - 0.1)
            for layout in LAYOUTS:
                with self.subTest(model=model, layout=layout):
                    self.close(self.losses_of(self.compiled(model, "train_packed", *layout), self.set), alone, layout)
            # The documents see each other where nobody keeps them apart.
            together = self.losses_of(self.compiled(model, "train"), self.set)
            self.assertGreater(max(abs(a - b) for a, b in zip(together, alone)), 100 * CLOSE)

    def test_a_token_ends_documents_as_an_index_does(self):
        indexed = self.losses_of(self.compiled("gpt2", "train_packed"), self.set)
        plan = self.compiled("gpt2", "train_packed", f"data.end_of_document={END}")
        self.assertEqual(self.losses_of(plan, self.raw), indexed)
        os.mkdir(self.path("shards"))
        tokens = sum(self.documents, [])
        self.write("shards/a.bin", shorts(tokens[:32]))
        self.write("shards/b.bin", shorts(tokens[32:]))
        self.assertEqual(self.losses_of(plan, self.path("shards")), indexed)

    def test_every_layout_and_a_resume_blend_the_same(self):
        data = f"0.75 {self.set} 0.25 {self.raw}"
        overrides = ("batch.global=3", f"data.end_of_document={END}", "data.order=SHUFFLED")
        plans = [self.compiled("gpt2", "train_packed", *overrides, *layout)
                 for layout in (["batch.micro=3"], ["batch.micro=1"], ["batch.micro=2", "dist.context=2"])]
        one = self.losses_of(plans[0], data, steps=9)
        for plan in plans[1:]:
            self.close(self.losses_of(plan, data, steps=9), one, plan)
        runs = self.path("runs")
        self.losses_of(plans[0], data, "--checkpoint-dir", runs, steps=4, name="halves.jsonl")
        self.close(self.losses_of(plans[2], data, "--checkpoint-dir", runs, "--resume", steps=9, name="halves.jsonl"), one,
                   "resumed")
        other = self.compiled("gpt2", "train_packed", *overrides, "batch.micro=3", "data.masked_tokens=9")
        run = self.run_ok("weft-run", other, "--data", data, "--checkpoint-dir", runs, "--resume", "--steps", 10)
        self.assertIn("data.masked_tokens[0] none -> 9\n", run.err)

    def test_a_token_that_is_not_learnt_does_not_count(self):
        # Half of the tokens are a filler; with it masked the losses are those of labels that are ignored.
        dice = random.Random(5)
        tokens = [dice.choice([0, dice.randrange(8, 256)]) for _ in range(4 * SEQ + 1)]
        data = self.write("filled.bin", shorts(tokens))
        os.mkdir(self.path("rows"))
        rows = [tokens[begin:begin + SEQ + 1] for begin in range(0, 4 * SEQ, SEQ)]
        self.write("rows/tokens.npy", npy([row[:-1] for row in rows]))
        self.write("rows/labels.npy", npy([[label or -100 for label in row[1:]] for row in rows]))
        expected = self.losses_of(self.compiled("gpt2", "train"), self.path("rows"))
        overrides = ("data.masked_tokens=0", f"data.end_of_document={END}")  # the end is in no place: one document
        for layout in ([], ["batch.micro=1"]):
            self.close(self.losses_of(self.compiled("gpt2", "train_packed", *overrides, *layout), data), expected, layout)

    def test_what_is_wrong_is_said(self):
        def refused(plan, data, line):
            self.refused("weft-run", plan, "--data", data, "--steps", 1, "--quiet", line=line)

        plan = self.compiled("gpt2", "train_packed")
        refused(plan, self.raw, f"{self.raw}: `documents`: expected documents, by an index (NAME.bin with NAME.idx) or "
                "data.end_of_document, got uint16 without")
        refused(plan, f"0.5 {self.set} 0.5 {self.raw}", f"{self.raw}: `documents`: expected documents, by an index (NAME.bin "
                "with NAME.idx) or data.end_of_document, got uint16 without")
        model = """
model.graph @train(%tokens [batch, 16] i32, %labels [batch, 16] i32, INPUT) {
  %w = weft.parameter "w" [256, 256] init(zeros)
  %y = weft.embedding %tokens, %w
  %loss, %count = weft.cross_entropy %y, %labels
  %0 = weft.cast %it to f32
  %1 = weft.reduce sum %0 over [0, 1]
  weft.output "it" metric %1
  weft.minimize %loss per %count
}
"""
        self.write("m.mlir", model)
        job = self.write("m.job", 'model { file: "m.mlir" } batch { global: 4 } optimizer { sgd { lr: 1e-3 } }\n')
        for wrong, expected in (
                ('"documents" %it [batch, 16] i64', "`documents`: expected i32[rows,16], got i64[4,16]"),
                ('"loss_mask" %it [batch, 16] i32', "`loss_mask`: expected f32 or u8[rows,16], got i32[4,16]"),
                ('"positions" %it [batch, 8] i32', "`positions`: expected i32[rows,16], got i32[4,8]"),
                ('"mask" %it [batch, 16] i32', "data field: expected `tokens`, `labels`, `documents`, `positions`, "
                 "`loss_mask`, got `mask`")):
            name = wrong.split('"')[1]
            text = model.replace("INPUT", "%" + name + wrong.split("%it")[1])
            self.write("wrong.mlir", text.replace("%it", "%" + name))
            self.run_ok("weft-compile", job, "model.file=wrong.mlir", "-o", self.path("wrong.plan"), "--quiet")
            refused(self.path("wrong.plan"), self.set, f"{self.set}: {expected}")
        for key, vocabulary in (("data.end_of_document", 256), ("data.masked_tokens", 300)):
            plan = self.compiled("gpt2", "train_packed", f"{key}={vocabulary}")
            refused(plan, self.set, f"{key}: expected a token below 256, the rows of `wte.weight`, got {vocabulary}")
        for key, value in (("data.end_of_document", -1), ("data.masked_tokens", 1 << 31)):
            place = key + ("[0]" if key.endswith("tokens") else "")
            self.refused("weft-compile", job, f"{key}={value}", "-o", self.path("x.plan"),
                         line=f"{job}: {place}: expected a token from 0 to 2147483647, got {value}")


if __name__ == "__main__":
    main()
