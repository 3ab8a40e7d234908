"""Convolutions and pooling as PyTorch's operators say them."""

from .. import windows
from ..lowering import Unsupported


def numbers(v, n):
    """One for each of n dimensions; one number counts for all."""
    v = [v] if isinstance(v, int) else list(v)
    return tuple(v * n if len(v) == 1 else v)


def convolution(l, x, weight, bias=None, stride=1, padding=0, dilation=1, *rest):
    n = weight.rank - 2
    if "convolution" in str(l.node.target):
        if rest[0]:
            raise Unsupported("a transposed convolution")
        groups = rest[2]
    else:
        groups = rest[0] if rest else 1
    if isinstance(padding, str):
        raise Unsupported("padding %s" % padding)
    return windows.convolution(l, x, weight, bias, numbers(stride, n), numbers(padding, n), numbers(dilation, n), groups)


def max_pool(l, x, size, stride=(), padding=0, dilation=1, ceil_mode=False):
    n = 1 if "1d" in str(l.node.target) else 2
    size = numbers(size, n)
    y = windows.max_pool(l, x, size, numbers(stride, n) if stride else size, numbers(padding, n), numbers(dilation, n))
    if y.shape != l.shape:
        raise Unsupported("ceil_mode")
    return [y] if "indices" in str(l.node.target) else y


def avg_pool(l, x, size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    n = 1 if "1d" in str(l.node.target) else 2
    size = numbers(size, n)
    y = windows.avg_pool(l, x, size, numbers(stride, n) if stride else size, numbers(padding, n), count_include_pad)
    if y.shape != l.shape or divisor_override:
        raise Unsupported("ceil_mode or divisor_override")
    return y
