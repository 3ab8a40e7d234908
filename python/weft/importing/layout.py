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
    if inputs == op.inputs:
        return None
    small = graph.append(op.kind, inputs, op.attributes, (shape, op.output.dtype)).output
    return graph.broadcast_to(small, op.output.shape)


def broadcast_behind_unary(graph, op):
    """f(broadcast(x)) as broadcast(f(x))."""
    if op.kind not in UNARY or op.inputs[0].op.kind != "broadcast_to":
        return None
    small = graph.unary(op.kind, op.inputs[0].op.inputs[0], op.output.dtype, **op.attributes)
    return graph.broadcast_to(small, op.output.shape)


def broadcast_chain(graph, op):
    """One broadcast of two."""
    if op.kind != "broadcast_to" or op.inputs[0].op.kind != "broadcast_to":
        return None
    return graph.broadcast_to(op.inputs[0].op.inputs[0], op.output.shape)


def reshape_behind_norm(graph, op):
    """A norm of rows that are joined, as one of the rows as they are."""
    if op.kind not in ("layer_norm", "rms_norm") or not joins(op.inputs[0]):
        return None
    x = op.inputs[0].op.inputs[0]
    y = graph.append(op.kind, [x] + op.inputs[1:], op.attributes, (x.shape, "f32")).output
    return graph.reshape(y, op.output.shape)


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


def apart(b, a):
    """The shape of `b`, of which something is repeated or cut already, where what `a` joins is apart; or None."""
    sizes = groups(a.op.inputs[0].shape, a.shape)
    if b.rank != a.rank or sizes is None or b.op.kind not in ("reshape", "broadcast_to", "constant"):
        return None
    shape, at = [], 0
    for n, m, size in zip(b.shape, a.shape, sizes):
        shape += [1] * size if n == 1 and m != 1 else list(a.op.inputs[0].shape[at:at + size])
        at += size
    return tuple(shape)


def groups(fine, coarse):
    """For each of the coarse extents how many of the fine ones make it; None if they do not."""
    found, at = [], 0
    for n in coarse:
        count, product = 0, 1
        while at < len(fine) and (product < n or (count == 0 and fine[at] == 1)):
            product *= fine[at]
            at, count = at + 1, count + 1
        if product != n:
            return None
        found.append(count)
    return found if at == len(fine) and 0 not in found else None


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
    elif joins(a) and a.shape == op.output.shape and apart(b, a):
        x, y = a.op.inputs[0], graph.reshape(b, apart(b, a))
    else:
        return None
    return graph.reshape(graph.binary(op.kind, x, y, op.output.dtype, **op.attributes), op.output.shape)


def batches_apart(graph, op):
    """A product of batches that reshapes have joined, such as heads, as one of the batches as they were."""
    if op.kind != "einsum" or any(v.op.kind != "reshape" for v in op.inputs):
        return None
    left, result = op.attributes["equation"].split("->")
    terms = left.split(",")
    if terms[0][0] != terms[1][0] or terms[0][0] not in result:
        return None
    # The letter that is cut, in both as their first dimension; one of them says how, and cuts nothing else.
    cuts = [v.op.inputs[0].shape[:size[0]] for v in op.inputs for size in [groups(v.op.inputs[0].shape, v.shape)]
            if size is not None and size[0] > 1 and not set(size[1:]) - {1}]
    if not cuts or cuts[0] != cuts[-1]:
        return None
    new = "".join([c for c in "uvwxyz" if c not in left][:len(cuts[0])])
    y = graph.einsum("%s,%s->%s" % tuple(t.replace(terms[0][0], new) for t in (terms[0], terms[1], result)),
                     *[graph.reshape(v, cuts[0] + v.shape[1:]) for v in op.inputs])
    return graph.reshape(y, op.output.shape)


def ones_behind_broadcast(graph, op):
    """reshape(broadcast(x)) as broadcast(reshape(x)), where the reshape adds dimensions of extent 1 and nothing else."""
    if op.kind != "reshape" or op.inputs[0].op.kind != "broadcast_to":
        return None
    x, shape, at = op.inputs[0].op.inputs[0], list(op.output.shape), 0
    if [n for n in shape if n != 1] != [n for n in op.inputs[0].shape if n != 1] or x.rank != op.inputs[0].rank:
        return None
    extents = [a for a, b in zip(x.shape, op.inputs[0].shape) if b != 1]
    for i, n in enumerate(shape):
        if n != 1:
            shape[i], at = extents[at], at + 1
    return graph.broadcast_to(graph.reshape(x, tuple(shape)), op.output.shape)


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
    equation = permuted(op.inputs[0].op, op.attributes["perm"])
    return graph.einsum(equation, *op.inputs[0].op.inputs) if ordered(equation) else None


def permuted(product, perm):
    left, result = product.attributes["equation"].split("->")
    return "%s->%s" % (left, "".join(result[i] for i in perm))


def rows_of(equation):
    """The letters of the first operand that stay, in its order."""
    left, result = equation.split("->")
    rows, columns = left.split(",")
    return [c for c in rows if c in result and c not in columns]


def ordered(equation):
    """Whether rows stay in their order, as batch and places should, whatever torch's modules do meanwhile."""
    result, rows = equation.split("->")[1], rows_of(equation)
    return [c for c in result if c in rows] == rows


def rows_ordered(graph, op):
    """A product that permutes its rows as one that does not, and a transpose behind it."""
    if op.kind != "einsum" or ordered(op.attributes["equation"]):
        return None
    left, result = op.attributes["equation"].split("->")
    rows = iter(rows_of(op.attributes["equation"]))
    better = "".join(next(rows) if c in rows_of(op.attributes["equation"]) else c for c in result)
    return graph.transpose(graph.einsum("%s->%s" % (left, better), *op.inputs), [better.index(c) for c in result])


def bias_before_transpose(graph, op):
    """transpose(x) + v as transpose(x + v), where v is of last dimensions that stay."""
    if op.kind not in ("add", "mul") or op.inputs[0].op.kind != "transpose":
        return None
    (x, perm), bias = (op.inputs[0].op.inputs[0], op.inputs[0].op.attributes["perm"]), op.inputs[1]
    stays = perm[x.rank - bias.rank:] == tuple(range(x.rank - bias.rank, x.rank))
    if bias.op.kind != "parameter" or not stays or op.output.shape != op.inputs[0].shape:
        return None
    return graph.transpose(graph.binary(op.kind, x, bias), perm)


def transpose_behind_slice(graph, op):
    """A part of what is transposed, as the transpose of a part."""
    if op.kind != "slice" or op.inputs[0].op.kind != "transpose":
        return None
    move, a = op.inputs[0].op, op.attributes
    part = graph.slice(move.inputs[0], move.attributes["perm"][a["dim"]], a["from"], a["size"])
    return graph.transpose(part, move.attributes["perm"])


def transpose_behind_concat(graph, op):
    """Transposes joined, as the transpose of what is joined."""
    if op.kind != "concat" or any(v.op.kind != "transpose" for v in op.inputs):
        return None
    perm = op.inputs[0].op.attributes["perm"]
    others = [back_to(v, perm) for v in op.inputs]
    if None in others:
        return None
    return graph.transpose(graph.concat(others, perm[op.attributes["dim"]]), perm)


def back_to(value, perm):
    """What a transpose by `perm` is of, or None of another one."""
    return value.op.inputs[0] if value.op.attributes["perm"] == perm else None


def transpose_behind_bias(graph, op):
    """A transpose of x + v, where v is of the last dimension of a product x alone, as the sum of transposed ones."""
    if op.kind != "transpose" or op.inputs[0].op.kind not in ("add", "mul") or len(graph.readers(op.inputs[0])) > 1:
        return None
    a, b = op.inputs[0].op.inputs
    if b.rank != 1 or a.op.kind != "einsum" or a.shape != op.inputs[0].shape or len(graph.readers(a)) > 1:
        return None
    perm = op.attributes["perm"]
    if not ordered(permuted(a.op, perm)):
        return None
    at = perm.index(a.rank - 1)
    return graph.binary(op.inputs[0].op.kind, graph.transpose(a, perm), graph.reshape(b, b.shape + (1,) * (a.rank - 1 - at)))


RULES = [chain, implied_broadcast, broadcast_behind_unary, broadcast_chain, ones_behind_broadcast, reshape_behind_norm,
         batches_apart,
         reshape_behind_unary, reshape_behind_binary, einsum_of_transpose,
         transpose_of_einsum,
         rows_ordered, bias_before_transpose, transpose_behind_bias]
# After the patterns, which look for parts of what is transposed.
LATE_RULES = [transpose_behind_slice, transpose_behind_concat]
