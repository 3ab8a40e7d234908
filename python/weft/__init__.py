"""Weft from Python: compile jobs, look at plans, run them, read checkpoints.

The package calls the programs of Weft (`weft compile`, `weft plan`, `weft run`), and needs nothing but them. Arrays need
NumPy, `from_torch` needs torch too, `from_onnx` onnx. See docs/howto/use_from_python.md.
"""
from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

from .checkpoint import Checkpoint, load
from .plan import Plan, compile
from .programs import Error, RequestError, WorkError, use
from .running import Run, run

__all__ = ["Checkpoint", "Error", "Plan", "RequestError", "Run", "WorkError", "compile", "from_onnx", "from_torch", "load", "run", "use"]


def from_onnx(path: str, loss: Optional[str] = None, sizes: Optional[Dict[str, int]] = None,
              constants: Sequence[str] = ()) -> Any:
    """The model, job and weights of an ONNX file: what `compile` takes, and `save("NAME.job")` writes.

    Without a loss it computes the file's outputs. `loss` is "cross_entropy", of the first output and an input `labels`, or the
    name of an output that is the loss. `sizes` are numbers for names of dimensions, `constants` names of weights that are not
    trained. Raises importing.Failure, which lists whatever Weft does not know."""
    from .importing.from_onnx import from_onnx as convert
    return convert(path, loss, sizes, constants)


def from_torch(module: Any, example_inputs: Any, loss: Any = None) -> Any:
    """The model, job and weights of a PyTorch module: what `compile` takes, and `save("NAME.job")` writes.

    `example_inputs` are tensors by their names, or in the order of forward's parameters and then of the loss's; the first
    dimension of each is the batch. `loss(output, ...)` gets what the module returns and the inputs that it names; without
    one the module returns its loss. Raises importing.Failure, which lists whatever Weft does not know."""
    from .importing.from_torch import from_torch as convert
    return convert(module, example_inputs, loss)
