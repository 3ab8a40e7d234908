"""Imports the modules of models.py and trains them with PyTorch, in float64: see README.md here.

usage: references.py --out tests/torch_modules [--models gpt2,...]
"""

import argparse
import inspect
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
from weft.importing.from_torch import from_torch  # noqa: E402
from weft.importing.from_torch.trace import loss_of, named_inputs  # noqa: E402
from weft.importing.writer import safetensors  # noqa: E402
import models  # noqa: E402

BATCH, STEPS = 4, 10


def names():
    return [name for name, made in vars(models).items()
            if inspect.isfunction(made) and not made.__code__.co_argcount and made.__module__ == "models"]


def train(module, batches, loss, of_module, of_loss):
    """(loss, norm of the gradients) of each step, before its update."""
    decayed = [p for p in module.parameters() if p.ndim >= 2]
    others = [p for p in module.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
                                  lr=1e-3, betas=(0.9, 0.999), eps=1e-8)
    for batch in batches:
        optimizer.zero_grad()
        output = module(**{key: batch[name] for key, name in of_module.items()})
        value = loss_of(output) if loss is None else loss(output, *[batch[name] for name in of_loss])
        value.backward()
        norm = torch.sqrt(sum((p.grad**2).sum() for p in module.parameters() if p.grad is not None))
        yield value.item(), norm.item()
        optimizer.step()


def make(name, folder):
    torch.manual_seed(1)
    module, inputs, loss = getattr(models, name)()
    module.train()
    stem = os.path.join(folder, name)
    imported = from_torch(module, inputs, loss, ["%s, imported from tests/torch_modules/models.py:%s." % (
        type(module).__name__, name)])
    imported.save(stem + ".job")
    inputs, of_module, of_loss = named_inputs(module, inputs, loss)
    data = {key: (x.float() if x.is_floating_point() else x.int()).numpy() for key, x in inputs.items()}
    with open(stem + "_data.safetensors", "wb") as file:
        file.write(safetensors(data))
    double = {key: x.double() if x.is_floating_point() else x for key, x in inputs.items()}
    batches = ({key: x[s * BATCH:(s + 1) * BATCH] for key, x in double.items()} for s in range(STEPS))
    with open(stem + "_losses.txt", "w", encoding="utf-8") as out:
        for step, (value, norm) in enumerate(train(module.double(), batches, loss, of_module, of_loss)):
            out.write("%d %.10f %.10f\n" % (step, value, norm))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--models", default=",".join(names()))
    options = parser.parse_args()
    for name in options.models.split(","):
        make(name, options.out)
        print("%s: %d steps" % (name, STEPS))


if __name__ == "__main__":
    main()
