#!/usr/bin/env python3
"""Folders, weights and checkpoints that are not what they should be."""
import json
import os
import shutil
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import TOKENS, contents, main, raw_safetensors, read_safetensors, write_safetensors  # noqa: E402

HERE = "tests/hugging_face/"


class RefusedTest(FaultTest):
    def folder_of(self, name, **config):
        """A copy of a folder, with other values in its config.json; None takes one out."""
        folder = self.path(name)
        shutil.copytree(HERE + name, folder)
        for file in os.listdir(folder):  # the original is read-only
            os.chmod(f"{folder}/{file}", 0o644)
        values = {**json.loads(contents(folder + "/config.json")), **config}
        self.write(folder + "/config.json", json.dumps({key: value for key, value in values.items() if value is not None}))
        return folder

    def refused_import(self, folder, *flags, **expected):
        self.refused("weft-import", folder, "-o", self.path("a.job"), "--models", "models", *flags, **expected)

    def imported(self, folder, *overrides, flags=()):
        """The path of a plan of a folder's model."""
        self.run_ok("weft-import", folder, "-o", self.path("a.job"), "--models", "models", "--quiet", *flags)
        self.run_ok("weft-compile", self.path("a.job"), *overrides, "-o", self.path("a.plan"), "--quiet")
        os.remove(self.path("a.job"))
        return self.path("a.plan")

    # --- config.json

    def test_flags(self):
        folder = HERE + "gpt2"
        for arguments, line in (
                ([], "expected a folder (see --help)"),
                ([folder], "expected -o NAME.job (see --help)"),
                ([folder, "-o"], "-o: expected a value, got none (see --help)"),
                ([folder, "again", "-o", "a.job"], f"again: expected one, got also {folder} (see --help)"),
                ([folder, "-o", "a.job", "--fast"], "unknown argument --fast (see --help)"),
                ([folder, "-o", "a.job", "--seq", "many"], "--seq: expected a whole number above 0, got `many` (see --help)"),
                ([folder, "-o", "a.job", "--models", "docs"],
                 "--models: docs: expected a folder with layers.mlir, found none"),
                ([folder, "-o", "a.job", "--seq", "33"], "--seq: expected at most the model's 32 positions, got 33"),
                (["none", "-o", "a.job"], "none/config.json: expected a folder of Hugging Face, found no such file")):
            self.refused("weft-import", *arguments, line=line)
        job = self.write("there.job", "mine")
        self.refused("weft-import", folder, "-o", job, line=f"-o: {job}: expected a new file, found one")

    def test_what_a_model_file_cannot_say(self):
        for name, key, value, error in (
                ("gpt2", "model_type", "bloom", "model_type: expected gpt2 or llama or mistral or mixtral or bert or roberta "
                 "or t5 or vit or swin or vit_mae or convnext, got bloom"),
                ("gpt2", "activation_function", "relu", "activation_function: expected gelu_new or gelu_pytorch_tanh, got relu"),
                ("gpt2", "tie_word_embeddings", False, "tie_word_embeddings: expected true, got false"),
                ("gpt2", "scale_attn_by_inverse_layer_idx", True,
                 "scale_attn_by_inverse_layer_idx: expected false, got true"),
                ("gpt2", "layer_norm_epsilon", 1e-6, "layer_norm_epsilon: expected 1e-05, got 1e-06"),
                ("gpt2", "n_head", "four", "n_head: expected a whole number above 0, got four"),
                ("llama", "rope_scaling", {"rope_type": "yarn", "factor": 2.0},
                 "rope_scaling.rope_type: expected default or llama3, got yarn"),
                ("mistral", "tie_word_embeddings", True, "tie_word_embeddings: expected false, got true"),
                ("llama", "attention_bias", True, "attention_bias: expected false, got true"),
                ("llama", "mlp_bias", True, "mlp_bias: expected false, got true"),
                ("llama", "hidden_act", "gelu", "hidden_act: expected silu, got gelu"),
                ("llama", "quantization_config", {"bits": 4}, 'quantization_config: expected none, got {"bits":4}'),
                ("mistral", "sliding_window", 8, "sliding_window: expected none, or at least a sequence, 64, got 8"),
                ("bert", "position_embedding_type", "relative_key",
                 "position_embedding_type: expected absolute, got relative_key"),
                ("roberta", "type_vocab_size", 2, "type_vocab_size: expected 1, got 2"),
                ("t5", "feed_forward_proj", "gated-silu", "feed_forward_proj: expected relu or gated-gelu, got gated-silu"),
                ("t5", "tie_word_embeddings", False, "tie_word_embeddings: expected true, got false"),
                ("vit", "qkv_bias", False, "qkv_bias: expected true, got false"),
                ("swin", "window_size", 4, "image_size: expected 8 * window_size * patch_size, 64, got 32"),
                ("convnext", "hidden_sizes", [4, 8, 16, 30], "hidden_sizes: expected [4,8,16,32], got [4,8,16,30]")):
            with self.subTest(name=name, key=key):
                folder = self.folder_of(name, **{key: value})
                self.refused_import(folder, line=f"{folder}/config.json: {error}")
                shutil.rmtree(folder)

    def test_each_difference_has_a_line(self):
        folder = self.folder_of("gpt2", activation_function="relu", n_inner=5)
        self.refused_import(folder, notes=True, says=[
            "weft-import: " + folder + "/config.json: activation_function: expected gelu_new or gelu_pytorch_tanh, got relu\n",
            "weft-import: " + folder + "/config.json: n_inner: expected 4 * n_embd, 64, got 5\n"])

    def test_what_has_no_effect_is_said(self):
        folder = self.folder_of("gpt2", attn_pdrop=0.1, soft_cap=30.0)
        result = self.run_ok("weft-import", folder, "-o", self.path("a.job"), "--models", "models")
        self.assertIn("attn_pdrop: 0.1 has no effect: the model file has none\n", result.out)
        self.assertIn("not known, and not looked at: soft_cap\n", result.out)

    def test_pixels(self):
        folder = self.folder_of("vit")
        path = self.write(folder + "/preprocessor_config.json", '{"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.4, 0.5]}')
        self.refused_import(folder, line=f"{path}: image_std: expected 0.5 of every channel, got [0.5,0.4,0.5]; pass "
                            "--other-pixels to train on pixels of the other scale")
        self.run_ok("weft-import", folder, "-o", self.path("a.job"), "--models", "models", "--other-pixels")
        self.write(path, '{"image_mean": [0.5, 0.5, 0.5]}')
        self.run_ok("weft-import", folder, "-o", self.path("b.job"), "--models", "models")

    def test_a_config_that_is_none(self):
        folder = self.folder_of("gpt2")
        self.write(folder + "/config.json", "[1]")
        self.refused_import(folder, line=folder + "/config.json: expected a JSON object, got something else")

    # --- weights

    def test_shards(self):
        folder = self.folder_of("llama")
        plan = self.imported(folder)

        def refused_by_both(line):
            self.refused_import(folder, line=line)
            self.refused("weft-run", plan, "--data", TOKENS, "--init", folder, "--quiet", line=line)

        index, shard = folder + "/model.safetensors.index.json", folder + "/model-00002-of-00003.safetensors"
        good = json.loads(contents(index))
        name = "model.layers.1.input_layernorm.weight"
        true = good["weight_map"][name]
        lie = next(file for file in good["weight_map"].values() if file != true)
        self.write(index, json.dumps({"weight_map": {**good["weight_map"], name: lie}}))
        refused_by_both(f"{index}: `{name}`: expected it in {lie}, found it in {folder}/{true}")
        self.write(index, json.dumps(good))
        whole = contents(shard)
        self.write(shard, whole[:-4])
        size = len(whole) - 8 - struct.unpack("<Q", whole[:8])[0]
        refused_by_both(f"{shard}: truncated: expected {size} bytes of tensors, got {size - 4}")
        os.remove(shard)
        refused_by_both(f"{shard}: expected the file that model.safetensors.index.json names, found none")
        os.remove(index)
        for name in os.listdir(folder):
            if name.startswith("model-"):
                os.remove(f"{folder}/{name}")
        refused_by_both(f"{folder}: expected a checkpoint, model.safetensors or model.safetensors.index.json, found none of "
                        "them")

    def test_copies_that_differ(self):
        folder = self.folder_of("gpt2")
        plan = self.imported(folder, flags=("--seq", 16))
        file = folder + "/model.safetensors"
        tensors = raw_safetensors(file)
        kind, shape, table = tensors["transformer.wte.weight"]
        write_safetensors(file, {**tensors, "lm_head.weight": (kind, shape, table)})
        result = self.run_ok("weft-run", plan, "--data", TOKENS, "--init", folder, "--steps", 1)
        self.assertIn("loaded 28 of 28 parameters; the same as their ties: `lm_head.weight`\n", result.err)
        write_safetensors(file, {**tensors, "lm_head.weight": (kind, shape, table[:-1] + b"\1")})
        line = (f"{file}: `lm_head.weight`: expected the numbers of `transformer.wte.weight`, which the model has in place of "
                "both, got others; weft run --rename 'lm_head.weight=' leaves it out")
        self.refused_import(folder, line=line)
        self.refused("weft-run", plan, "--data", TOKENS, "--init", folder, "--quiet", line=line)
        result = self.run_ok("weft-run", plan, "--data", TOKENS, "--init", folder, "--steps", 1, "--rename", "lm_head.weight=")
        self.assertIn("loaded 28 of 28 parameters; of no use here: `lm_head.weight`\n", result.err)
        # A copy alone is as good.
        del tensors["transformer.wte.weight"]
        write_safetensors(file, {**tensors, "lm_head.weight": (kind, shape, table)})
        result = self.run_ok("weft-run", plan, "--data", TOKENS, "--init", folder, "--steps", 1)
        self.assertIn("loaded 28 of 28 parameters\n", result.err)

    def test_names_and_shapes(self):
        folder = self.folder_of("vit")
        file = folder + "/model.safetensors"
        images = {"images": ("U8", [8, 3, 8, 8], bytes(8 * 192)), "labels": ("I32", [8], bytes(32))}
        write_safetensors(self.path("data.safetensors"), images)
        plan = self.imported(folder, "model.set=classes=7")

        def run(*flags):
            return ("weft-run", plan, "--data", self.path("data.safetensors"), "--steps", 1, "--init", folder, *flags)

        self.refused(*run("--quiet"), line=f"{file}: `classifier.bias`: shape: expected [7], got [5]; --init-partial begins "
                     "with initial values in the rows that are lacking")
        result = self.run_ok(*run("--rename", "classifier\\..*=", "--init-partial"))
        self.assertRegex(result.err, "loaded 38 of 40 parameters; with initial values: `classifier.bias`, "
                         "`classifier.weight`; of no use here: `classifier.bias`, `classifier.weight`\n")
        tensors = raw_safetensors(file)
        write_safetensors(file, {"x." + name: tensor for name, tensor in tensors.items()})
        self.refused(*run("--quiet", "--init-partial"), says=[f"{file}: expected a tensor `classifier.bias`, got "])
        plan = self.imported(folder)
        result = self.run_ok(*run("--rename", "x\\.(.*)=$1"))
        self.assertIn("loaded 40 of 40 parameters\n", result.err)
        self.refused(*run("--quiet", "--rename", "x.*=y"), says=[
            f"{file}: expected one tensor that is called `y`, got `x.classifier.bias` and `x.classifier.weight`"])
        self.refused(*run("--quiet", "--rename", "(x=y"),
                     line="expected a regular expression before `=`, got `(x`")
        self.refused(*run("--quiet", "--rename", "x"), line="--rename: expected FROM=TO, got `x` (see --help)")
        plan = self.imported(folder, "model.set=classes=3")
        write_safetensors(file, tensors)
        self.refused(*run("--quiet", "--init-partial"), line=f"{file}: `classifier.bias`: shape: expected [3], got [5]")

    def test_rows_that_are_lacking(self):
        """A larger vocabulary: what comes behind the file's rows is what the model begins with, and then there is padding."""
        folder = self.folder_of("gpt2")
        plan = self.imported(folder, "model.set=vocab=511", "dist.tensor=2", flags=("--seq", 16))
        runs = self.path("runs")
        arguments = ("weft-run", plan, "--data", TOKENS, "--steps", 0, "--checkpoint-dir", runs)
        self.run_ok(*arguments)
        fresh = read_safetensors(runs + "/step-00000000/model.safetensors")[0]["wte.weight"].values
        shutil.rmtree(runs)
        result = self.run_ok(*arguments, "--init", folder, "--init-partial")
        self.assertIn("loaded 28 of 28 parameters; with initial values from row 509 on: `wte.weight`\n", result.err)
        values = read_safetensors(runs + "/step-00000000/model.safetensors")[0]["wte.weight"].values
        theirs = read_safetensors(folder + "/model.safetensors")[0]["transformer.wte.weight"].values
        self.assertEqual(values[:509 * 16], theirs)
        self.assertEqual(values[509 * 16:], fresh[509 * 16:])
        self.assertFalse(os.path.exists(runs + "/step-00000000/config.json"))  # it would not be this model's
        out = self.path("out")
        self.run_ok("weft-export", runs, "-o", out, "--models", "models")
        self.assertEqual(json.loads(contents(out + "/config.json"))["vocab_size"], 511)

    # --- checkpoints

    def test_export(self):
        out = self.path("out")
        plan = self.imported(HERE + "gpt2", flags=("--seq", 16))
        runs = self.path("runs")
        self.run_ok("weft-run", plan, "--data", TOKENS, "--steps", 1, "--checkpoint-dir", runs)
        checkpoint = runs + "/step-00000001"
        for arguments, line in (
                ([], "expected a checkpoint (see --help)"),
                ([runs], "expected -o FOLDER (see --help)"),
                ([runs, "-o", out, "--type", "f64"], "--type: expected f32, bf16 or f16, got `f64` (see --help)"),
                ([runs, "-o", runs], f"-o: {runs}: expected a new folder, found one"),
                ([runs, "-o", out, "--like", "models"], "--like: models: expected config.json in it, found none"),
                ([runs, "-o", out, "--models", "docs"], "--models: docs: expected a folder with layers.mlir, found none"),
                (["models", "-o", out],
                 "models: no checkpoint: expected manifest.json or step-00000000 or the like, got neither")):
            self.refused("weft-export", *arguments, line=line)
        file = checkpoint + "/model.safetensors"
        bad = bytearray(contents(file))
        bad[-2] ^= 1
        self.write(file, bytes(bad))
        self.refused("weft-export", runs, "-o", out, says=[file + ": `", "damaged: expected checksum "])

    def test_a_checkpoint_of_no_such_model(self):
        self.run_ok("weft-compile", "models/vgg/tiny.job", "-o", self.path("a.plan"), "--quiet")
        images = {"images": ("U8", [64, 3, 32, 32], bytes(64 * 3072)), "labels": ("I32", [64], bytes(256))}
        write_safetensors(self.path("data.safetensors"), images)
        self.run_ok("weft-run", self.path("a.plan"), "--data", self.path("data.safetensors"), "--steps", 0,
                    "--checkpoint-dir", self.path("runs"))
        self.refused("weft-export", self.path("runs"), "-o", self.path("out"),
                     says=["/step-00000000: expected a model that transformers has, got that of ", "vgg.mlir\n"])


if __name__ == "__main__":
    main()
