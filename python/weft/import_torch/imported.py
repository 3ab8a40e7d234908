"""All steps of an import, in order."""

import os

from .layers import layers_of
from .lowering import Lowering
from .operators import TABLE
from .simplify import simplify
from .splits import split_parameters
from .trace import Trace, batch_of
from .unify import unify
from .writer import job_file, model_file, safetensors, write


class Imported:
    """`model` is the text of the model file, `weights` are its parameters and state by name, `dropped` the names of the
    module's state_dict that it does not need."""

    def __init__(self, module, example_inputs, loss=None, title=()):
        trace = Trace(module, example_inputs, loss, set(TABLE))
        lowerings = [Lowering(trace, which, TABLE) for which in (0, 1)]
        graphs = [simplify(lowering.run()) for lowering in lowerings]
        unify(*graphs)
        graph = graphs[0]
        split_parameters(graph)
        root = layers_of(graph)
        named = {op.attributes["full"] for op in graph.ops if op.kind == "parameter"}
        self.weights = {name: tensor for name, tensor in lowerings[0].weights.items() if name in named}
        self.dropped = sorted(set(trace.names["module." + name] for name in module.state_dict()) - named)
        self.batch = batch_of(trace.inputs)
        self.model = model_file(graph, root, list(title))

    def save(self, path):
        """Writes the job `path` and, beside it, the model file and the weights; all or none."""
        stem = path[:-len(".job")] if path.endswith(".job") else path
        base = os.path.basename(stem)
        write({stem + ".mlir": self.model, stem + ".safetensors": safetensors(self.weights),
               stem + ".job": job_file(base, self.batch)})
        return [stem + end for end in (".job", ".mlir", ".safetensors")]
