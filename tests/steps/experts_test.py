#!/usr/bin/env python3
"""Mixtures of experts: who gets which slot, what is dropped, and how experts lie over ranks and in files."""
import math
import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, "tests/support")
from programs import ProgramTest, losses, main, raw_safetensors, read_safetensors, relative, write_safetensors  # noqa: E402

MIXTRAL = "models/mixtral/tiny.job"
# What drops no token, and what drops some.
FORMS = ((), ("model.file=capacity.mlir", "model.set=capacity=48"))
LAYERS, VOCAB, HIDDEN, INNER, EXPERTS, HEADS, KV_HEADS = 2, 256, 64, 128, 4, 4, 2

MODEL = """
model.import "%s/models/experts.mlir"
model.config @seq = 12
model.config @capacity = 4

model.graph @give(%%ids [batch, seq, 2] i32) {
  %%slots, %%fits, %%tokens = model.call @slots (%%ids) [5, 2, capacity]
  weft.output "slots" %%slots
  weft.output "fits" %%fits
  weft.output "tokens" %%tokens
}

model.graph @sort(%%ids [batch, seq, 2] i32) {
  %%tokens, %%places, %%counts = model.call @sorted_choices (%%ids) [5, 2]
  weft.output "tokens" %%tokens
  weft.output "places" %%places
  weft.output "counts" %%counts
}

model.graph @dropless(%%x [batch, seq, 6] f32) {
  %%y, %%ids, %%p, %%l = model.call @dropless_mixture (%%x) [6, 8, 4, 2]
  weft.output "y" %%y
}

model.graph @mix(%%x [batch, seq, 6] f32) {
  %%y, %%ids, %%p, %%l = model.call @gated_mixture (%%x) [6, 8, 4, 2, capacity]
  %%0, %%1, %%2 = model.call @router_sums (%%ids, %%p, %%l) [4, 2]
  %%load, %%probability, %%z = model.call @router_means (%%0, %%1, %%2) [2]
  %%balance = model.call @balance (%%load, %%probability) [4]
  weft.output "y" %%y
  weft.output "z" %%z
  weft.output "balance" %%balance
}
"""
JOB = 'model { file: "experts.mlir" graph: "give" }\nbatch { global: 3 }\nseed: 1\n'


def give_slots(ids, experts, capacity):
    """GShard's algorithm 1 for ids[token][choice] of a sequence: {(token, choice): slot}, all first choices first."""
    taken, slots = [0] * experts, {}
    for choice in range(len(ids[0])):
        for token, chosen in enumerate(ids):
            expert = chosen[choice]
            if taken[expert] < capacity:
                slots[token, choice] = expert * capacity + taken[expert]
            taken[expert] += 1
    return slots


def product(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def silu(x):
    return x / (1 + math.exp(-x))


def mixture(x, gate, experts, capacity):
    """What tokens x[token] of a sequence become, and what the router said: (y, logits, ids)."""
    logits = [product(gate, row) for row in x]
    ids = [sorted(range(len(gate)), key=lambda e, row=row: (-row[e], e))[:2] for row in logits]
    slots = give_slots(ids, len(gate), capacity)
    y = []
    for token, row in enumerate(x):
        weights = [math.exp(logits[token][e]) for e in ids[token]]
        total = [0.0] * len(row)
        for choice, expert in enumerate(ids[token]):
            if (token, choice) not in slots:
                continue
            w1, w2, w3 = experts[expert]
            inner = [silu(a) * b for a, b in zip(product(w1, row), product(w3, row))]
            for i, value in enumerate(product(w2, inner)):
                total[i] += weights[choice] / sum(weights) * value
        y.append(total)
    return y, logits, ids


def cut(values, width):
    return [values[i:i + width] for i in range(0, len(values), width)]


class ExpertsTest(ProgramTest):
    def call_graph(self, graph, inputs, *flags, layout=()):
        self.write("experts.mlir", MODEL % os.getcwd())
        job = self.write("experts.job", JOB)
        write_safetensors(self.path("in.safetensors"), inputs)
        self.run_ok("weft-run", self.plan("model.graph=" + graph, *layout, job=job), "--inputs",
                    self.path("in.safetensors"), "--outputs", self.path("out.safetensors"), "--quiet", *flags)
        return raw_safetensors(self.path("out.safetensors"))

    def test_slots_go_to_first_choices_first(self):
        draw = random.Random(3)
        ids = [[draw.sample([0, 0, 1, 2, 3, 4], 2) for _ in range(12)] for _ in range(3)]
        flat = [e for row in ids for token in row for e in token]
        out = self.call_graph("give", {"ids": ("I32", [3, 12, 2], struct.pack("<72i", *flat))})
        slots, fits, tokens = (cut(struct.unpack(f"<{len(out[name][2]) // 4}i", out[name][2]), size)
                               for name, size in (("slots", 24), ("fits", 24), ("tokens", 20)))
        dropped = 0
        for b in range(3):
            expected = give_slots(ids[b], 5, 4)
            dropped += 24 - len(expected)
            for choice in range(2):
                for token in range(12):
                    at, slot = 2 * token + choice, expected.get((token, choice))
                    self.assertEqual((fits[b][at], slots[b][at]), (0, 0) if slot is None else (1, slot))
                    if slot is not None:
                        self.assertEqual(tokens[b][slot], token)
        self.assertGreater(dropped, 5)

    def test_choices_are_sorted_by_expert(self):
        draw = random.Random(3)
        ids = [[e for _ in range(12) for e in draw.sample([0, 0, 1, 2, 4], 2)] for _ in range(3)]
        out = self.call_graph("sort", {"ids": ("I32", [3, 12, 2], struct.pack("<72i", *sum(ids, [])))})
        tokens, places, counts = (cut(struct.unpack(f"<{len(out[name][2]) // 4}i", out[name][2]), size)
                                  for name, size in (("tokens", 24), ("places", 24), ("counts", 5)))
        for b, choices in enumerate(ids):
            order = sorted(range(24), key=lambda i, choices=choices: (choices[i], i))
            self.assertEqual(list(tokens[b]), [i // 2 for i in order])
            self.assertEqual([places[b][i] for i in order], list(range(24)))
            self.assertEqual(list(counts[b]), [choices.count(e) for e in range(5)])

    def test_a_mixture_is_the_sum_of_its_experts_but_for_what_is_dropped(self):
        draw = random.Random(5)

        def matrix(rows, columns):
            return cut([struct.unpack("<f", struct.pack("<f", draw.uniform(-1, 1)))[0] for _ in range(rows * columns)],
                       columns)

        def packed(rows):
            return "F32", [len(rows), len(rows[0])], struct.pack(f"<{len(rows) * len(rows[0])}f", *sum(rows, []))

        gate, experts = matrix(4, 6), [(matrix(8, 6), matrix(6, 8), matrix(8, 6)) for _ in range(4)]
        gate[2] = [2 * value for value in gate[2]]  # a favourite
        weights = {"gate.weight": packed(gate)}
        for e, matrices in enumerate(experts):
            for name, values in zip(("w1", "w2", "w3"), matrices):
                weights[f"experts.{e}.{name}.weight"] = packed(values)
        write_safetensors(self.path("weights.safetensors"), weights)
        x = [matrix(12, 6) for _ in range(3)]
        inputs = {"x": ("F32", [3, 12, 6], struct.pack("<216f", *sum(sum(x, []), [])))}
        for layout in ((), ("dist.expert=2",), ("dist.expert=4",), ("dist.expert=2", "dist.tensor=2")):
            drops_none = self.call_graph("dropless", inputs, "--init", self.path("weights.safetensors"), layout=layout)
            for a, e in zip(struct.unpack("<216f", drops_none["y"][2]),
                            (value for b in range(3) for row in mixture(x[b], gate, experts, 12)[0] for value in row)):
                self.assertLess(abs(a - e), 1e-5, layout)
            for capacity in (2, 4, 12):
                out = self.call_graph("mix", inputs, "--init", self.path("weights.safetensors"),
                                      layout=(f"model.set=capacity={capacity}", *layout))
                y = cut(struct.unpack("<216f", out["y"][2]), 6)
                logits, ids = [], []
                for b in range(3):
                    expected, said, chosen = mixture(x[b], gate, experts, capacity)
                    logits, ids = logits + said, ids + chosen
                    for token in range(12):
                        for a, e in zip(y[12 * b + token], expected[token]):
                            self.assertLess(abs(a - e), 1e-5, (layout, capacity, b, token))
                z = sum(math.log(sum(math.exp(v) for v in row))**2 for row in logits) / 36
                share = [[math.exp(v) / sum(math.exp(w) for w in row) for v in row] for row in logits]
                balance = 4 * sum(sum(e in token for token in ids) / 36 * sum(row[e] for row in share) / 36 for e in range(4))
                self.assertLess(relative(struct.unpack("<f", out["z"][2])[0], z), 1e-5)
                self.assertLess(relative(struct.unpack("<f", out["balance"][2])[0], balance), 1e-5)


class MixtralTest(ProgramTest):
    def test_tokens_go_to_their_experts_by_an_all_to_all(self):
        shown = self.run_ok("weft-plan", "show", self.plan("dist.expert=4", *FORMS[1], job=MIXTRAL)).out
        forward = [line for line in shown.splitlines() if "over (expert)" in line and "block_sparse_moe" in line]
        self.assertEqual(len(forward), 4 * LAYERS, shown)  # there and back, in both directions
        for line in forward:
            self.assertIn("all_to_all", line)

    def test_without_a_capacity_ranks_see_the_tokens_of_all(self):
        shown = self.run_ok("weft-plan", "show", self.plan("dist.expert=4", job=MIXTRAL)).out
        forward = [line for line in shown.splitlines() if "over (expert)" in line and "block_sparse_moe" in line]
        self.assertTrue(forward, shown)
        for line in forward:
            self.assertRegex(line, "all_gather|reduce_scatter")

    def test_losses_do_not_depend_on_where_experts_are(self):
        def train(*layout):
            self.train(self.plan("data.format=AUTO", *layout, job=MIXTRAL), 4, "--metrics", self.path("m.jsonl"))
            return losses(self.path("m.jsonl"))

        for form in FORMS:
            one = train(*form)
            for layout in (("dist.expert=2",), ("dist.expert=4",), ("dist.data=2", "dist.expert=2"),
                           ("dist.expert=2", "dist.pipeline=2")):
                for a, b in zip(train(*layout, *form), one):
                    self.assertLess(relative(a, b), 2e-5, (layout, form))

    def test_the_last_micro_batch_may_have_fewer_samples(self):
        def train(*layout):
            self.train(self.plan("data.format=AUTO", "batch.global=5", "model.set=router_z_weight=0.1", *layout,
                                 job=MIXTRAL), 4, "--metrics", self.path("m.jsonl"))
            return losses(self.path("m.jsonl"))

        # The z-loss is one mean over the tokens, however they are cut; balance is a product of such.
        for cut in ("batch.micro=2", "batch.micro=3"):
            for a, b in zip(train(cut, "model.set=balance_weight=0"), train("batch.micro=5", "model.set=balance_weight=0")):
                self.assertLess(relative(a, b), 2e-5, cut)
            one = train(cut)
            for layout in (("dist.data=2",), ("dist.expert=2",), ("dist.pipeline=2",)):
                for a, b in zip(train(cut, *layout), one):
                    self.assertLess(relative(a, b), 2e-5, (cut, layout))

    def test_a_capacity_that_drops_none_is_no_capacity(self):
        def train(*form):
            self.train(self.plan("data.format=AUTO", *form, job=MIXTRAL), 4, "--metrics", self.path("m.jsonl"))
            return losses(self.path("m.jsonl"))

        for a, b in zip(train(*FORMS[1], "model.set=capacity=seq"), train()):
            self.assertLess(relative(a, b), 1e-5)

    def test_files_have_a_tensor_for_each_expert_as_hugging_face(self):
        shapes = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN],
                  "lm_head.weight": [VOCAB, HIDDEN]}
        for layer in range(LAYERS):
            prefix = f"model.layers.{layer}."
            for name, shape in {
                    "input_layernorm": [HIDDEN], "post_attention_layernorm": [HIDDEN],
                    "self_attn.q_proj": [HIDDEN, HIDDEN], "self_attn.o_proj": [HIDDEN, HIDDEN],
                    "self_attn.k_proj": [HIDDEN * KV_HEADS // HEADS, HIDDEN],
                    "self_attn.v_proj": [HIDDEN * KV_HEADS // HEADS, HIDDEN],
                    "block_sparse_moe.gate": [EXPERTS, HIDDEN]}.items():
                shapes[f"{prefix}{name}.weight"] = shape
            for expert in range(EXPERTS):
                for name, shape in {"w1": [INNER, HIDDEN], "w2": [HIDDEN, INNER], "w3": [INNER, HIDDEN]}.items():
                    shapes[f"{prefix}block_sparse_moe.experts.{expert}.{name}.weight"] = shape

        def save(steps, *flags, layout=()):
            folder = tempfile.mkdtemp(dir=self.folder)
            self.train(self.plan("data.format=AUTO", *layout, job=MIXTRAL), steps, "--seed", 3, "--checkpoint-dir", folder, *flags)
            return f"{folder}/step-{steps:08d}/"

        first = save(0)
        self.assertEqual({name: t.shape for name, t in read_safetensors(first + "model.safetensors")[0].items()}, shapes)
        whole = {file: raw_safetensors(first + file) for file in ("model.safetensors", "optimizer.safetensors")}
        for name in shapes:
            self.assertTrue(any(name in key for key in whole["optimizer.safetensors"]), name)
        for layout in (("dist.expert=4",), ("dist.expert=2", "dist.tensor=2"), ("dist.expert=2", *FORMS[1]),
                       ("dist.data=2", "dist.expert=2", "zero.stage=3")):
            folder = save(0, layout=layout)
            for file, tensors in whole.items():
                self.assertEqual(raw_safetensors(folder + file), tensors, (layout, file))
            trained = save(1, layout=layout) + "model.safetensors"
            again = save(0, "--init", trained, layout=("dist.tensor=2",)) + "model.safetensors"
            self.assertEqual(raw_safetensors(again), raw_safetensors(trained), layout)
            self.assertNotEqual(raw_safetensors(trained), whole["model.safetensors"])
            form = [key for key in layout if key.startswith("model.")]
            self.train(self.plan("data.format=AUTO", "dist.tensor=2", *form, job=MIXTRAL), 2, "--checkpoint-dir",
                       os.path.dirname(os.path.dirname(trained)), "--resume")


if __name__ == "__main__":
    main()
