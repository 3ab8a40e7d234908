#!/usr/bin/env python3
"""Checkpoints hold GPT-2's Hugging Face names and shapes, and the values that the layout has no say in."""
import struct
import sys

sys.path.insert(0, "tests/support")
from programs import (TOKENS, WEIGHTS, ProgramTest, call, contents, losses, main, raw_safetensors, read_safetensors,  # noqa: E402
                      relative, write_safetensors)

try:
    from safetensors import safe_open
except ImportError:  # the project's own reader looks at everything below without it
    safe_open = None

HIDDEN, VOCAB, POSITIONS, LAYERS = 64, 256, 64, 2


def gpt2_shapes():
    shapes = {"wte.weight": [VOCAB, HIDDEN], "wpe.weight": [POSITIONS, HIDDEN],
              "ln_f.weight": [HIDDEN], "ln_f.bias": [HIDDEN]}
    for layer in range(LAYERS):
        for name, shape in {
                "ln_1": [HIDDEN], "ln_2": [HIDDEN],
                "attn.c_attn": [HIDDEN, 3 * HIDDEN], "attn.c_proj": [HIDDEN, HIDDEN],
                "mlp.c_fc": [HIDDEN, 4 * HIDDEN], "mlp.c_proj": [4 * HIDDEN, HIDDEN]}.items():
            shapes[f"h.{layer}.{name}.weight"] = shape
            shapes[f"h.{layer}.{name}.bias"] = shape[-1:]
    return shapes


def is_close(a, b):
    """Whether float32 values agree but for the order of summation."""
    return abs(a - b) <= 1e-5 + 1e-4 * abs(b)


class NamesTest(ProgramTest):
    def save(self, name, steps, *flags, layout=(), seed=3):
        plan = self.plan("model.set=dropout=0.1", *layout)
        self.train(plan, steps, "--seed", seed, "--checkpoint-dir", self.path(name), *flags)
        return f"{self.path(name)}/step-{steps:08d}/model.safetensors"

    def test_names_and_shapes_are_those_of_hugging_face(self):
        for name, layout in {"one": (), "2x2": ("dist.data=2", "dist.tensor=2")}.items():
            path = self.save(name, 2, layout=layout)
            tensors, metadata = read_safetensors(path)
            self.assertEqual({name: tensor.shape for name, tensor in tensors.items()}, gpt2_shapes())
            self.assertEqual({tensor.dtype for tensor in tensors.values()}, {"F32"})
            self.assertEqual(metadata, {"format": "pt"})
            if safe_open is not None:
                with safe_open(path, framework="numpy") as file:
                    self.assertEqual({key: list(file.get_tensor(key).shape) for key in file.keys()}, gpt2_shapes())

    def test_initial_values_do_not_depend_on_the_layout(self):
        expected = raw_safetensors(self.save("one", 0))
        for name, layout in {"2x2": ("dist.data=2", "dist.tensor=2"), "t4": ("dist.tensor=4",)}.items():
            self.assertEqual(raw_safetensors(self.save(name, 0, layout=layout)), expected, name)
        other = raw_safetensors(self.save("other", 0, seed=4))
        self.assertNotEqual(other["wte.weight"], expected["wte.weight"])
        self.assertNotEqual(expected["h.0.mlp.c_fc.weight"], expected["h.1.mlp.c_fc.weight"])
        values = struct.unpack(f"<{VOCAB * HIDDEN}f", expected["wte.weight"][2])
        deviation = (sum(value * value for value in values) / len(values)) ** 0.5
        self.assertLess(relative(deviation, 0.02), 0.05)

    def test_trained_values_agree_across_layouts(self):
        one, _ = read_safetensors(self.save("one", 3))
        many, _ = read_safetensors(self.save("many", 3, layout=("dist.data=2", "dist.tensor=2")))
        for name, tensor in one.items():
            if name.endswith("c_attn.bias"):
                continue  # a key's bias has no gradient but for rounding, which adam scales up
            pairs = zip(many[name].values, tensor.values)
            far = [(a, b) for a, b in pairs if not is_close(a, b)]
            # Where a gradient is nearly 0, adam turns rounding into a step.
            self.assertLess(len(far), 1 + len(tensor.values) // 500, f"{name}: {far[:3]}")

    def test_init_is_saved_as_it_was(self):
        expected = raw_safetensors(WEIGHTS)
        prefixed = self.path("prefixed.safetensors")
        write_safetensors(prefixed, {"transformer." + name: tensor for name, tensor in expected.items()})
        prefixes = "checkpoint.prefixes=transformer."
        for layout in ((), ("dist.data=2", "dist.tensor=2")):
            for name, init in {"bare": WEIGHTS, "prefixed": prefixed}.items():
                with self.subTest(layout=layout, init=name):
                    got = raw_safetensors(self.save(f"{name}{len(layout)}", 0, "--init", init,
                                                    layout=(prefixes, *layout)))
                    self.assertEqual(got.keys(), expected.keys())
                    for key, (dtype, shape, content) in expected.items():
                        self.assertEqual(got[key], (dtype, shape, content), key)

    def test_init_of_a_part(self):
        own, given = raw_safetensors(self.save("own", 0)), raw_safetensors(WEIGHTS)
        part = {name: tensor for name, tensor in given.items() if not name.startswith("h.1.")}
        write_safetensors(self.path("part.safetensors"), {**part, "h.7.bias": ("F32", [1], bytes(4))})
        plan = self.plan("model.set=dropout=0.1", "dist.data=2")
        run = ("weft-run", plan, "--data", TOKENS, "--steps", 0, "--seed", 3, "--threads", 1, "--checkpoint-dir",
               self.path("part"), "--init", self.path("part.safetensors"))
        refused = call(*run)
        self.assertEqual(refused.status, 2, refused.err)
        self.assertIn("part.safetensors: expected a tensor `h.1.attn.c_attn.bias`, got `h.0.attn.c_attn.bias`", refused.err)
        self.assertIn("; also lacking: `h.1.attn.c_attn.weight`, ", refused.err)
        self.assertIn(" and 3 more; pass --init-partial to begin with initial values there\n", refused.err)
        result = self.run_ok(*run, "--init-partial")
        self.assertIn("part.safetensors: loaded 16 of 28 parameters; with initial values: `h.1.attn.c_attn.bias`, ",
                      result.err)
        self.assertIn(" and 4 more; of no use here: `h.7.bias`\n", result.err)
        saved = raw_safetensors(self.path("part/step-00000000/model.safetensors"))
        self.assertEqual(saved, {**own, **part})

    def test_a_saved_model_is_the_init_of_another_run(self):
        saved = self.save("one", 2)
        flags = ("--init", saved, "--metrics", self.path("again.jsonl"))
        again = self.save("again", 0, *flags[:2], layout=("dist.tensor=2",))
        self.assertEqual(contents(again), contents(saved))
        plan = self.plan()
        self.train(plan, 1, *flags)
        self.assertLess(losses(self.path("again.jsonl"))[0], 5.4)  # it starts at 5.55


if __name__ == "__main__":
    main()
