"""What several operators are made of."""

from .graph import broadcast


def scaled(l, x, alpha):
    if alpha == 1:
        return x
    return x * alpha if isinstance(x, (int, float)) else l.graph.unary("scale", l.tensor(x, "f32"), by=float(alpha))


def choose(l, condition, a, b):
    shape = broadcast(broadcast(condition.shape, a.shape), b.shape)
    return l.graph.append("select", [condition, a, b], {}, (shape, a.dtype)).output


def take(l, x, ids, dim, batch=0):
    shape = x.shape[:dim] + ids.shape[batch:] + x.shape[dim + 1:]
    dtype = x.dtype
    if dtype == "i8":
        x = l.graph.cast(x, "i32")
    y = l.graph.append("take", [x, ids], {"dim": dim, "batch": batch}, (shape, x.dtype)).output
    return l.graph.cast(y, dtype)


def log_softmax(l, x, dim, *_, **__):
    g, dim = l.graph, [dim % x.rank]
    x = l.tensor(x, "f32")
    low = g.binary("sub", x, g.unary("stop_gradient", g.reduce("max", x, dim, True)))
    return g.binary("sub", low, g.unary("log", g.reduce("sum", g.unary("exp", low), dim, True)))
