#!/usr/bin/env python3
"""A model of models/ that began in Weft goes out: its config.json is made of the job and the model file."""
import json
import os
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, contents, main, raw_safetensors  # noqa: E402


class ZooTest(ProgramTest):
    def exported(self, name):
        """The folder, and its config.json."""
        runs, out = self.path("runs-" + name), self.path(name)
        plan = self.plan(job=f"models/{name}/tiny.job")
        self.run_ok("weft-run", plan, "--data", "models/layers.mlir", "--steps", 1, "--quiet", "--checkpoint-dir", runs)
        self.run_ok("weft-export", runs, "-o", out, "--models", "models")
        self.assertEqual(sorted(os.listdir(out)), ["config.json", "model.safetensors"])
        self.assertEqual(sorted(os.listdir(runs + "/step-00000001")),
                         ["manifest.json", "model.safetensors", "optimizer.safetensors"])
        ours, theirs = (raw_safetensors(path + "/model.safetensors") for path in (runs + "/step-00000001", out))
        prefix = "transformer." if name == "gpt2" else ""
        self.assertEqual(theirs, {prefix + key: tensor for key, tensor in ours.items()})
        return out, json.loads(contents(out + "/config.json"))

    def test_gpt2(self):
        out, config = self.exported("gpt2")
        self.assertEqual(config, {
            "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": 2, "n_embd": 64, "n_head": 4,
            "vocab_size": 256, "n_positions": 64, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "n_inner": None,
            "torch_dtype": "float32"})
        self.run_ok("weft-import", out, "-o", self.path("again.job"), "--models", "models")

    def test_numbers_that_the_job_does_not_set(self):
        config = self.exported("llama")[1]
        self.assertEqual(config["rms_norm_eps"], 1e-5)  # of llama.mlir
        self.assertEqual(config["rope_theta"], 500000.0)
        self.assertIsNone(config["rope_scaling"])
        config = self.exported("mixtral")[1]
        self.assertEqual((config["num_local_experts"], config["num_experts_per_tok"]), (4, 2))
        self.assertEqual(config["router_aux_loss_coef"], 0.02)


if __name__ == "__main__":
    main()
