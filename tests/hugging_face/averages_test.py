#!/usr/bin/env python3
"""Moving averages go out in place of the parameters that they follow."""
import os
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import TOKENS, contents, main, raw_safetensors  # noqa: E402

FOLDER = "tests/hugging_face/gpt2"
AVERAGED = """
model.import "MODELS/averages.mlir"
model.graph @train_averaged(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %logits = model.call @gpt2 (%tokens) [dropout]
  %m = model.call @constant_momentum "momentum" () [0.5]
  %unused = model.call @gpt2 "average" (%tokens) [0.0] averages "" momentum(%m)
  %loss, %count = weft.cross_entropy %logits, %labels
  weft.minimize %loss per %count
}
"""


class AveragesTest(FaultTest):
    def setUp(self):
        super().setUp()
        models = os.path.abspath("models")
        text = contents("models/gpt2/gpt2.mlir").decode().replace('"../', f'"{models}/')
        self.write("gpt2.mlir", text + AVERAGED.replace("MODELS", models))
        job, plan = self.path("a.job"), self.path("a.plan")
        self.run_ok("weft-import", FOLDER, "-o", job, "--models", "models", "--seq", 16)
        self.run_ok("weft-compile", job, "model.file=" + self.path("gpt2.mlir"), "model.graph=train_averaged", "-o", plan, "--quiet")
        self.runs = self.path("runs")
        self.train(plan, 3, "--init", FOLDER, "--init-partial", "--checkpoint-dir", self.runs)

    def exported(self, name, *flags):
        out = self.path(name)
        self.run_ok("weft-export", self.runs, "-o", out, "--models", "models", "--quiet", *flags)
        return raw_safetensors(out + "/model.safetensors")

    def test_averages_in_place_of_what_they_follow(self):
        saved = raw_safetensors(self.runs + "/step-00000003/model.safetensors")
        averages = {name[len("average."):]: tensor for name, tensor in saved.items() if name.startswith("average.")}
        self.assertIn("h.0.attn.c_attn.weight", averages)
        trained, averaged = self.exported("trained"), self.exported("averaged", "--averages", "average")
        prefix = next(name for name in averaged if name.endswith("wte.weight"))[:-len("wte.weight")]
        for name, tensor in averages.items():
            self.assertEqual(averaged[prefix + name], tensor)
            self.assertEqual(trained[prefix + name], saved[name])
            self.assertNotEqual(tensor, saved[name], name)
        self.assertEqual([name for name in averaged if "average." in name], [])
        self.assertEqual(averaged[prefix + "momentum.steps"], saved["momentum.steps"])  # of which there is no average

    def test_refused(self):
        path = self.runs + "/step-00000003"
        for scope, line in (("slow", f"--averages: {path}: expected tensors `slow.NAME`, found none"),
                            ("h.0", f"--averages: {path}: `h.0.attn.c_attn.bias`: expected `attn.c_attn.bias` of the same shape "
                             "beside it, found none")):
            self.refused("weft-export", self.runs, "-o", self.path("out"), "--models", "models", "--averages", scope, line=line)


if __name__ == "__main__":
    main()
