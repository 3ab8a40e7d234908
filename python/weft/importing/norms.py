"""Normalisations."""

import math


def layer_norm(l, x, count, weight=None, bias=None, eps=1e-5):
    """Over the last `count` dimensions."""
    g, n = l.graph, math.prod(x.shape[x.rank - count:])
    vectors = [g.fill((n,), d) if v is None else g.reshape(v, (n,)) for v, d in ((weight, 1.0), (bias, 0.0))]
    rows = g.reshape(x, x.shape[:x.rank - count] + (n,))
    y = g.append("layer_norm", [rows] + vectors, {"eps": float(eps)}, (rows.shape, "f32")).output
    return g.reshape(y, x.shape)


def rms_norm(l, x, count, weight=None, eps=1e-5):
    """Over the last `count` dimensions."""
    g, n = l.graph, math.prod(x.shape[x.rank - count:])
    weight = g.fill((n,), 1.0) if weight is None else g.reshape(weight, (n,))
    rows = g.reshape(x, x.shape[:x.rank - count] + (n,))
    return g.reshape(g.append("rms_norm", [rows, weight], {"eps": float(eps)}, (rows.shape, "f32")).output, x.shape)


def group_norm(l, x, groups, weight=None, bias=None, eps=1e-5, *_):
    """Of groups of channels, the second dimension."""
    g, n = l.graph, math.prod(x.shape[1:]) // groups
    rows = g.reshape(x, (x.shape[0], groups, n))
    y = g.append("layer_norm", [rows, g.fill((n,), 1.0), g.fill((n,), 0.0)], {"eps": float(eps)}, (rows.shape, "f32")).output
    y, of_channel = g.reshape(y, x.shape), x.shape[1:2] + (1,) * (x.rank - 2)
    y = y if weight is None else g.binary("mul", y, g.reshape(weight, of_channel))
    return y if bias is None else g.binary("add", y, g.reshape(bias, of_channel))


def batch_dims(x):
    """All but the channels."""
    return tuple(d for d in range(x.rank) if d != 1)


def batch_norm(l, x, weight, bias, eps):
    """(result, the batch's mean and variance of each channel)."""
    of_channel = (x.shape[1:2], "f32")
    return l.graph.append("batch_norm", [x, weight, bias], {"dims": batch_dims(x), "eps": float(eps)}, (x.shape, "f32"),
                          of_channel, of_channel).outputs


def batch_norm_apply(l, x, mean, variance, weight, bias, eps):
    """By statistics that are given."""
    return l.graph.append("batch_norm_apply", [x, mean, variance, weight, bias], {"dims": batch_dims(x), "eps": float(eps)},
                          (x.shape, "f32")).output


def moved(l, past, now, momentum, factor=1.0):
    """Running statistics after a step: `momentum` of the way from `past` to `factor` times the step's."""
    g = l.graph
    now = g.unary("scale", l.mean_of_step(now), by=momentum)
    now = now if factor == 1 else g.unary("scale", now, by=factor)
    return g.binary("add", g.unary("scale", past, by=1 - momentum), now)
