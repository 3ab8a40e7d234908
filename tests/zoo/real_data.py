"""Trains the tiny jobs of models/ on real data, in one rank, on 2 x 2 ranks and in two stages."""
import functools
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, losses, relative  # noqa: E402

STEPS = 30
# Steps that layouts are compared in. Rounding differs between them, and a training at these rates makes more of it with each
# step: sooner or later a number before a ReLU is below 0 in one layout and above in another.
COMPARED = 20
BATCH = 32
LAYOUTS = (("dist.data=2", "dist.tensor=2"), ("dist.pipeline=2", "batch.micro=8"))


class RealDataTest(ProgramTest):
    def trained(self, model, data, *keys, steps=STEPS, set=()):
        """Losses of a short run, with the schedule's warm-up a third of it; its checkpoint is at `path(model)`."""
        path = self.path("losses.jsonl")
        sizes = [f"model.set={it}" for it in set]
        plan = self.plan(f"batch.global={BATCH}", f"batch.micro={BATCH}", "optimizer.schedule.warmup_cosine.warmup=10", *sizes,
                         *keys, job=f"models/{model}/tiny.job")
        self.train(plan, steps, "--metrics", path, "--checkpoint-dir", self.path("-".join((model, *keys))), data=data)
        return losses(path)

    def expect_layouts_agree(self, model, data, micro_batches_count=False, fall=0.95, set=(), compared=COMPARED, keys=()):
        """The first losses, `compared` of them, are those of one rank, and these fall, to `fall` of what they were.
        `micro_batches_count`: statistics are those of a micro-batch, so that a layout of several is compared with one rank that
        has as many."""
        one = self.trained(model, data, *keys, set=set)
        self.assertLess(sum(one[-5:]), fall * sum(one[:5]), model)
        for layout in LAYOUTS:
            with self.subTest(model=model, layout=layout):
                micro = tuple(key for key in layout if key.startswith("batch."))
                run = functools.partial(self.trained, model, data, *keys, steps=compared, set=set)
                alike = run(*micro) if micro and micro_batches_count else one
                for step, (a, b) in enumerate(zip(run(*layout), alike)):
                    self.assertLess(relative(a, b), 1e-4, step)
