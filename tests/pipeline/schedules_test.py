#!/usr/bin/env python3
"""One schedule, named on the command line, on every mesh that fits eight ranks: the losses and parameters of one rank."""
import sys

sys.path.insert(0, "tests/pipeline")
from pipelines import SCHEDULES, PipelineTest, cut, meshes, order_in_waves  # noqa: E402
from programs import main  # noqa: E402

SCHEDULE = sys.argv.pop(1)


class SchedulesTest(PipelineTest):
    def schedule(self, stages, micro_batches):
        if SCHEDULE != "file":
            return SCHEDULES[SCHEDULE]
        path = self.write(f"{stages}x{micro_batches}.txt", order_in_waves(stages, micro_batches))
        return ("pipeline.schedule_file=" + path,)

    def check(self, micro_batches):
        for stages, data, tensor in meshes():
            with self.subTest(stages=stages, data=data, tensor=tensor):
                overrides = cut(stages, micro_batches, data, tensor) + self.schedule(stages, micro_batches)
                self.compare(self.outcome(*overrides), self.one_rank(micro_batches))

    def test_four_micro_batches(self):
        self.check(4)

    def test_eight_micro_batches(self):
        self.check(8)


if __name__ == "__main__":
    main()
