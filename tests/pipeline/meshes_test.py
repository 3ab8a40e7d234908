#!/usr/bin/env python3
"""Stages of other meshes than their neighbours, and models cut elsewhere than by cost: the losses of one rank."""
import sys

sys.path.insert(0, "tests/pipeline")
from pipelines import SCHEDULES, PipelineTest, cut  # noqa: E402
from programs import main  # noqa: E402

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

    def test_chunks_of_one_stage(self):
        self.check("schedule: INTERLEAVED chunks: 2", 1)

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
