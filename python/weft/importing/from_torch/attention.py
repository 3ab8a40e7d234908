"""Attention by Weft's operation where it does what torch's does, else of products and a softmax."""

import math

import torch

from ..common import choose
from ..graph import Operand
from ..lowering import Unsupported


def attention(l, q, k, v, mask=None, rate=0.0, causal=False, scale=None, enable_gqa=False):
    g = l.graph
    if q.rank == 3:
        q, k, v = (g.reshape(x, (x.shape[0], 1) + x.shape[1:]) for x in (q, k, v))
        mask = mask if mask is None or mask.rank < 3 else g.reshape(mask, (mask.shape[0], 1) + mask.shape[1:])
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    attributes, operands = {}, []
    seen = l.known(3) if mask is not None else None
    if seen is not None and causal_mask(seen, q.shape[2], k.shape[2]):
        causal, mask = True, None
    if rate > 0 or q.rank != 4 or q.shape[-1] != v.shape[-1] or (causal and q.shape[2] > k.shape[2]):
        return composed(l, q, k, v, mask, rate, causal, scale)
    rows = [g.transpose(x, (0, 2, 1, 3)) for x in (q, k, v)]
    if mask is not None:
        mask = g.reshape(mask, (1,) * (4 - mask.rank) + mask.shape)
        operands, attributes = [mask], {"mask" if mask.dtype == "i8" else "bias": Operand(3)}
    if causal and q.shape[2] != k.shape[2]:
        raise Unsupported("causal, where torch counts rows from the first key and Weft from the last")
    attributes.update(causal=bool(causal))
    if not math.isclose(scale, 1 / math.sqrt(q.shape[-1]), rel_tol=1e-12):
        attributes["scale"] = float(scale)
    y = g.append("attention", rows + operands, attributes, (rows[0].shape, "f32")).output
    return g.reshape(g.transpose(y, (0, 2, 1, 3)), l.shape)


def causal_mask(seen, rows, keys):
    """Whether what is known of a mask says that a row sees itself and those before it."""
    if rows != keys or seen.shape[-2:] != (rows, keys):
        return False
    lower = torch.ones(rows, keys, dtype=torch.bool).tril()
    if seen.dtype == torch.bool:
        return bool((seen == lower).all())
    return bool(((seen == 0) | ~lower).all() and ((seen <= -1e30) | lower).all())


def composed(l, q, k, v, mask, rate, causal, scale):
    """Attention as products and a softmax, for what `weft.attention` does not do, such as dropout of its weights."""
    g = l.graph
    if k.shape[1] != q.shape[1]:
        k, v = (g.reshape(g.broadcast_to(g.reshape(x, x.shape[:2] + (1,) + x.shape[2:]),
                                         x.shape[:2] + (q.shape[1] // x.shape[1],) + x.shape[2:]),
                          q.shape[:2] + x.shape[2:]) for x in (k, v))
    scores = g.unary("scale", g.einsum("bnsd,bntd->bnst", q, k), by=float(scale))
    lowest = l.tensor(-3.0e38, "f32", scores)
    if causal:
        shape = (1, 1) + scores.shape[2:]
        i, j = (g.append("iota", [], {"shape": shape, "dim": d}, (shape, "i32")).output for d in (2, 3))
        scores = choose(l, g.binary("less_equal", j, i, "i8"), scores, lowest)
    if mask is not None:
        scores = choose(l, mask, scores, lowest) if mask.dtype == "i8" else g.binary("add", scores, mask)
    weights = g.unary("softmax", scores)
    weights = g.unary("dropout", weights, rate=float(rate)) if rate > 0 else weights
    return g.reshape(g.einsum("bnst,bntd->bnsd", weights, v), l.shape)
