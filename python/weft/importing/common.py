"""What operators of several fronts are made of."""

from .graph import broadcast
from .lowering import Unsupported


def choose(l, condition, a, b):
    shape = broadcast(broadcast(condition.shape, a.shape), b.shape)
    return l.graph.append("select", [condition, a, b], {}, (shape, a.dtype)).output


def truth(l, x):
    return x if x.dtype == "i8" else l.graph.binary("not_equal", x, l.tensor(0, x.dtype, x), "i8")


def take(l, x, ids, dim, batch=0):
    """Rows by number; the ids have the first `batch` dimensions of `x`."""
    shape = x.shape[:dim] + ids.shape[batch:] + x.shape[dim + 1:]
    dtype = x.dtype
    if dtype == "i8":
        x = l.graph.cast(x, "i32")
    y = l.graph.append("take", [x, ids], {"dim": dim, "batch": batch}, (shape, x.dtype)).output
    return l.graph.cast(y, dtype)


def gather(l, x, dim, ids):
    """Element by element: the place along `dim` is that of the ids, the others are their own."""
    dim %= x.rank
    ids = l.tensor(ids, "i32")
    if ids.shape[:dim] + ids.shape[dim + 1:] != x.shape[:dim] + x.shape[dim + 1:]:
        # Only the first elements of the other dimensions are read.
        for d in range(x.rank):
            x = x if d == dim else l.graph.slice(x, d, 0, ids.shape[d])
    perm, back = to_last(x, dim)
    y = take(l, l.graph.transpose(x, perm), l.graph.transpose(ids, perm), x.rank - 1, x.rank - 1)
    return l.graph.transpose(y, back)


def to_last(x, dim):
    """The permutation that makes `dim` the last dimension, and the one back."""
    perm = [d for d in range(x.rank) if d != dim] + [dim]
    return perm, [perm.index(d) for d in range(x.rank)]


def places(l, count, start=0, step=1):
    """start, start + step, ..."""
    g = l.graph
    ids = g.append("iota", [], {"shape": (count,), "dim": 0}, ((count,), "i32")).output
    ids = ids if step == 1 else g.binary("mul", ids, g.fill((1,), step, "i32"))
    return ids if start == 0 else g.binary("add", ids, g.fill((1,), start, "i32"))


def part(l, x, dim, start, count, step=1):
    """Every `step`-th place from `start`."""
    if step == 1 or count == 1:
        return l.graph.slice(x, dim, start, count)
    return take(l, x, places(l, count, start, step), dim)


def tile(l, x, times):
    """Repeated so many times along each dimension; those that x lacks are its first."""
    shape = (1,) * (len(times) - x.rank) + x.shape
    split = [n for extent in shape for n in (1, extent)]
    wide = [n for k, extent in zip(times, shape) for n in (k, extent)]
    y = l.graph.broadcast_to(l.graph.reshape(x, split), wide)
    return l.graph.reshape(y, [k * extent for k, extent in zip(times, shape)])


def padded(l, x, dim, before, after, number=0):
    """With a number in front and behind; numbers below 0 cut."""
    g = l.graph
    if min(before, after) < 0:
        x = g.slice(x, dim, max(-before, 0), x.shape[dim] + min(before, 0) + min(after, 0))
        before, after = max(before, 0), max(after, 0)
    if not before and not after:
        return x
    if number == 0 and x.dtype != "i8":
        shape = x.shape[:dim] + (x.shape[dim] + before + after,) + x.shape[dim + 1:]
        return g.append("pad", [x], {"dim": dim, "before": before, "after": after}, (shape, x.dtype)).output
    sides = [g.fill(x.shape[:dim] + (n,) + x.shape[dim + 1:], number, x.dtype) if n else None for n in (before, after)]
    return g.concat([y for y in (sides[0], x, sides[1]) if y is not None], dim)


def triangle(l, x, diagonal, lower):
    """What is up to a diagonal of the last two dimensions, or from it; 0 elsewhere."""
    g, shape = l.graph, (1,) * (x.rank - 2) + x.shape[-2:]
    i, j = (g.append("iota", [], {"shape": shape, "dim": x.rank - d}, (shape, "i32")).output for d in (2, 1))
    i = i if diagonal == 0 else g.binary("add", i, g.fill((1,) * x.rank, diagonal, "i32"))
    inside = g.binary("less_equal" if lower else "greater_equal", j, i, "i8")
    return choose(l, inside, x, l.tensor(0, x.dtype, x)) if x.dtype != "i8" else g.binary("logical_and", inside, x, "i8")


# Functions of each element.

def floor(l, x):
    g = l.graph
    whole = g.cast(g.cast(x, "i32"), "f32")  # towards 0
    return g.binary("sub", whole, g.cast(g.binary("greater", whole, x, "i8"), "f32"))


def leaky_relu(l, x, slope):
    g = l.graph
    above = g.binary("greater", x, l.tensor(0.0, "f32", x), "i8")
    return choose(l, above, x, g.unary("scale", x, by=float(slope)))


def elu(l, x, alpha=1.0, scale=1.0, input_scale=1.0):
    g = l.graph
    # The exponent is of what is not above 0, so that nothing overflows where it is not chosen.
    low = g.unary("clamp", x, max=0.0)
    low = g.unary("add_scalar", g.unary("exp", g.unary("scale", low, by=float(input_scale))), by=-1.0)
    low = g.unary("scale", low, by=float(alpha * scale))
    high = x if scale == 1 else g.unary("scale", x, by=float(scale))
    return choose(l, g.binary("greater", x, l.tensor(0.0, "f32", x), "i8"), high, low)


def softplus(l, x, beta=1.0, threshold=20.0):
    g = l.graph
    y = x if beta == 1 else g.unary("scale", x, by=float(beta))
    small = g.unary("clamp", y, max=float(threshold))
    small = g.unary("log", g.unary("add_scalar", g.unary("exp", small), by=1.0))
    small = small if beta == 1 else g.unary("scale", small, by=1 / beta)
    return choose(l, g.binary("greater", y, l.tensor(float(threshold), "f32", y), "i8"), x, small)


def hardsigmoid(l, x):
    g = l.graph
    return g.unary("scale", g.unary("clamp", g.unary("add_scalar", x, by=3.0), min=0.0, max=6.0), by=1 / 6)


def divided(l, a, b):
    """a / b of whole numbers, cut off towards 0: exact in float32 below 2^24."""
    a, b = l.tensor(a, "f32"), l.tensor(b, "f32", a)
    return l.graph.cast(l.graph.binary("div", a, b), "i32")


# Along dimensions.

def along_last(l, x, dim, make):
    """What `make` does along the last dimension, along another one."""
    dim %= max(x.rank, 1)
    perm = list(range(x.rank))
    perm[dim], perm[-1] = perm[-1], perm[dim]
    return l.graph.transpose(make(l.graph.transpose(x, perm)), perm)


def softmax(l, x, dim):
    return along_last(l, l.tensor(x, "f32"), dim, lambda y: l.graph.unary("softmax", y))


def log_softmax(l, x, dim, *_, **__):
    g, dim = l.graph, [dim % x.rank]
    x = l.tensor(x, "f32")
    low = g.binary("sub", x, g.unary("stop_gradient", g.reduce("max", x, dim, True)))
    return g.binary("sub", low, g.unary("log", g.reduce("sum", g.unary("exp", low), dim, True)))


def logsumexp(l, x, dims, keep):
    g = l.graph
    top = g.unary("stop_gradient", g.reduce("max", x, dims, True))
    y = g.unary("log", g.reduce("sum", g.unary("exp", g.binary("sub", x, top)), dims, True))
    y = g.binary("add", y, top)
    return y if keep else g.reshape(y, [n for d, n in enumerate(y.shape) if d not in dims])


def least(l, x, dims, keep):
    g = l.graph
    return g.cast(g.unary("neg", g.reduce("max", g.unary("neg", l.tensor(x, "f32")), dims, keep)), x.dtype)


def einsum(l, equation, operands):
    equation = equation.replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if len(operands) != 2 or not arrow or "." in equation or any(len(set(t)) != len(t) for t in terms):
        raise Unsupported("the equation %s" % equation)
    values = []
    for term, other, value in zip(terms, terms[::-1], operands):
        # What one operand alone has and the result lacks is summed first.
        alone = [i for i, x in enumerate(term) if x not in other and x not in result]
        values.append(l.graph.reduce("sum", value, alone))
        equation = equation.replace(term, "".join(x for i, x in enumerate(term) if i not in alone), 1) if alone else equation
    return l.graph.einsum(equation, *values)


def rows_of_table(l, ids, table):
    shape = ids.shape + table.shape[1:]
    return l.graph.append("embedding", [ids, table], {}, (shape, "f32")).output

