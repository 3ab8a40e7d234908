"""What every front needs to make a graph: parameters, known numbers, and operations that take several."""

import math

import numpy

from .constants import MANY, NoFormula, constant, dtype_of, number
from .graph import Failure, Graph, broadcast
from .writer import plain


class Unsupported(Exception):
    """Why an operator cannot be written with Weft's."""


# What a function of a table raises where an operator is used as it does not know it.
REFUSED = (Unsupported, AssertionError, TypeError, KeyError, IndexError)


class Lowering:
    """What a table of operators works with. `graph` grows; `weights` has the parameters as float32 by name."""

    def __init__(self):
        self.graph = Graph()
        self.weights, self.parameters, self.kept = {}, {}, {}
        self.missing = []  # (operator, why, where) of each that is not known

    def refuse_missing(self):
        if self.missing:
            raise Failure("%d operator%s not known to Weft:\n%s" % (
                len(self.missing), " is" if len(self.missing) == 1 else "s are",
                "\n".join("  %s%s, from\n%s" % m for m in self.missing)))

    def parameter(self, name, array, state=False):
        """The value of a parameter, or of state."""
        if name not in self.parameters:
            attributes = {"name": name, "shape": array.shape, "state": state}
            self.weights[name] = numpy.ascontiguousarray(array, numpy.float32).reshape(array.shape)
            scope, self.graph.scope = self.graph.scope, ()
            self.parameters[name] = self.graph.append("parameter", [], attributes, (array.shape, "f32")).output
            self.graph.scope = scope
        return self.parameters[name]

    def known_array(self, array, name=None, computed=lambda: None):
        """What is known as a value: a formula or a few numbers, else how it is `computed`, else a list or something kept."""
        try:
            return constant(self.graph, array)
        except NoFormula:
            return computed() or constant(self.graph, array, lambda core: self._kept(core, name), MANY)

    def _kept(self, core, name):
        """A constant too long for a file, as state that files have beside the parameters."""
        for other, array in self.kept.items():
            if array.shape == core.shape and (array == core).all():
                name = other
                break
        else:
            name = name or "constants.%d" % len(self.kept)
            self.kept[name] = core
        value = self.graph.cast(self.parameter(name, core, True), dtype_of(core))
        return value

    def minimize(self, loss):
        """A mean over rows becomes a sum and a count."""
        if loss is None or math.prod(loss.shape) != 1 or loss.dtype != "f32":
            raise Failure("the loss: expected a scalar of floating point, found %s" % (
                "nothing" if loss is None else "%s of %d dimensions" % (loss.dtype, loss.rank)))
        loss, origin = self.graph.reshape(loss, ()), loss.op
        if origin.kind == "div" and [v.op.kind for v in origin.inputs] == ["cross_entropy"] * 2 \
                and origin.inputs[0].op is origin.inputs[1].op:
            self.graph.append("minimize", origin.inputs, {})
        else:
            self.graph.append("minimize", [loss], {})

    def assign(self, state, value):
        """State that a step changes. It stands beside what it is assigned, in the module that has the state."""
        self.graph.scope = value.op.scope
        self.graph.append("assign", [state, value], {})
        self.graph.scope = ()
        self.graph.ops.insert(self.graph.ops.index(value.op) + 1, self.graph.ops.pop())

    # What several operators need.

    def tensor(self, x, dtype=None, like=None):
        """A number as a value that is repeated over what it meets, or a value of another type."""
        if isinstance(x, (bool, int, float)):
            return self.graph.fill((1,) * (like.rank if like is not None else 0), number(x, dtype or "f32"), dtype or "f32")
        return x if dtype is None else self.graph.cast(x, dtype)

    def mean_of_step(self, x):
        """The mean over the micro-batches of a step."""
        one = self.graph.fill((), 1.0)
        sums = [self.graph.unary("accumulate", value) for value in (x, one)]
        return self.graph.binary("div", *sums)

    def matmul(self, a, b):
        """The last two dimensions are multiplied, those before are matched."""
        squeezed = []
        if a.rank == 1:
            a, squeezed = self.graph.reshape(a, (1,) + a.shape), squeezed + [-2]
        if b.rank == 1:
            b, squeezed = self.graph.reshape(b, b.shape + (1,)), squeezed + [-1]
        outer = broadcast(a.shape[:-2], b.shape[:-2])
        letters = "abcdefgh"[:len(outer)]

        def of(x):
            # Extents of 1 that the other repeats are left out.
            keep = [i for i, n in enumerate(x.shape[:-2]) if n == outer[len(outer) - x.rank + 2 + i]]
            names = "".join(letters[len(outer) - x.rank + 2 + i] for i in keep)
            return self.graph.reshape(x, [x.shape[i] for i in keep] + list(x.shape[-2:])), names
        (a, of_a), (b, of_b) = of(a), of(b)
        y = self.graph.einsum("%sik,%skj->%sij" % (of_a, of_b, letters), a, b)
        return self.graph.reshape(y, [n for i, n in enumerate(y.shape) if i - y.rank not in squeezed])


def set_initial(graph, weights):
    """How each parameter begins where no file is given: much as it does here, and alike in all copies of a layer."""
    alike = {}
    for op in graph.ops:
        if op.kind == "parameter":
            alike.setdefault((tuple(op.attributes["name"].split(".")[-2:]), op.attributes["shape"]), []).append(op)
    for ops in alike.values():
        arrays = [weights[op.attributes["name"]].reshape(-1) for op in ops]
        first = arrays[0][0].item()
        if all((array == first).all() for array in arrays):
            begins = {"init": {0.0: "zeros", 1.0: "ones"}.get(first, "constant %s" % plain(first))}
        elif ops[0].attributes["state"]:
            begins = {"init": "zeros"}
        else:
            square = sum(float(numpy.square(a, dtype=numpy.float64).sum()) for a in arrays) / sum(a.size for a in arrays)
            begins = {"std": float("%.2g" % math.sqrt(square))}
        for op in ops:
            op.attributes.update(begins)
