#!/usr/bin/env python3
"""Stages of other meshes than their neighbours, and models cut elsewhere than by cost: the losses of one rank."""
import struct
import sys

sys.path.insert(0, "tests/pipeline")
from pipelines import DEEP, SCHEDULES, PipelineTest, cut  # noqa: E402
from programs import losses, main, raw_safetensors, relative, write_safetensors  # noqa: E402

def stages(*meshes):
    return "stages: " + " stages: ".join("{%s}" % mesh for mesh in meshes)


class MeshesTest(PipelineTest):
    def check(self, pipeline, count, micro_batches=4):
        overrides = cut(count, micro_batches) + ("pipeline={%s}" % pipeline,)
        self.compare(self.outcome(*overrides), self.one_rank(micro_batches))

    def test_tensor_then_data(self):
        self.check(stages("tensor: 2", "data: 4"), 2)

    def test_data_then_tensor(self):
        self.check("schedule: GPIPE " + stages("data: 4", "tensor: 2"), 2)

    def test_one_then_both(self):
        self.check(stages("", "data: 2 tensor: 2", "tensor: 2", ""), 4)

    def test_context_too(self):
        self.check(stages("context: 2 tensor: 2", "data: 4"), 2)

    def test_chunks_that_go_round(self):
        self.check("schedule: INTERLEAVED " + stages("tensor: 2", "data: 2"), 2)

    def test_chunks_in_a_v(self):
        self.check("schedule: ZERO_BUBBLE form: V " + stages("data: 2", "tensor: 2"), 2)

    def test_uneven_cuts(self):
        self.check('cuts: ["h.1", "h.2", "ln_f"]', 4)

    def test_as_many_chunks_as_there_are_layers(self):
        self.check("schedule: INTERLEAVED chunks: 5", 2)

    def test_stages_of_the_model_file(self):
        pinned = ("model.file=pinned.mlir", "model.graph=pinned")
        one = self.outcome(*pinned)
        self.compare(self.outcome(*pinned, "dist.pipeline=4"), one)
        self.compare(self.outcome(*pinned, "dist.pipeline=4", "dist.data=2", "pipeline.schedule=GPIPE"), one)
        self.compare(self.outcome(*pinned, "dist.pipeline=2", "pipeline={schedule: ZERO_BUBBLE form: V}"), one)
        self.compare(self.outcome(*pinned, "dist.pipeline=2", "pipeline.cuts=h.3"), one)

    def test_pins_of_the_job(self):
        """Parameters lie elsewhere than where the model pins them."""
        pins = [f'graph.pin={{parameter: "{parameter}" axis: "tensor" state: "{state}"}}'
                for parameter, state in (("*", "B"), ("h.*.mlp.c_fc.weight", "S(0)"), ("h.*.ln_1.*", "S(0)"),
                                         ("wpe.weight", "S(1)"), ("h.*.attn.c_proj.bias", "S(0)"))]
        self.compare(self.outcome(*cut(2, 4, 2, 2), *pins), self.one_rank(4))

    def test_bfloat16(self):
        narrow = ("precision.compute=BF16", "batch.micro=4")
        one = self.outcome(*narrow)
        for schedule, overrides in SCHEDULES.items():
            with self.subTest(schedule=schedule):
                # Until the gradients' norm is summed in another order, and its last bit rounds activations the other way:
                # any logit by 2^-9 of it, of which the loss is a mean over 256 labels.
                many = self.outcome(*narrow, "dist.pipeline=2", *overrides)[0]
                self.assertEqual(many[0], one[0][0])
                for step, (a, b) in enumerate(zip(many, one[0])):
                    self.assertLess(relative(a, b), 2 ** -9 / 16, f"step {step}")

    def test_goes_on_in_another_pipeline(self):
        """Two steps in each of three layouts, with one checkpoint between them."""
        flags = ("--checkpoint-dir", self.path("parts"), "--resume")
        layouts = (cut(4, 8), (*cut(2, 8, 1, 2), *SCHEDULES["v"]), ("batch.micro=2",))
        for i, layout in enumerate(layouts):
            self.train(self.plan(*layout, job=DEEP), 2 * (i + 1), *flags, "--metrics", self.path("parts.jsonl"))
        for step, (a, b) in enumerate(zip(losses(self.path("parts.jsonl")), self.one_rank(8)[0])):
            self.assertLess(relative(a, b), 2e-5, f"step {step}")

    def test_a_function(self):
        """Not trained: forwards alone, through three stages."""
        tokens = struct.pack("<128i", *(7 * i % 256 for i in range(128)))
        inputs = self.path("in.safetensors")
        write_safetensors(inputs, {"tokens": ("I32", [4, 32], tokens)})
        outputs = []
        for layout in ((), ("dist.pipeline=3",), ("dist.pipeline=2", "dist.tensor=2")):
            plan = self.plan("model.graph=logits", "batch={global: 4}", *layout, job=DEEP)
            path = self.path(f"out{len(outputs)}.safetensors")
            self.run_ok("weft-run", plan, "--inputs", inputs, "--outputs", path, "--threads", 1, "--quiet")
            outputs.append(raw_safetensors(path)["logits"])
        self.assertEqual(outputs[1], outputs[0])
        self.near("logits", outputs[2], outputs[0])

    def test_fewer_micro_batches_than_stages(self):
        for schedule, overrides in SCHEDULES.items():
            with self.subTest(schedule=schedule):
                self.compare(self.outcome(*cut(4, 2), *overrides), self.one_rank(2))

    def test_one_micro_batch(self):
        for schedule, overrides in SCHEDULES.items():
            with self.subTest(schedule=schedule):
                self.compare(self.outcome(*cut(2, 1), *overrides), self.one_rank(1))


if __name__ == "__main__":
    main()
