"""Convolutions and pooling. Channels are the second dimension, as in PyTorch; windows lie as there."""

import torch

from .lowering import Unsupported


def convolution(l, x, weight, bias=None, stride=1, padding=0, dilation=1, *rest):
    g, n = l.graph, weight.rank - 2
    if "convolution" in str(l.node.target):
        if rest[0]:
            raise Unsupported("a transposed convolution")
        groups = rest[2]
    else:
        groups = rest[0] if rest else 1
    if isinstance(padding, str):
        raise Unsupported("padding %s" % padding)

    def numbers(v):
        v = [v] if isinstance(v, int) else list(v)
        return tuple(v * n if len(v) == 1 else v)
    size = weight.shape[2:]
    steps = {"stride": numbers(stride), "padding": numbers(padding), "dilation": numbers(dilation)}
    places = places_of(x.shape[2:], size, steps)
    steps = {k: v for k, v in steps.items() if set(v) != {0 if k == "padding" else 1}}
    out, channels = weight.shape[:2]
    letters, window = "pqr"[:n], "ijk"[:n]
    if channels == 1 and groups == x.shape[1] == out:
        last = (0,) + tuple(range(2, n + 2)) + (1,)
        rows = g.transpose(x, last)
        w = g.transpose(g.reshape(weight, (out,) + size), tuple(range(1, n + 1)) + (0,))
        y = g.append("depthwise_conv", [rows, w], steps, ((x.shape[0],) + places + (out,), "f32")).output
        y = y if bias is None else g.binary("add", y, bias)
        return g.transpose(y, (0, n + 1) + tuple(range(1, n + 1)))
    unfolded = x.shape[:2] + places + size
    windows = g.append("unfold", [x], {"dim": 2, "size": size, **steps}, (unfolded, x.dtype)).output
    if groups == 1:
        y = g.einsum("bc%s%s,oc%s->bo%s" % (letters, window, window, letters), windows, weight)
    else:
        windows = g.reshape(windows, (x.shape[0], groups, channels) + unfolded[2:])
        w = g.reshape(weight, (groups, out // groups, channels) + size)
        y = g.einsum("bgc%s%s,goc%s->bgo%s" % (letters, window, window, letters), windows, w)
        y = g.reshape(y, (x.shape[0], out) + places)
    return y if bias is None else g.binary("add", y, g.reshape(bias, (out,) + (1,) * n))


def places_of(extents, size, steps):
    return tuple((extent + 2 * steps["padding"][i] - steps["dilation"][i] * (size[i] - 1) - 1) // steps["stride"][i] + 1
                 for i, extent in enumerate(extents))


def max_pool(l, x, size, stride=(), padding=0, dilation=1, ceil_mode=False):
    n = 1 if "1d" in str(l.node.target) else 2

    def numbers(v):
        v = [v] if isinstance(v, int) else list(v)
        return tuple(v * n if len(v) == 1 else v)
    size = numbers(size)
    steps = {"stride": numbers(stride) if stride else size, "padding": numbers(padding), "dilation": numbers(dilation)}
    shape = x.shape[:-n] + places_of(x.shape[-n:], size, steps)
    if shape != l.shape:
        raise Unsupported("ceil_mode")
    y = l.graph.append("max_pool", [x], {"dim": x.rank - n, "size": size, **steps}, (shape, "f32")).output
    return [y] if "indices" in str(l.node.target) else y


def avg_pool(l, x, size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    g, n = l.graph, 1 if "1d" in str(l.node.target) else 2

    def numbers(v):
        v = [v] if isinstance(v, int) else list(v)
        return tuple(v * n if len(v) == 1 else v)
    size = numbers(size)
    steps = {"stride": numbers(stride) if stride else size, "padding": numbers(padding), "dilation": (1,) * n}
    shape = x.shape[:-n] + places_of(x.shape[-n:], size, steps)
    if shape != l.shape or divisor_override:
        raise Unsupported("ceil_mode or divisor_override")
    windows = g.append("unfold", [x], {"dim": x.rank - n, "size": size, **steps}, (shape + size, "f32")).output
    y = g.reduce("mean", windows, range(len(shape), len(shape) + n))
    if count_include_pad or not any(steps["padding"]):
        return y
    # What is outside does not count: a window there has fewer.
    inside = torch.ones((1,) * (x.rank - n) + x.shape[-n:])
    pool = torch.nn.functional.avg_pool1d if n == 1 else torch.nn.functional.avg_pool2d
    share = pool(inside, size, steps["stride"], steps["padding"])
    return g.binary("div", y, l.constant(share, l.node))


def adaptive_avg_pool(l, x, size):
    g, n = l.graph, len(size)
    shape, dims = list(x.shape[:-n]), []
    for extent, places in zip(x.shape[-n:], size):
        if extent % places:
            raise Unsupported("%d places of %d" % (places, extent))
        shape += [places, extent // places]
        dims.append(len(shape) - 1)
    return g.reduce("mean", g.reshape(x, shape), dims)
