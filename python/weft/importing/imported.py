"""All steps of an import behind a front, in order."""

import os

from .layers import layers_of
from .lowering import set_initial
from .patterns import INSIDE
from .simplify import simplify
from .splits import split_parameters
from .unify import unify
from .writer import job_file, model_file, safetensors, write


class Imported:
    """`model` is the text of the model file, `weights` are its parameters and state by name, `dropped` the names of the
    module's or file's weights that it does not need."""

    def __init__(self, lowerings, names, batch, graph_name, title):
        """Of two lowerings that differ in the batch; `names` are those of all weights, `batch` is what the job has."""
        graphs = [self._made(lowering) for lowering in lowerings]
        unify(*graphs)
        graph = graphs[0]
        split_parameters(graph)
        root = layers_of(graph)
        named = {op.attributes["full"] for op in graph.ops if op.kind == "parameter"}
        self.weights = {name: array for name, array in lowerings[0].weights.items() if name in named}
        self.dropped = sorted(set(names) - named)
        self.batch, self.graph_name = batch, graph_name
        self.model = model_file(graph, root, graph_name, list(title))

    @staticmethod
    def _made(lowering):
        graph = lowering.run()
        graph.drop_dead()
        set_initial(graph, lowering.weights)
        simplify(graph)
        lowering.missing += [(op.kind.capitalize(), " (but in %s)" % INSIDE[op.kind], op.origin)
                             for op in graph.ops if op.kind in INSIDE]
        lowering.refuse_missing()
        return graph

    def save(self, path):
        """Writes the job `path` and, beside it, the model file and the weights; all or none."""
        stem = path[:-len(".job")] if path.endswith(".job") else path
        base = os.path.basename(stem)
        write({stem + ".mlir": self.model, stem + ".safetensors": safetensors(self.weights),
               stem + ".job": job_file(base, self.graph_name, self.batch)})
        return [stem + end for end in (".job", ".mlir", ".safetensors")]
