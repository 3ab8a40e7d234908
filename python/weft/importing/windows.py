"""Convolutions and pooling. Channels are the second dimension, and windows lie as PyTorch's and ONNX's do: `stride`, `padding`
(as much before as behind) and `dilation` have a number for each dimension that windows move along."""

import itertools

import numpy

from .lowering import Unsupported


def convolution(l, x, weight, bias, stride, padding, dilation, groups):
    """x[batch, channels, places...] and weight[out, channels / groups, window...]."""
    g, n = l.graph, weight.rank - 2
    size = weight.shape[2:]
    steps = {"stride": stride, "padding": padding, "dilation": dilation}
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


def max_pool(l, x, size, stride, padding, dilation):
    """The largest of each window along the last dimensions."""
    n, steps = len(size), {"stride": stride, "padding": padding, "dilation": dilation}
    shape = x.shape[:-n] + places_of(x.shape[-n:], size, steps)
    return l.graph.append("max_pool", [x], {"dim": x.rank - n, "size": size, **steps}, (shape, "f32")).output


def avg_pool(l, x, size, stride, padding, count_padding):
    """The mean of each window along the last dimensions; of what lies inside alone if padding does not count."""
    g, n = l.graph, len(size)
    steps = {"stride": stride, "padding": padding, "dilation": (1,) * n}
    shape = x.shape[:-n] + places_of(x.shape[-n:], size, steps)
    windows = g.append("unfold", [x], {"dim": x.rank - n, "size": size, **steps}, (shape + size, "f32")).output
    y = g.reduce("mean", windows, range(len(shape), len(shape) + n))
    if count_padding or not any(padding):
        return y
    share = numpy.ones((1,) * (x.rank - n) + shape[-n:], numpy.float32)
    for place in itertools.product(*map(range, shape[-n:])):
        for at, extent, window, step, before in zip(place, x.shape[-n:], size, stride, padding):
            start = at * step - before
            share[(0,) * (x.rank - n) + place] *= (min(start + window, extent) - max(start, 0)) / window
    return g.binary("div", y, l.known_array(share))


def adaptive_avg_pool(l, x, size):
    """The mean of as many equal parts of the last dimensions as `size` says."""
    g, n = l.graph, len(size)
    shape, dims = list(x.shape[:-n]), []
    for extent, places in zip(x.shape[-n:], size):
        if extent % places:
            raise Unsupported("%d places of %d" % (places, extent))
        shape += [places, extent // places]
        dims.append(len(shape) - 1)
    return g.reduce("mean", g.reshape(x, shape), dims)
