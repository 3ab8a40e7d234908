"""weft import --torch: a PyTorch module as a model file, a job and weights.

usage: weft import --torch FILE.py:FUNCTION -o NAME.job
       python3 -m weft.importing.from_torch FILE.py:FUNCTION -o NAME.job

FUNCTION of FILE.py takes nothing and returns (module, example inputs, loss function), with None for the last where the
module returns its loss. Example inputs are tensors, in a tuple or by name, whose first dimension is the batch. A loss
function gets what the module returns and then the inputs that its parameters name.

  -o NAME.job   writes NAME.job, NAME.mlir and NAME.safetensors: for `weft compile NAME.job`, then `weft run --init
                NAME.safetensors`

Needs torch 2.6 or later. What cannot be imported is listed whole, with the Python lines that made it. Either all files are
written or none.

Exit status: 0 done, 1 the module could not be imported, 2 the request was wrong.
"""

import importlib.util
import inspect
import os
import sys

if not __package__:  # run by its folder
    above = os.path.abspath(__file__)
    for _ in range(4):
        above = os.path.dirname(above)
    sys.path[0] = above
    __package__ = "weft.importing.from_torch"

from weft.importing.command import import_and_save, source_and_job, wrong  # noqa: E402


def main(arguments):
    if "--help" in arguments or "-h" in arguments:
        print(__doc__.strip())
        return 0
    try:
        source, out = source_and_job(arguments, "FILE.py:FUNCTION")
    except ValueError as error:
        return wrong(str(error))
    path, colon, function = source.rpartition(":")
    if not colon or not path.endswith(".py"):
        return wrong("%s: expected FILE.py:FUNCTION" % source)
    if not os.path.exists(path):
        return wrong("%s: expected a file of Python, found none" % path)
    for package in ("torch", "numpy"):
        if importlib.util.find_spec(package) is None:
            return wrong("expected the Python package `%s`, found none; pip install torch numpy, in a virtual environment "
                         "(python3 -m venv), brings it" % package)
    import torch
    from weft.importing.from_torch import from_torch
    there = load(path).__dict__
    made = there.get(function)
    if not callable(made):
        names = [name for name, x in there.items() if inspect.isfunction(x) and x.__module__ == there["__name__"]]
        return wrong("%s: expected a function %s, found %s" % (path, function, ", ".join(names) or "none"))
    given = made()
    if not isinstance(given, tuple) or len(given) != 3 or not isinstance(given[0], torch.nn.Module):
        return wrong("%s: expected (module, example inputs, loss function or None), got %s" % (source, type(given).__name__))
    title = "%s, imported from %s:%s." % (type(given[0]).__name__, os.path.basename(path), function)
    return import_and_save(source, out, lambda: from_torch(*given, title=[title]), "of the module's state_dict")


def load(path):
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-len(".py")], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
