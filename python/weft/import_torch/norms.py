"""Normalisations."""

import math


def layer_norm(l, x, shape, weight=None, bias=None, eps=1e-5, *_):
    g, n = l.graph, math.prod(shape)
    vectors = [g.fill((n,), d) if v is None else g.reshape(v, (n,)) for v, d in ((weight, 1.0), (bias, 0.0))]
    rows = g.reshape(x, x.shape[:x.rank - len(shape)] + (n,))
    y = g.append("layer_norm", [rows] + vectors, {"eps": float(eps)}, (rows.shape, "f32")).output
    y = g.reshape(y, x.shape)
    return [y] if "native" in str(l.node.target) else y


def rms_norm(l, x, shape, weight=None, eps=None):
    g, n = l.graph, math.prod(shape)
    weight = g.fill((n,), 1.0) if weight is None else g.reshape(weight, (n,))
    rows = g.reshape(x, x.shape[:x.rank - len(shape)] + (n,))
    eps = 1.1920928955078125e-07 if eps is None else float(eps)
    return g.reshape(g.append("rms_norm", [rows, weight], {"eps": eps}, (rows.shape, "f32")).output, x.shape)


def group_norm(l, x, groups, weight=None, bias=None, eps=1e-5, *_):
    g, n = l.graph, math.prod(x.shape[1:]) // groups
    rows = g.reshape(x, (x.shape[0], groups, n))
    y = g.append("layer_norm", [rows, g.fill((n,), 1.0), g.fill((n,), 0.0)], {"eps": float(eps)}, (rows.shape, "f32")).output
    y, of_channel = g.reshape(y, x.shape), x.shape[1:2] + (1,) * (x.rank - 2)
    y = y if weight is None else g.binary("mul", y, g.reshape(weight, of_channel))
    return y if bias is None else g.binary("add", y, g.reshape(bias, of_channel))


def batch_norm(l, x, weight, bias, *rest):
    """Results as torch has them: the batch's, its mean, something nobody reads, and the next running statistics."""
    g, name = l.graph, str(l.node.target)
    weight = g.fill((x.shape[1],), 1.0) if weight is None else weight
    bias = g.fill((x.shape[1],), 0.0) if bias is None else bias
    dims = tuple(d for d in range(x.rank) if d != 1)
    eps = float(rest[-1])
    running = rest[:2] if "no_stats" not in name else None
    if running is not None and ("no_training" in name or not rest[2]):
        y = g.append("batch_norm_apply", [x, *running, weight, bias], {"dims": dims, "eps": eps}, (x.shape, "f32")).output
        return [y, running[0], running[1], running[0], running[1]]
    of_channel = (x.shape[1:2], "f32")
    op = g.append("batch_norm", [x, weight, bias], {"dims": dims, "eps": eps}, (x.shape, "f32"), of_channel, of_channel)
    y, mean, variance = op.outputs
    if running is None:
        return [y, mean, variance]
    momentum, n = float(rest[3]), math.prod(x.shape[d] for d in dims)
    moved = []
    for past, now, factor in ((running[0], mean, 1.0), (running[1], variance, n / (n - 1))):
        now = g.unary("scale", l.mean_of_step(now), by=momentum)
        now = now if factor == 1 else g.unary("scale", now, by=factor)
        moved.append(g.binary("add", g.unary("scale", past, by=1 - momentum), now))
    return [y, mean, variance] + moved
