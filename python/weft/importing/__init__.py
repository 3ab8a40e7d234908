"""Makes a model file, a job and weights of what others describe: from_torch reads PyTorch modules, from_onnx ONNX files.

A front makes a graph (graph.py) at two sizes of the batch. What follows is the same for all: simplify.py says it shorter,
unify.py finds the batch, layers.py the layers, writer.py writes the files. Arrays are NumPy's."""

from .graph import Failure  # noqa: F401
