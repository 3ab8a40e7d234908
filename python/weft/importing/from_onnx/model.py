"""An ONNX file as it is read: its nodes, its inputs with their shapes, and which of its numbers are weights, of what name."""

import hashlib
import itertools
import re

import onnx

from ..graph import Failure, WrongRequest
from .nodes import Node, array_of, classes_of

FLOATS, TRUTH = "f32", "i8"
# Element types of inputs, by their numbers in ONNX.
TYPES = {onnx.TensorProto.FLOAT: FLOATS, onnx.TensorProto.FLOAT16: FLOATS, onnx.TensorProto.BFLOAT16: FLOATS,
         onnx.TensorProto.DOUBLE: FLOATS, onnx.TensorProto.INT64: "i32", onnx.TensorProto.INT32: "i32",
         onnx.TensorProto.BOOL: TRUTH}
# What PyTorch's exporters call weights that they have computed from others.
ANONYMOUS = re.compile(r"onnx::|val_\d+$")
EXAMPLE = 8  # the batch of a job whose file leaves it open

class Model:
    """`weights` are arrays by name, `constants` the names of floating-point ones that are not trained, `names` what each
    weight is called here, `inputs` (name, shape, type) with None for the batch."""

    def __init__(self, path, sizes, constants, loss):
        self.path, self.loss = path, loss
        graph = self._loaded(path)
        self.nodes = [Node(proto) for proto in graph.node]
        self.notes = any(node.noted for node in self.nodes)
        self.weights = {proto.name: array_of(proto) for proto in graph.initializer}
        self.outputs = [(value.name, value) for value in graph.output]
        self._read_inputs([value for value in graph.input if value.name not in self.weights], sizes)
        self._follow_names()
        self.readers = self._readers()
        self._check_constants(constants)
        self.constants = {name for name, array in self.weights.items() if array.dtype.kind == "f" and (
            name in constants or array.ndim == 0 or (array <= -1e30).any() or self._becomes_angles(name)
            or self._is_computed(name))}
        self._take_apart()
        self.readers = self._readers()
        self.names = self._named()
        self.copies = self._copies()
        self.states = {name for node in self.nodes if node.kind == "BatchNormalization" for name in node.inputs[3:5]}
        self.trainable = {self.names[name] for name, array in self.weights.items() if array.dtype.kind == "f"} - {
            self.names[name] for name in [*self.constants, *self.copies]}
        self.classes = classes_of(self.nodes)

    def _readers(self):
        """{name: the nodes that read it}."""
        found = {}
        for node in self.nodes:
            for name in node.inputs:
                found.setdefault(name, []).append(node)
        return found

    def _loaded(self, path):
        try:
            proto = onnx.load(path)
        except OSError as error:
            of = error.filename if error.filename not in (None, path) else None
            raise Failure("%s%s" % ("external data %s: " % of if of else "", error.strerror or error)) from None
        except Exception as error:  # what protobuf and onnx raise has no class of its own
            raise Failure("expected an ONNX file, found none: %s" % " ".join(str(error).split())) from None
        if not proto.graph.node or not proto.graph.output:
            raise Failure("expected an ONNX file with a graph, found %d nodes and %d outputs" % (
                len(proto.graph.node), len(proto.graph.output)))
        self.opset = max([o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")], default=0)
        if self.opset < 7:
            raise Failure("expected version 7 of ONNX's operators or later, found %d" % self.opset)
        if proto.functions:
            raise Failure("expected operators alone, found functions of the file itself (%s); onnx.inliner takes them apart" %
                          ", ".join(sorted(f.name for f in proto.functions)))
        return proto.graph

    def _read_inputs(self, values, sizes):
        self.inputs, unknown, used = [], [], set()
        first = {v.type.tensor_type.shape.dim[0].dim_param for v in values if v.type.tensor_type.shape.dim} - set(sizes) - {""}
        for value in values:
            kind, shape = value.type.tensor_type.elem_type, []
            if kind not in TYPES:
                raise Failure("input %s: expected floating-point numbers, int32, int64 or bool, found type %d of ONNX" % (
                    value.name, kind))
            for place, dim in enumerate(value.type.tensor_type.shape.dim):
                used.add(dim.dim_param)
                if dim.dim_value > 0:
                    shape.append(dim.dim_value)
                elif dim.dim_param in sizes:
                    shape.append(sizes[dim.dim_param])
                elif dim.dim_param in first or place == 0:
                    shape.append(None)
                else:
                    unknown.append("input %s, dimension %d: expected a number, as it is not the batch, found %s" % (
                        value.name, place, "`%s`; --size %s=N says it" % (dim.dim_param, dim.dim_param) if dim.dim_param
                        else "none; export the model with one"))
                    shape.append(1)
            self.inputs.append((value.name, shape, TYPES[kind]))
        unused = sorted(set(sizes) - used)
        if unused:
            raise WrongRequest("--size %s: expected the name of a dimension of an input, found %s" % (
                unused[0], ", ".join(sorted(used - {""})) or "none that has a name"))
        if unknown:
            raise Failure("\n  ".join(unknown))
        self.batch = EXAMPLE if any(None in shape for _, shape, _ in self.inputs) else max(
            [shape[0] for _, shape, _ in self.inputs if shape], default=1)

    # PyTorch's exporters keep weights of the same numbers once, and the others' names as Identity, or read it in all of their
    # modules. Where the numbers are one that repeats, as a norm begins, or the modules are those of a list, which may begin as
    # copies, the weights are their own; else they are tied.

    def _follow_names(self):
        """Reads weights where Identity names them."""
        for node in [n for n in self.nodes if n.kind == "Identity" and self._may_vary(n.inputs[0])]:
            (name,), (own,) = node.inputs, node.outputs
            if alike(name, own) or not varies(self.weights[name]):
                self.weights[own] = self.weights[name]
                self.nodes.remove(node)
            elif own not in [output for output, _ in self.outputs]:
                self._read_instead(self.nodes, own, name)
                self.nodes.remove(node)

    def _take_apart(self):
        """Finds the modules that read a weight of their own as one."""
        for name in [name for name in self.weights if self._may_vary(name) and name not in self.constants]:
            readers = {}
            for node in self.readers.get(name, ()):
                readers.setdefault(".".join(node.scope), []).append(node)
            if len(readers) > 1 and "" not in readers and (not varies(self.weights[name]) or all(
                    alike(a, b) for a, b in itertools.combinations(readers, 2))):
                self._divide(name, readers)

    def _divide(self, name, readers):
        """A weight for each module that reads one."""
        home = next((scope for scope in readers if name.startswith(scope + ".")), None)
        for i, (scope, nodes) in enumerate(readers.items()):
            if scope != home:
                own = "%s_%d" % (name, i) if ANONYMOUS.match(name) else scope + "." + name.removeprefix("%s." % home)
                while own in self.weights:
                    own += "_"
                self._read_instead(nodes, name, own)
                self.weights[own] = self.weights[name]
        if home is None:
            del self.weights[name]

    @staticmethod
    def _read_instead(nodes, old, new):
        for node in nodes:
            node.inputs = [new if x == old else x for x in node.inputs]

    def _may_vary(self, name):
        return name in self.weights and self.weights[name].dtype.kind == "f" and self.weights[name].ndim > 0

    def _copies(self):
        """{name: (name of the first, whether transposed)} of weights that are another's numbers, in its order or transposed,
        as exporters leave of tied ones."""
        found, seen = {}, {}
        for name in sorted(self.weights, key=lambda n: bool(ANONYMOUS.match(n))):
            array = self.weights[name]
            if array.dtype.kind != "f" or array.ndim != 2 or name in self.constants or not varies(array):
                continue
            keys = [(x.shape, hashlib.sha256(x.tobytes()).digest()) for x in (array, array.T)]
            first = [(other, i == 1) for i, key in enumerate(keys) for other in seen.get(key, ())
                     if not alike(self.names[name], self.names[other])]
            if first:
                found[name] = first[0]
            else:
                seen.setdefault(keys[0], []).append(name)
        return found

    def _check_constants(self, constants):
        for name in constants:
            if name not in self.weights:
                raise WrongRequest("--constant %s: expected the name of a weight, found none of that name" % name)

    def _becomes_angles(self, name):
        """Whether weights are turned into sines and cosines without any input: frequencies of positions, which are not trained."""
        seen, waiting = set(), [name]
        while waiting:
            for node in self.readers.get(waiting.pop(), ()):
                if node.kind in ("Sin", "Cos"):
                    return True
                if id(node) not in seen and all(self._free(i) for i in node.inputs):
                    seen.add(id(node))
                    waiting += node.outputs
        return False

    def _is_computed(self, name):
        """Whether weights are numbers that an exporter has computed, such as scales and tables of sines: they have no name of a
        module's and are factors alone."""
        unnamed = ANONYMOUS.match(name) or (self.notes and "." not in name)
        kinds = {node.kind for node in self.readers.get(name, ())}
        return unnamed and (self.weights[name].size == 1 or kinds <= {"Mul", "Div", "Sub", "Where"})

    def _free(self, name):
        """Whether a value depends on no input; shapes do not."""
        if not hasattr(self, "_free_names"):
            free = set(self.weights) | {""}
            for node in self.nodes:
                if node.kind in ("Shape", "Size") or all(i in free for i in node.inputs):
                    free.update(node.outputs)
            self._free_names = free
        return name in self._free_names

    def _named(self):
        """What weights are called. PyTorch's exporter forgets the names of those that it transposes, `onnx::MatMul_7`: they
        are called by the module that reads them."""
        names, taken = {}, set()
        for name in self.weights:
            readers = self.readers.get(name, ())
            found = name
            if ANONYMOUS.match(name) and readers and readers[0].scope:
                found = ".".join(readers[0].scope) + (".weight" if self.weights[name].ndim > 1 else ".bias")
            found, number = re.sub(r"[^\w.-]", "_", found), 1
            unique = found
            while unique in taken or (unique != name and unique in self.weights):
                number += 1
                unique = "%s_%d" % (found, number)
            taken.add(unique)
            names[name] = unique
        return names


def alike(a, b):
    """Whether two names are those of the same part in two modules of a list."""
    return a != b and re.sub(r"\.\d+(?=\.|$)", ".", "." + a) == re.sub(r"\.\d+(?=\.|$)", ".", "." + b)


def varies(array):
    return array.size > 1 and bool((array != array.reshape(-1)[0]).any())
