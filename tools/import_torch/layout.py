"""Rules for what moves elements and computes nothing: chains become short, and go where they join others."""

import math

from .graph import broadcast

MOVES = ("reshape", "transpose")
UNARY = ("neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "square", "abs", "sin", "cos", "relu", "silu", "gelu", "scale",
         "add_scalar", "power", "clamp", "cast", "stop_gradient")
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum", "greater", "greater_equal", "less", "less_equal", "equal",
          "not_equal", "logical_and", "logical_or")


def chain(graph, op):
    """A chain of reshapes and transposes as one reshape, transpose and reshape, or fewer."""
    if op.kind not in MOVES:
        return None
    length, source = 1, op.inputs[0]
    moves = [op]
    while source.op.kind in MOVES:
        moves.append(source.op)
        length, source = length + 1, source.op.inputs[0]
    atoms = Atoms(source.shape)
    for move in reversed(moves):
        if not (atoms.permute(move.attributes["perm"]) if move.kind == "transpose" else atoms.reshape(move.output.shape)):
            return None
    first, perm = atoms.plan()
    steps = [first != source.shape, perm != tuple(range(len(perm))), tuple(first[i] for i in perm) != op.output.shape]
    if perm == tuple(range(len(perm))):
        steps = [source.shape != op.output.shape]
    if sum(steps) >= length:
        return None
    if len(steps) == 1:
        return graph.reshape(source, op.output.shape)
    return graph.reshape(graph.transpose(graph.reshape(source, first), perm), op.output.shape)


class Atoms:
    """The parts that dimensions are cut into and joined of, each with its extent; extents of 1 are left out."""

    def __init__(self, shape):
        self.sizes, self.dims = {}, []
        self.order = []  # of the source
        for n in shape:
            self.dims.append([self._new(n)] if n != 1 else [])
            self.order += self.dims[-1]

    def _new(self, n):
        self.sizes[len(self.sizes)] = n
        return len(self.sizes) - 1

    def permute(self, perm):
        self.dims = [self.dims[i] for i in perm]
        return True

    def reshape(self, shape):
        flat, dims = [atom for dim in self.dims for atom in dim], []
        for n in shape:
            dim = []
            while n != 1:
                if not flat:
                    return False
                size = self.sizes[flat[0]]
                if n % size == 0:
                    dim.append(flat.pop(0))
                    n //= size
                elif size % n == 0:
                    a, b = self._new(n), self._new(size // n)
                    self._cut(flat[0], [a, b])
                    flat[0:1] = [b]
                    dim.append(a)
                    n = 1
                else:
                    return False
            dims.append(dim)
        self.dims = dims
        return not flat

    def _cut(self, atom, parts):
        at = self.order.index(atom)
        self.order[at:at + 1] = parts

    def plan(self):
        """(the shape into which the source is cut, the permutation of that)."""
        final = [atom for dim in self.dims for atom in dim]
        runs, where = [], {atom: i for i, atom in enumerate(final)}
        for atom in self.order:
            if runs and where[runs[-1][-1]] + 1 == where[atom]:
                runs[-1].append(atom)
            else:
                runs.append([atom])
        first = tuple(math.prod(self.sizes[a] for a in run) for run in runs)
        perm = tuple(sorted(range(len(runs)), key=lambda i: where[runs[i][0]]))
        # A cut that the result has in the end may as well be there at once.
        cut = self._cut_as_result(runs, perm)
        return cut or (first, perm)

    def _cut_as_result(self, runs, perm):
        """The same with the extents of the result, where each run is whole dimensions of it."""
        place, shapes = 0, {}
        dims = [dim for dim in self.dims if dim]
        for i in perm:
            left, sizes = list(runs[i]), []
            while left:
                if place == len(dims) or left[:len(dims[place])] != dims[place]:
                    return None
                sizes.append(math.prod(self.sizes[a] for a in dims[place]))
                left = left[len(dims[place]):]
                place += 1
            shapes[i] = sizes
        first, starts = [], {}
        for i in range(len(runs)):
            starts[i] = len(first)
            first += shapes[i]
        return tuple(first), tuple(starts[i] + k for i in perm for k in range(len(shapes[i])))


def implied_broadcast(graph, op):
    """What an operation repeats itself need not be repeated before it."""
    if op.kind not in BINARY and op.kind != "select":
        return None
    inputs = [v.op.inputs[0] if v.op.kind == "broadcast_to" else v for v in op.inputs]
    shape = ()
    for v in inputs:
        shape = broadcast(shape, v.shape)
    if inputs == op.inputs or shape != op.output.shape:
        return None
    return graph.append(op.kind, inputs, op.attributes, (shape, op.output.dtype)).output


def joins(value):
    """Whether a value is a reshape of one that has more dimensions and the same last one."""
    return (value.op.kind == "reshape" and value.op.inputs[0].rank > value.rank >= 1
            and value.op.inputs[0].shape[-1] == value.shape[-1])


def reshape_behind_unary(graph, op):
    """f(reshape(x)) as reshape(f(x))."""
    if op.kind not in UNARY or not joins(op.inputs[0]):
        return None
    x = op.inputs[0].op.inputs[0]
    return graph.reshape(graph.unary(op.kind, x, op.output.dtype, **op.attributes), op.output.shape)


def reshape_behind_binary(graph, op):
    """f(reshape(x), v) as reshape(f(x, v)), where v is the same for all rows or is reshaped alike."""
    if op.kind not in BINARY:
        return None
    a, b = op.inputs
    if joins(a) and b.rank <= 1 and a.shape == op.output.shape:
        x, y = a.op.inputs[0], b
    elif joins(b) and a.rank <= 1 and b.shape == op.output.shape:
        x, y = a, b.op.inputs[0]
    elif joins(a) and joins(b) and a.op.inputs[0].shape == b.op.inputs[0].shape and a.shape == b.shape:
        x, y = a.op.inputs[0], b.op.inputs[0]
    else:
        return None
    return graph.reshape(graph.binary(op.kind, x, y, op.output.dtype, **op.attributes), op.output.shape)


def einsum_of_transpose(graph, op):
    """The letters of a product say what a transpose before it does."""
    if op.kind != "einsum":
        return None
    left, result = op.attributes["equation"].split("->")
    terms, inputs = left.split(","), list(op.inputs)
    for i, value in enumerate(inputs):
        if value.op.kind == "transpose":
            perm = value.op.attributes["perm"]
            term = [""] * value.rank
            for place, source in enumerate(perm):
                term[source] = terms[i][place]
            terms[i], inputs[i] = "".join(term), value.op.inputs[0]
    if inputs == op.inputs:
        return None
    return graph.einsum("%s->%s" % (",".join(terms), result), *inputs)


def transpose_of_einsum(graph, op):
    """The letters of a product say what a transpose behind it does."""
    if op.kind != "transpose" or op.inputs[0].op.kind != "einsum" or len(graph.readers(op.inputs[0])) > 1:
        return None
    product = op.inputs[0].op
    left, result = product.attributes["equation"].split("->")
    return graph.einsum("%s->%s" % (left, "".join(result[i] for i in op.attributes["perm"])), *product.inputs)


def transpose_behind_bias(graph, op):
    """A transpose of x + v, where v is of the last dimension of a product x alone, as the sum of transposed ones."""
    if op.kind != "transpose" or op.inputs[0].op.kind not in ("add", "mul") or len(graph.readers(op.inputs[0])) > 1:
        return None
    a, b = op.inputs[0].op.inputs
    if b.rank != 1 or a.op.kind != "einsum" or a.shape != op.inputs[0].shape or len(graph.readers(a)) > 1:
        return None
    perm = op.attributes["perm"]
    at = perm.index(a.rank - 1)
    return graph.binary(op.inputs[0].op.kind, graph.transpose(a, perm), graph.reshape(b, b.shape + (1,) * (a.rank - 1 - at)))


RULES = [chain, implied_broadcast, reshape_behind_unary, reshape_behind_binary, einsum_of_transpose,
         transpose_of_einsum, transpose_behind_bias]
