#!/usr/bin/env python3
"""What 40 steps leave behind, parameters and Adam's moments, is what llm.c's trainer was left with (see README.md)."""
import math
import sys

sys.path.insert(0, "tests/support")
from programs import WEIGHTS, ProgramTest, main, read_safetensors, relative  # noqa: E402

# llm.c's name, less its `w` or `b` -> ours, less `.weight` or `.bias`.
NAMES = {
    "ln1": "h.{}.ln_1", "qkv": "h.{}.attn.c_attn", "attproj": "h.{}.attn.c_proj", "ln2": "h.{}.ln_2",
    "fc": "h.{}.mlp.c_fc", "fcproj": "h.{}.mlp.c_proj", "lnf": "ln_f",
}
LAYERS = 2


def names_of(name):
    """The names of the tensors that a line of tiny_norms.txt is about."""
    if name in ("wte", "wpe"):
        return [name + ".weight"]
    ours = NAMES[name[:-1]] + {"w": ".weight", "b": ".bias"}[name[-1]]
    return sorted({ours.format(layer) for layer in range(LAYERS)})


def values(tensors, names, prefix=""):
    return [value for name in names for value in tensors[prefix + name].values]


def norm(numbers):
    return math.sqrt(math.fsum(number * number for number in numbers))


class NormsTest(ProgramTest):
    def test_parameters_and_moments(self):
        self.train(self.plan(), 40, "--init", WEIGHTS, "--checkpoint-dir", self.path("saved"))
        model, _ = read_safetensors(self.path("saved/step-00000040/model.safetensors"))
        optimizer, _ = read_safetensors(self.path("saved/step-00000040/optimizer.safetensors"))
        with open("tests/oracle/tiny_norms.txt", encoding="utf-8") as file:
            lines = [line.split() for line in file if not line.startswith("#")]
        seen = set()
        for name, count, parameter, total, _, first, second in lines:
            names = names_of(name)
            seen.update(names)
            mine = values(model, names)
            self.assertEqual(len(mine), int(count), name)
            for what, got, expected, bound in [
                    ("norm", norm(mine), parameter, 1e-5), ("sum", math.fsum(mine), total, 1e-5),
                    ("m", norm(values(optimizer, names, "adam_m.")), first, 1e-5),
                    # llm.c's 1 - 0.999f is 0.001 less 1.3e-5 of it.
                    ("v", norm(values(optimizer, names, "adam_v.")), second, 3e-5)]:
                # Attention does not change with the bias of its keys. Their gradient is rounding, which Adam divides by
                # its own size: they go where the order of sums on this processor takes them, and others do elsewhere.
                if (name, what) != ("qkvb", "sum"):
                    self.assertLess(relative(got, float(expected)), bound, f"{name}: {what}")
        self.assertEqual(seen, model.keys())


if __name__ == "__main__":
    main()
