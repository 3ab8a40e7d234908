"""weft import MODEL.onnx: an ONNX file as a model file, a job and weights.

usage: weft import MODEL.onnx -o NAME.job [--loss LOSS] [--size NAME=N,...] [--constant NAME,...]
       python3 -m weft.importing.from_onnx MODEL.onnx -o NAME.job [--loss LOSS] [--size NAME=N,...] [--constant NAME,...]

  -o NAME.job          writes NAME.job, NAME.mlir and NAME.safetensors: for `weft compile NAME.job`, then `weft run --init
                       NAME.safetensors`
  --loss LOSS          trains: `cross_entropy` of the first output, whose last dimension is the classes, and an input
                       `labels`; or the name of an output that is the loss. If absent, the job computes the outputs
  --size NAME=N,...    how much dimensions of the inputs are that have a name and are not the batch
  --constant NAME,...  weights that are not trained

Needs the Python package onnx. What cannot be imported is listed whole, with the nodes. Either all files are written or none.

Exit status: 0 done, 1 the file could not be imported, 2 the request was wrong.
"""

import importlib.util
import os
import sys

if not __package__:  # run by its folder
    above = os.path.abspath(__file__)
    for _ in range(4):
        above = os.path.dirname(above)
    sys.path[0] = above
    __package__ = "weft.importing.from_onnx"

from weft.importing.command import import_and_save, source_and_job, wrong  # noqa: E402


def main(arguments):
    if "--help" in arguments or "-h" in arguments:
        print(__doc__.strip())
        return 0
    try:
        flags, rest = flags_of(arguments)
        source, out = source_and_job(rest, "MODEL.onnx")
        sizes = dict(size_of(text) for text in listed(flags, "--size"))
    except ValueError as error:
        return wrong(str(error))
    if not os.path.isfile(source):
        return wrong("%s: expected a file of ONNX, found none" % source)
    for package in ("onnx", "numpy"):
        if importlib.util.find_spec(package) is None:
            return wrong("expected the Python package `%s`, found none; pip install onnx, in a virtual environment (python3 -m "
                         "venv), brings it" % package)
    from weft.importing.from_onnx import from_onnx
    loss = flags.get("--loss")

    def make():
        imported = from_onnx(source, loss, sizes, listed(flags, "--constant"), ["Imported from %s." % os.path.basename(source)])
        if imported.constants and loss:
            print("not trained: " + ", ".join(imported.constants))
        return imported
    return import_and_save(source, out, make, "of the file")


def flags_of(arguments):
    """({flag: text}, what else there is)."""
    found, rest, words = {}, [], list(arguments)
    while words:
        word = words.pop(0)
        flag, equals, text = word.partition("=")
        if flag not in ("--loss", "--size", "--constant"):
            rest.append(word)
            continue
        text = text if equals else words.pop(0) if words else ""
        if not text or flag in found:
            raise ValueError("%s: expected a value, got %s" % (flag, "two" if text else "none"))
        found[flag] = text
    return found, rest


def listed(flags, flag):
    return flags[flag].split(",") if flag in flags else []


def size_of(text):
    name, equals, number = text.partition("=")
    if not equals or not number.isdigit() or int(number) < 1:
        raise ValueError("--size: expected NAME=N with a whole number above 0, got %s" % text)
    return name, int(number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
