#!/usr/bin/env python3
"""Attention over a sequence that is split along `context`: its heads are split in its place, by all-to-alls, or keys and
values are gathered, or they go round. The cost model says which; all train as one rank does."""
import json
import random
import re
import struct
import sys

sys.path.insert(0, "tests/support")
from programs import JOB, TOKENS, ProgramTest, losses, main, relative, write_safetensors  # noqa: E402

LLAMA = "models/llama/tiny.job"
MIXTRAL = "models/mixtral/tiny.job"
STEPS = 3
# One sequence a micro-batch, so that there is nothing to split but the sequence and the heads.
ONE_SEQUENCE = ("batch.micro=1", "batch.global=2", "data.format=AUTO")
FAST_LINKS = 'device { kind: "cpu" }\nnode { count: 1 ranks: 8 link_bytes_s: 1e12 latency_s: 1e-9 }\n'
HEADS, KEYS, RING, ZIGZAG = {"all_to_all"}, {"all_gather"}, {"shift"}, {"shift", "zigzag"}
# The job, its layout, whether links are fast, and what moves in front of attention. Where messages cost their latency, two
# gathers are cheaper than four all-to-alls, and one of what keys and values are made of is cheaper still where those are few
# heads. Two heads of keys cannot be split over four ranks.
LAYOUTS = [
    (JOB, ("dist.context=2",), True, HEADS),
    (JOB, ("dist.context=4",), True, HEADS),
    (JOB, ("dist.context=2", "dist.pipeline=2"), True, HEADS),
    (JOB, ("dist.context=2", "dist.tensor=2"), True, HEADS),
    (JOB, ("dist.context=2", "recompute.policy=SELECTIVE"), True, HEADS),
    (JOB, ("dist.context=2", "recompute.policy=FULL"), True, HEADS),
    (JOB, ("dist.context=2",), False, KEYS),
    (JOB, ("dist.context=4",), False, KEYS),
    (LLAMA, ("dist.context=2",), True, HEADS),
    (LLAMA, ("dist.context=2", "dist.tensor=2"), True, HEADS),
    (LLAMA, ("dist.context=4",), True, KEYS),
    (LLAMA, ("dist.context=2",), False, KEYS),
]
LAYOUTS = [(job, ("graph.ring=NEVER", *layout), fast, kind) for job, layout, fast, kind in LAYOUTS]
# Pinned, with everything beside it.
LAYOUTS += [(job, ("graph.ring=ALWAYS", *layout), fast, ZIGZAG if fast else RING) for job, layout, fast in [
    (JOB, ("dist.context=2",), False),
    (JOB, ("dist.context=2",), True),
    (JOB, ("dist.context=4",), True),
    (JOB, ("dist.context=2", "dist.pipeline=2", "pipeline.schedule=ZERO_BUBBLE"), True),
    (JOB, ("dist.context=4", "recompute.policy=SELECTIVE"), True),
    (JOB, ("dist.context=2", "recompute.policy=FULL"), True),
    (LLAMA, ("dist.context=4", "dist.tensor=2"), True),
    (MIXTRAL, ("dist.context=4",), True),
    (JOB, ("dist.context=2", "dist.pipeline=2"), False),
    (JOB, ("dist.context=2", "dist.pipeline=2", "pipeline.schedule=ZERO_BUBBLE"), False),
    (JOB, ("dist.context=2", "dist.tensor=2"), False),
    (JOB, ("dist.context=4", "recompute.policy=SELECTIVE"), False),
    (JOB, ("dist.context=2", "recompute.policy=FULL"), False),
    (JOB, ("dist.context=2", "dist.data=2", "batch.micro=2", "zero.stage=3"), False),
    (LLAMA, ("dist.context=2",), False),
    (LLAMA, ("dist.context=4", "dist.tensor=2"), False),
    (MIXTRAL, ("dist.context=2",), False),
    (MIXTRAL, ("dist.context=4",), False),
]]


class LongSequencesTest(ProgramTest):
    def losses_of(self, plan, data=TOKENS):
        path = self.path("m.jsonl")
        self.train(plan, STEPS, "--metrics", path, data=data)
        return losses(path)

    def records(self, name, length, **more):
        """A file of 8 records with tokens and labels; `more` are functions of record and place, behind their types."""
        dice = random.Random(1)
        tokens = ("I32", lambda i, j: dice.randrange(256))
        kinds = {"I32": "i", "U8": "B", "F32": "f"}
        tensors = {}
        for tensor, (dtype, value) in {"tokens": tokens, "labels": tokens, **more}.items():
            numbers = [value(i, j) for i in range(8) for j in range(length)]
            tensors[tensor] = (dtype, [8, length], struct.pack(f"<{len(numbers)}{kinds[dtype]}", *numbers))
        write_safetensors(self.path(name), tensors)
        return self.path(name)

    def bytes_of(self, plan):
        """The bytes of a rank."""
        return json.loads(self.run_ok("weft-plan", "memory", plan, "--json").out)["stages"][0]["arena_bytes"]

    def moved(self, plan):
        """The kinds of collectives over `context` in front of the first attention."""
        stage = json.loads(self.run_ok("weft-plan", "show", plan, "--json").out)["stages"][0]
        context = [axis["name"] for axis in stage["placement"]["axes"]].index("context")
        return {collective["kind"] for actor in stage["actors"] if ".0.forward" in "." + actor["name"]
                for collective in actor.get("collectives", [])
                if collective["axes"] == [context] and re.search(r"\.0\.(self_)?attn(\.[kq]_proj)?$", collective["location"])}

    def test_either_way_trains_as_one_rank_does(self):
        for job, layout, fast, kind in LAYOUTS:
            with self.subTest(job=job, layout=layout, fast=fast):
                cluster = ("cluster=" + self.write("fast.cluster", FAST_LINKS),) if fast else ()
                plan = self.plan(*ONE_SEQUENCE, *layout, *cluster, job=job)
                self.assertEqual(self.moved(plan), kind)
                one, many = self.losses_of(self.plan(*ONE_SEQUENCE, job=job)), self.losses_of(plan)
                for a, b in zip(many, one):
                    self.assertLess(relative(a, b), 2e-5)

    def test_sixteen_thousand_tokens(self):
        keys = ("model.set=seq=16384", "model.set=layers=1", "batch.micro=1", "batch.global=1", "data.format=AUTO")
        plan = self.plan(*keys, job=LLAMA)
        one, whole = self.losses_of(plan), self.bytes_of(plan)
        for layout in (("dist.context=4", "graph.ring=ALWAYS"), ("dist.context=4", "graph.ring=NEVER"),
                       ("dist.context=2", "dist.tensor=2")):
            with self.subTest(layout=layout):
                plan = self.plan(*keys, *layout, job=LLAMA)
                self.assertLess(self.bytes_of(plan), 0.4 * whole)
                for a, b in zip(self.losses_of(plan), one):
                    self.assertLess(relative(a, b), 2e-5)

    def test_products_keep_their_part_of_the_sequence(self):
        # Gradients of weights are summed once a step, which is less than the whole sequence for each product.
        plan = self.plan("dist.context=8", "batch.micro=1", "batch.global=8", "model.set=layers=3", "precision.compute=BF16",
                         "cluster=../../clusters/8xh200.cluster", job="models/llama/8b.job")
        made = re.search(r"-> \(model\.layers\.1\.mlp\.gate_proj/einsum\.\d+ bf16\[([\d,]+)\]",
                         self.run_ok("weft-plan", "show", "--kernels", plan).out)
        self.assertEqual(made[1], "1,1024,14336")

    def test_documents_biases_and_padding_go_round(self):
        # Masks of rows by keys; T5's biases, which are trained, attention over another sequence, and padding.
        documents = self.records("documents.safetensors", 64, documents=("I32", lambda i, j: (j + 3 * i) // 20),
                                 positions=("I32", lambda i, j: (j + 3 * i) % 20), loss_mask=("F32", lambda i, j: 1))
        padded = self.records("padded.safetensors", 128, mask=("U8", lambda i, j: j < 100 + i))
        for job, data, keys in [("models/gpt2/tiny.job", documents, ("model.graph=train_packed",)),
                                ("models/t5/tiny.job", padded, ())]:
            keys += ("batch.micro=2", "batch.global=2")
            one = self.losses_of(self.plan(*keys, job=job), data)
            for ranks in (2, 4):
                with self.subTest(job=job, ranks=ranks):
                    plan = self.plan(*keys, f"dist.context={ranks}", "graph.ring=ALWAYS", job=job)
                    self.assertIn("shift", self.run_ok("weft-plan", "show", plan).out)
                    for a, b in zip(self.losses_of(plan, data), one):
                        self.assertLess(relative(a, b), 2e-5)

    def test_keys_go_round_where_that_is_faster(self):
        # The 25 heads of GPT-2 XL cannot be split over 8 ranks. On NVLink shifts are hidden, gathers are not.
        job = ("models/gpt2/1.5b.job", "cluster=../../clusters/8xh200.cluster", "cluster.node.count=1", "dist.context=8",
               "batch.micro=1", "batch.global=1", "precision.compute=BF16", "model.set=seq=65536",
               "model.set=positions=65536", "model.set=layers=1")
        for heads, kind in [(25, ZIGZAG), (16, HEADS)]:
            with self.subTest(heads=heads):
                self.assertEqual(self.moved(self.plan(*job[1:], f"model.set=heads={heads}", job=job[0])), kind)

    def test_keys_go_round_where_that_leaves_heads_to_tensor_ranks(self):
        # By itself, the axis of the sequence would take the 16 heads, and leave none to the other one.
        job = ("cluster=../../clusters/8xh200.cluster", "cluster.node.count=8", "dist.context=8", "dist.tensor=8",
               "batch.micro=1", "batch.global=1", "precision.compute=BF16", "model.set=seq=32768",
               "model.set=positions=32768", "model.set=layers=1", "model.set=heads=16")
        plans = [self.plan(*job, f"graph.ring={ring}", job="models/gpt2/1.5b.job") for ring in ("CHEAPER", "NEVER")]
        self.assertIn("shift", self.moved(plans[0]))
        shown = [json.loads(self.run_ok("weft-plan", "show", plan, "--json").out) for plan in plans]
        seconds = [plan["prediction"]["step_s"] for plan in shown]
        self.assertLess(seconds[0], seconds[1])


if __name__ == "__main__":
    main()
