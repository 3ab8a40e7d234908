"""Opens what `weft export` writes with transformers' from_pretrained: see README.md.

usage: live.py WEFT [NAME ...]

WEFT is the dispatcher `weft`, beside which its programs are. For each model: import, ten steps, export; then logits by Weft
from the checkpoint beside those of transformers in float64, from the exported folder and from the checkpoint's own. The
differences are parts of the largest logit, or of 1.
"""
import os
import subprocess
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file

import models

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDS = 16
CLOSE = 1e-5


def data_of(name, model, folder):
    """Records for the graph that trains."""
    if name in ("gpt2", "llama", "llama_tied", "mistral", "mixtral"):
        path = os.path.join(folder, "tokens.npy")
        import numpy
        numpy.save(path, numpy.random.RandomState(1).randint(4, models.VOCAB, 4096).astype(numpy.uint16))
        return path
    from safetensors.torch import save_file
    inputs = models.inputs_of(name, model)
    fields = {key: value.repeat(RECORDS // models.BATCH, *[1] * (value.ndim - 1)) for key, value in inputs.items()}
    fields.pop("inputs", None)
    if "images" in fields:
        if name != "mae":
            fields["labels"] = torch.randint(0, 5, (RECORDS,), dtype=torch.int32)
    else:
        length = models.SEQUENCE // 4 if name.startswith("t5") else models.SEQUENCE
        fields["labels"] = torch.randint(4, models.VOCAB, (RECORDS, length), dtype=torch.int32)
    if name == "bert":
        fields["next"] = torch.randint(0, 2, (RECORDS,), dtype=torch.int32)
    path = os.path.join(folder, "data.safetensors")
    save_file(fields, path)
    return path


def largest_difference(ours, model, inputs):
    """Of the logits, as a part of the largest."""
    theirs = models.outputs_of(model, inputs)
    return max(float((ours[key].double() - value).abs().max() / max(1.0, float(value.abs().max())))
               for key, value in theirs.items())


def check(weft, name, folder):
    def call(*arguments):
        done = subprocess.run([weft, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)

    source = os.path.join(HERE, name)
    kind = type(models.MODELS[name]())
    path = lambda file: os.path.join(folder, file)
    images = name in ("vit", "mae", "swin", "convnext")
    call("import", source, "-o", path("a.job"), *(() if images else ("--seq", models.SEQUENCE)))
    layout = "dist.data=2" if images else "dist.tensor=2"
    call("compile", path("a.job"), layout, "-o", path("a.plan"), "--quiet")
    call("compile", path("a.job"), layout, "model.graph=" + {"t5_1_1": "logits_1_1", "llama_tied": "logits_tied"}.get(name, "logits"),
         "batch={global: 2 micro: 2}", "-o", path("logits.plan"), "--quiet")
    call("run", path("a.plan"), "--init", source, "--data", data_of(name, kind.from_pretrained(source), folder), "--steps", 10,
         "--checkpoint-dir", path("runs"), "--quiet")
    call("run", path("logits.plan"), "--init", path("runs"), "--inputs", os.path.join(source, "inputs.safetensors"),
         "--outputs", path("outputs.safetensors"), "--quiet")
    call("export", path("runs"), "-o", path("out"))
    ours, inputs = load_file(path("outputs.safetensors")), load_file(os.path.join(source, "inputs.safetensors"))
    trained = float((ours["logits"] - load_file(os.path.join(source, "outputs.safetensors"))["logits"]).abs().max())
    differences = []
    # Swin's tables of indices and MAE's of positions are no parameters, and so in no checkpoint.
    for opened in (path("out"), *(() if name in ("swin", "mae") else (path("runs/step-00000010"),))):
        model, loading = kind.from_pretrained(opened, attn_implementation="eager", output_loading_info=True)
        if any(loading.values()):
            sys.exit("%s: %s" % (name, loading))
        differences.append(largest_difference(ours, model, inputs))
    print("%-10s ten steps moved a logit by %.3f; transformers' differ by %s"
          % (name, trained, ", ".join("%.1e" % difference for difference in differences)))
    return max(differences) <= CLOSE


def main():
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    good = True
    for name in sys.argv[2:] or models.MODELS:
        torch.manual_seed(1)
        with tempfile.TemporaryDirectory() as folder:
            good = check(os.path.abspath(sys.argv[1]), name, folder) and good
    sys.exit(0 if good else "expected logits within %g" % CLOSE)


if __name__ == "__main__":
    main()
