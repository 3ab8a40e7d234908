#!/usr/bin/env python3
"""Computing again saves memory, and AUTO does so only as far as it must."""
import json
import sys

sys.path.insert(0, "tests/support")
from programs import JOB, ProgramTest, call, main  # noqa: E402

LAYERS = 4
# Activations outweigh parameters and their gradients by far.
LARGE = (f"model.set=layers={LAYERS}", "model.set=dropout=0.1", "batch.micro=16", "batch.global=16")
NAMES = [f"h.{i}" for i in range(LAYERS)]
ASKED = {"NONE": (), "SELECTIVE": ("recompute.policy=SELECTIVE",), "FULL": ("recompute.policy=FULL",)}

# Two stages of different size: only the first one needs to save.
TWO_STAGES = """
model.config @hidden = 64
model.layer @block(%x) [inner] {
  %w = weft.parameter "w" [hidden, inner] init(normal 0.02)
  %v = weft.parameter "v" [inner, hidden] init(normal 0.02)
  %0 = weft.einsum "bh,hi->bi" %x, %w
  %1 = weft.gelu %0
  %2 = weft.einsum "bi,ih->bh" %1, %v
  %3 = weft.add %x, %2
  model.return %3
}
model.graph @train(%tokens [batch, 256] i32, %labels [batch, 256] i32) {
  %table = weft.parameter "table" [256, hidden] init(normal 0.02)
  %tokens_there = weft.to_global %tokens placement("cpu", [[0]])
  %0 = weft.embedding %tokens_there, %table
  %1 = weft.reshape %0 [batch * 256, hidden]
  %2 = model.repeat 3 "a" @block(%1) [1024]
  %3 = weft.to_global %2 placement("cpu", [[1]])
  %4 = model.repeat 2 "b" @block(%3) [256]
  %head = weft.parameter "head" [hidden, 256] init(normal 0.02)
  %5 = weft.einsum "bh,hv->bv" %4, %head
  %6 = weft.reshape %5 [batch, 256, 256]
  %labels_there = weft.to_global %labels placement("cpu", [[1]])
  %loss, %count = weft.cross_entropy %6, %labels_there
  weft.minimize %loss per %count
}
"""
TWO_STAGES_JOB = 'model { file: "two.mlir" } batch { global: 4 } optimizer { sgd { lr: 0.1 } }'


class MemoryTest(ProgramTest):
    def show(self, plan):
        return json.loads(self.run_ok("weft-plan", "show", plan, "--json").out)

    def arenas(self, plan):
        return [stage["memory"]["arena_bytes"] for stage in self.show(plan)["stages"]]

    def policies(self, plan):
        return self.show(plan)["header"]["recompute"]

    def cluster(self, memory):
        return "cluster=" + self.write(f"{memory}.cluster", f'device {{ kind: "cpu" memory_bytes: {memory} }}\n'
                                                            'node { count: 1 ranks: 4 }\n')

    def auto(self, memory, *overrides, job=JOB):
        """The plan of AUTO, which fits, and what the compiler says."""
        plan = self.path("auto.plan")
        said = self.run_ok("weft-compile", job, *overrides, "recompute.policy=AUTO", self.cluster(memory), "-o", plan)
        for arena in self.arenas(plan):
            self.assertLessEqual(arena, memory)
        return plan, said.out

    def test_each_policy_needs_less_than_the_one_before(self):
        for layout in ((), ("dist.data=2", "dist.tensor=2"), ("batch.global=32",)):
            plans = {policy: self.plan(*LARGE, *layout, *asked) for policy, asked in ASKED.items()}
            none, selective, full = (self.arenas(plan)[0] for plan in plans.values())
            self.assertLess(selective, 0.95 * none, layout)
            self.assertLess(full, 0.8 * selective, layout)
            for policy in ("SELECTIVE", "FULL"):
                self.assertEqual(self.policies(plans[policy]), dict.fromkeys(NAMES, policy))
            self.assertEqual(self.policies(plans["NONE"]), {})

    def test_useful_work_stays_and_predicted_time_grows(self):
        plans = [self.show(self.plan(*LARGE, *asked)) for asked in ASKED.values()]
        self.assertEqual(len({plan["header"]["flops_per_step"] for plan in plans}), 1)
        none, selective, full = (plan["prediction"]["step_s"] for plan in plans)
        self.assertLess(none, selective)
        self.assertLess(selective, full)
        self.assertLess(full, 1.4 * none)  # a third of a step is forward

    def test_auto_computes_again_as_little_as_fits(self):
        none, selective, full = (self.arenas(self.plan(*LARGE, *asked))[0] for asked in ASKED.values())
        plan, said = self.auto(none, *LARGE)
        self.assertEqual(self.policies(plan), dict.fromkeys(NAMES, "NONE"))
        self.assertIn("computed again for the backward: AUTO: nothing\n", said)
        # As few layers as it takes: one less needs more than there is.
        for memory, less, more in ((none - 1, "NONE", "SELECTIVE"), ((none + selective) // 2, "NONE", "SELECTIVE"),
                                   (selective, "NONE", "SELECTIVE"), ((selective + full) // 2, "SELECTIVE", "FULL"),
                                   (full, "SELECTIVE", "FULL")):
            with self.subTest(memory=memory):
                plan, said = self.auto(memory, *LARGE)
                chosen = list(self.policies(plan).values())
                count = chosen.count(more)
                self.assertIn(count, range(1, LAYERS + 1))
                self.assertEqual(chosen, [more] * count + [less] * (LAYERS - count))
                rest = ", SELECTIVE in " if more == "FULL" and count < LAYERS else "\n"
                text = f"AUTO: {more} in {'h.0' if count == 1 else f'h.0 to h.{count - 1}'}{rest}"
                self.assertIn(text, said)
                self.assertIn(text.strip(), self.run_ok("weft-plan", "show", plan).out)
                pins = [f'recompute.layers={{scope: "{name}" policy: {more}}}' for name in NAMES[:count - 1]]
                self.assertGreater(self.arenas(self.plan(*LARGE, f"recompute.policy={less}", *pins))[0], memory)

    def gathers(self, plan, phase):
        """Layers with gathers among the work of a phase, once for each."""
        return sorted(actor["name"].split("." + phase)[0] for stage in self.show(plan)["stages"]
                      for actor in stage["actors"] if "." + phase in actor["name"]
                      for collective in actor.get("collectives", []) if collective["kind"] == "all_gather")

    def test_what_is_gathered_is_gathered_again(self):
        # The inputs of a layer's first and third product. A rank keeps half of a layer's input in their place.
        layout = ("dist.tensor=2", "model.set=dropout=0", "batch.micro=16", "batch.global=16")
        slow = "cluster=" + self.write("slow.cluster", 'device { kind: "cpu" }\nnode { count: 1 ranks: 2 link_bytes_s: 1e8 }\n')
        plans = {policy: self.plan(*layout, f"recompute.policy={policy}") for policy in ASKED}
        self.assertEqual(self.gathers(plans["NONE"], "recompute"), [])
        for policy in ("SELECTIVE", "FULL"):
            self.assertEqual(self.gathers(plans[policy], "recompute"), ["h.0", "h.0", "h.1", "h.1"])
        # Where the link is slow, it is FULL alone that does so.
        for policy, layers in (("SELECTIVE", []), ("FULL", ["h.0", "h.0", "h.1", "h.1"])):
            self.assertEqual(self.gathers(self.plan(*layout, slow, f"recompute.policy={policy}"), "recompute"), layers)
        none, selective, _ = (self.arenas(plan)[0] for plan in plans.values())
        gathered = 16 * 64 * 64 * 4
        self.assertLess(selective, none - 2 * gathered)

    def test_a_split_backward_gathers_where_weights_are_done(self):
        layout = ("dist.tensor=2", "dist.pipeline=2", "batch.micro=4", "batch.global=16", "recompute.policy=SELECTIVE")
        plan = self.plan(*layout, "pipeline.schedule=ZERO_BUBBLE")
        # What the second stage begins with arrives whole.
        self.assertEqual(self.gathers(plan, "weight"), ["h.0", "h.0", "h.1"])
        self.assertEqual(self.gathers(plan, "recompute"), [])
        self.assertEqual(self.gathers(self.plan(*layout), "recompute"), ["h.0", "h.0", "h.1"])

    def test_auto_leaves_pinned_layers_alone(self):
        none = self.arenas(self.plan(*LARGE))[0]
        pins = ('recompute.layers={scope: "h.1" policy: NONE}', 'recompute.layers={scope: "h.3" policy: FULL}')
        plan, _ = self.auto(none, *LARGE, *pins)
        self.assertEqual(self.policies(plan), {"h.0": "NONE", "h.1": "NONE", "h.2": "NONE", "h.3": "FULL"})
        pinned = self.arenas(plan)[0]
        plan, _ = self.auto(pinned - 1, *LARGE, *pins)
        self.assertEqual(self.policies(plan), {"h.0": "SELECTIVE", "h.1": "NONE", "h.2": "NONE", "h.3": "FULL"})
        plan, _ = self.auto(self.arenas(plan)[0] - 1, *LARGE, *pins)
        self.assertEqual(self.policies(plan), {"h.0": "SELECTIVE", "h.1": "NONE", "h.2": "SELECTIVE", "h.3": "FULL"})

    def test_what_does_not_fit_at_all_is_refused(self):
        result = call("weft-compile", JOB, *LARGE, "recompute.policy=AUTO", self.cluster(1000000), "-o",
                      self.path("a.plan"))
        self.assertEqual(result.status, 2)
        self.assertIn("the plan does not fit: stage 0: memory of a rank: expected at most 1,000,000 bytes", result.err)
        # What is refused is the plan that needs least.
        full = self.arenas(self.plan(*LARGE, "recompute.policy=FULL"))[0]
        self.assertIn(f"got {full:,} (", result.err)

    def test_auto_without_a_limit_keeps_everything(self):
        plan = self.plan(*LARGE, "recompute.policy=AUTO")
        self.assertEqual(self.policies(plan), dict.fromkeys(NAMES, "NONE"))

    def test_auto_decides_stage_by_stage(self):
        self.write("two.mlir", TWO_STAGES)
        job = self.write("two.job", TWO_STAGES_JOB)
        first, second = self.arenas(self.plan(job=job))
        self.assertLess(second, first)
        plan, _ = self.auto(first - 1, job=job)
        chosen = self.policies(plan)
        self.assertEqual([chosen["b.0"], chosen["b.1"]], ["NONE", "NONE"])
        self.assertEqual([chosen[name] for name in ("a.0", "a.1", "a.2")], ["SELECTIVE", "NONE", "NONE"])

    def test_a_pinned_scope_must_be_a_layer(self):
        result = call("weft-compile", JOB, 'recompute.layers={scope: "h.7" policy: FULL}', "-o", self.path("a.plan"))
        self.assertEqual(result.status, 2)
        self.assertIn("error: recompute.layers: expected a layer (h.0, h.1), got h.7", result.err)
        function = ("model.graph=logits", 'recompute.layers={scope: "h.1" policy: FULL}')
        self.assertEqual(self.policies(self.plan(*function)), {})  # nothing to compute again, and no error

    def test_a_model_without_layers_says_so(self):
        said = self.run_ok("weft-compile", "models/mlp/mlp.job", "recompute.policy=FULL", "-o", self.path("a.plan"))
        self.assertIn("computed again for the backward: nothing, for the model has no layers\n", said.out)


if __name__ == "__main__":
    main()
