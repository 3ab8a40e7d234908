"""Normalisations as PyTorch's operators say them."""

import math

from .. import norms


def layer_norm(l, x, shape, weight=None, bias=None, eps=1e-5, *_):
    y = norms.layer_norm(l, x, len(shape), weight, bias, eps)
    return [y] if "native" in str(l.node.target) else y


def rms_norm(l, x, shape, weight=None, eps=None):
    return norms.rms_norm(l, x, len(shape), weight, 1.1920928955078125e-07 if eps is None else eps)


def batch_norm(l, x, weight, bias, *rest):
    """Results as torch has them: the batch's, its mean, something nobody reads, and the next running statistics."""
    g, name = l.graph, str(l.node.target)
    weight = g.fill((x.shape[1],), 1.0) if weight is None else weight
    bias = g.fill((x.shape[1],), 0.0) if bias is None else bias
    running = rest[:2] if "no_stats" not in name else None
    if running is not None and ("no_training" in name or not rest[2]):
        y = norms.batch_norm_apply(l, x, *running, weight, bias, rest[-1])
        return [y, running[0], running[1], running[0], running[1]]
    y, mean, variance = norms.batch_norm(l, x, weight, bias, rest[-1])
    if running is None:
        return [y, mean, variance]
    momentum, n = float(rest[3]), math.prod(x.shape[d] for d in norms.batch_dims(x))
    return [y, mean, variance, norms.moved(l, running[0], mean, momentum),
            norms.moved(l, running[1], variance, momentum, n / (n - 1))]
