#!/usr/bin/env python3
"""Random numbers of a graph belong to places in the whole batch: neither micro-batches nor ranks change them."""
import os
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, losses, main, relative  # noqa: E402

MODEL = """
model.import "%s/models/layers.mlir"
model.config @seq = 64

model.graph @train(%%tokens [batch, seq] i32, %%labels [batch, seq] i32) {
  %%x, %%table = model.call @embedding "embedding" (%%tokens) [256, 32, 0.5]
  %%0 = weft.random_uniform [batch, seq, 32] low(-1.0) high(1.0)
  %%1 = weft.random_normal [batch, seq, 32] mean(0) std(1.0)
  %%2 = weft.add %%x, %%0
  %%3 = weft.mul %%2, %%1
  %%4 = model.call @linear "linear" (%%3) [32, 256, B, B, 0.5]
  %%loss, %%count = weft.cross_entropy %%4, %%labels
  weft.minimize %%loss per %%count
}
"""
JOB = """
model { file: "noise.mlir" graph: "train" }
batch { global: 8 micro: 8 }
optimizer { adam { lr: 1e-2 } }
data { format: AUTO order: SEQUENTIAL }
seed: 1
"""


class NoiseTest(ProgramTest):
    def test_noise_is_that_of_the_whole_batch(self):
        self.write("noise.mlir", MODEL % os.getcwd())
        job = self.write("noise.job", JOB)

        def train(*keys):
            self.train(self.plan(*keys, job=job), 4, "--metrics", self.path("m.jsonl"))
            return losses(self.path("m.jsonl"))

        one = train()
        for keys in (("batch.micro=1",), ("batch.micro=2",), ("batch.micro=4", "dist.data=2"),
                     ("dist.data=2", "dist.tensor=2"), ("dist.pipeline=2", "batch.micro=2"), ("dist.context=2",)):
            for a, b in zip(train(*keys), one):
                self.assertLess(relative(a, b), 1e-6, keys)
        other = train("seed=2")
        self.assertGreater(relative(other[0], one[0]), 1e-4)  # a hundred times as much


if __name__ == "__main__":
    main()
