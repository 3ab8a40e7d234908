"""weft import --torch: a PyTorch module as a model file, a job and weights.

usage: weft import --torch FILE.py:FUNCTION -o NAME.job
       python3 -m weft.import_torch FILE.py:FUNCTION -o NAME.job

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
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "weft.import_torch"

def main(arguments):
    if "--help" in arguments or "-h" in arguments:
        print(__doc__.strip())
        return 0
    if len(arguments) != 3 or "-o" not in arguments[:2]:
        return wrong("expected FILE.py:FUNCTION -o NAME.job, got %s" % (" ".join(arguments) or "nothing"))
    at = arguments.index("-o")
    out, (source,) = arguments[at + 1], arguments[:at] + arguments[at + 2:]
    path, colon, function = source.rpartition(":")
    if not colon or not path.endswith(".py"):
        return wrong("%s: expected FILE.py:FUNCTION" % source)
    if not out.endswith(".job"):
        return wrong("-o: expected a name that ends in .job, got %s" % out)
    if not os.path.exists(path):
        return wrong("%s: expected a file of Python, found none" % path)
    try:
        import torch  # noqa: F401
    except ImportError:
        return wrong("expected the Python package `torch`, found none; pip install torch, in a virtual environment "
                     "(python3 -m venv), brings it")
    from weft.import_torch import Failure, from_torch
    there = load(path).__dict__
    made = there.get(function)
    if not callable(made):
        names = [name for name, x in there.items() if inspect.isfunction(x) and x.__module__ == there["__name__"]]
        return wrong("%s: expected a function %s, found %s" % (path, function, ", ".join(names) or "none"))
    given = made()
    if not isinstance(given, tuple) or len(given) != 3 or not isinstance(given[0], torch.nn.Module):
        return wrong("%s: expected (module, example inputs, loss function or None), got %s" % (source, type(given).__name__))
    try:
        imported = from_torch(*given, title=["%s, imported from %s:%s." % (
            type(given[0]).__name__, os.path.basename(path), function)])
    except Failure as failure:
        print("weft import: %s: %s" % (source, failure), file=sys.stderr)
        return 1
    try:
        written = imported.save(out)
    except OSError as error:
        print("weft import: %s: %s" % (out, error.strerror), file=sys.stderr)
        return 1
    print("%s: %d parameters in %d tensors" % (", ".join(written), sum(t.numel() for t in imported.weights.values()),
                                               len(imported.weights)))
    if imported.dropped:
        print("of the module's state_dict not needed: " + ", ".join(imported.dropped))
    print("next: weft compile %s -o %s.plan" % (out, out[:-len(".job")]))
    return 0


def load(path):
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-len(".py")], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wrong(message):
    print("weft import: " + message, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
