"""Exports the modules of exported.py to ONNX, and computes and trains them with PyTorch in float64: see README.md here.

usage: references.py --out tests/onnx_models [--models gpt2,...]
"""

import argparse
import inspect
import os
import sys

import numpy
import onnx
import onnxruntime
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "python"), HERE]
from weft.importing.from_torch.libraries import followed  # noqa: E402
from weft.importing.writer import safetensors  # noqa: E402
import exported  # noqa: E402
import operators  # noqa: E402

BATCH, STEPS, OPSET = 4, 10, 17
TRAINED = ("mlp", "encoder", "gpt2", "llama", "resnet_training")  # with a cross entropy


def names():
    return [name for name, made in vars(exported).items()
            if inspect.isfunction(made) and made.__code__.co_argcount == 0 and made.__module__ == "exported"]


def plain(tensors):
    return {name: (x.float() if x.is_floating_point() else x.int()).numpy() for name, x in tensors.items()}


def export(module, inputs, how, path):
    rows = tuple(x[:3] for x in inputs.values())
    with followed():
        if how != "dynamo":
            mode = torch.onnx.TrainingMode
            torch.onnx.export(module, rows, path, input_names=list(inputs), output_names=["logits"],
                              opset_version=11 if how == "old" else OPSET,
                              dynamic_axes={name: {0: "batch"} for name in [*inputs, "logits"]}, dynamo=False,
                              training=mode.EVAL if how in ("script", "old") else mode.PRESERVE,
                              do_constant_folding=how in ("script", "old"))
            return
        dims = tuple({0: torch.export.Dim.AUTO} for _ in rows)
        torch.onnx.export(module, rows, input_names=list(inputs), output_names=["logits"], dynamic_shapes=dims,
                          dynamo=True, optimize=True).save(path)


def strip(path):
    """Leaves out where each node came from in the code that was exported, and what torch notes for itself."""
    model = onnx.load(path)
    for node in model.graph.node:
        node.ClearField("doc_string")
        kept = [m for m in node.metadata_props if m.key in ("pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy")]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    del model.graph.value_info[:], model.graph.metadata_props[:], model.metadata_props[:]
    for value in [*model.graph.input, *model.graph.output, *model.graph.initializer]:
        del value.metadata_props[:]
    onnx.save(model, path)


def loss_of(logits, labels):
    return torch.nn.functional.cross_entropy(logits.flatten(0, -2), labels.flatten())


def train(module, batches):
    """The loss and the norm of the gradients of each step, before its update."""
    optimizer = torch.optim.AdamW([{"params": [p for p in module.parameters() if p.ndim >= 2], "weight_decay": 0.1},
                                   {"params": [p for p in module.parameters() if p.ndim < 2], "weight_decay": 0.0}],
                                  lr=1e-3, betas=(0.9, 0.999), eps=1e-8)
    for inputs, labels in batches:
        optimizer.zero_grad()
        value = loss_of(module(*inputs), labels)
        value.backward()
        yield value.item(), torch.sqrt(sum((p.grad**2).sum() for p in module.parameters() if p.grad is not None)).item()
        optimizer.step()


def make(name, folder):
    torch.manual_seed(1)
    module, inputs, how = getattr(exported, name)()
    module.train(how == "training")
    for parameter in module.parameters() if name != "encoder" else ():
        if not bool((parameter != parameter.reshape(-1)[0]).any()):  # as norms and biases begin
            torch.nn.init.normal_(parameter, parameter.reshape(-1)[0].item(), 0.1)
    stem = os.path.join(folder, name)
    export(module, inputs, how, stem + ".onnx")
    strip(stem + ".onnx")
    module.double()
    double = {key: x.double() if x.is_floating_point() else x for key, x in inputs.items()}
    with torch.no_grad():
        logits = module(*[x[:BATCH] for x in double.values()])
    with open(stem + "_outputs.safetensors", "wb") as file:
        file.write(safetensors(plain({"logits": logits})))
    if name in TRAINED:
        labels = torch.randint(0, logits.shape[-1], (BATCH * STEPS,) + logits.shape[1:-1])
        inputs["labels"] = labels
        batches = (([x[s * BATCH:(s + 1) * BATCH] for x in double.values()], labels[s * BATCH:(s + 1) * BATCH])
                   for s in range(STEPS))
        with open(stem + "_losses.txt", "w", encoding="utf-8") as out:
            for step, (value, norm) in enumerate(train(module, batches)):
                out.write("%d %.10f %.10f\n" % (step, value, norm))
    else:
        inputs = {key: x[:BATCH] for key, x in inputs.items()}
    with open(stem + "_inputs.safetensors", "wb") as file:
        file.write(safetensors(plain(inputs)))


def make_operators(folder):
    """The file that has an operator a line, computed by ONNX Runtime in float32."""
    stem = os.path.join(folder, "operators")
    model, inputs = operators.build(), operators.inputs()
    onnx.save(model, stem + ".onnx")
    results = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
    for part, arrays in (("inputs", inputs), ("outputs", dict(zip([value.name for value in model.graph.output], results)))):
        with open("%s_%s.safetensors" % (stem, part), "wb") as file:
            file.write(safetensors({name: x.astype(numpy.float32 if x.dtype.kind == "f" else numpy.int32)
                                    for name, x in arrays.items()}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--models", default=",".join(names()))
    options = parser.parse_args()
    make_operators(options.out)
    for name in options.models.split(","):
        make(name, options.out)
        print("%s: %d bytes" % (name, os.path.getsize(os.path.join(options.out, name + ".onnx"))))


if __name__ == "__main__":
    main()
