"""Rules for attention: where it is written out, and masks and heads as `weft.attention` has them."""

import math

import numpy

from .graph import Operand
from .known import numbers, same_number
from .patterns import made_by, near


def grouped_queries(graph, op):
    """Attention reads a key head for several query heads; nothing has to be repeated for it."""
    if op.kind != "attention":
        return None
    inputs = [op.inputs[0]] + [once(graph, v) for v in op.inputs[1:3]] + op.inputs[3:]
    if any(new is None for new in inputs[1:3]):
        return None
    return graph.append("attention", inputs, op.attributes, (op.output.shape, "f32")).output


def once(graph, value):
    """x[b, s, m, d] of what repeats each of its heads: a value [b, s, n, d]."""
    perm = (0, 1, 2, 3)
    if value.op.kind == "transpose" and value.op.attributes["perm"] == (0, 2, 1, 3):
        perm, value = (0, 2, 1, 3), value.op.inputs[0]
    heads = perm.index(2)
    repeated = made_by(value, "reshape")
    repeated = repeated and made_by(repeated.inputs[0], "broadcast_to")
    if not repeated:
        return None
    source, wide = repeated.inputs[0], repeated.output.shape
    if len(wide) != 5 or source.rank != 5 or source.shape[heads + 1] != 1 or wide[:heads + 1] + (1,) + wide[heads + 2:] != source.shape:
        return None
    return graph.transpose(graph.reshape(source, wide[:heads + 1] + wide[heads + 2:]), perm)


def bias_and_mask_as_read(graph, op):
    """Bias and mask of attention may be the same along a dimension: nothing has to be repeated for it."""
    if op.kind != "attention" or len(op.inputs) == 3 or op.inputs[3].op.kind != "broadcast_to" \
            or op.inputs[3].op.inputs[0].rank > 4:
        return None
    small = op.inputs[3].op.inputs[0]
    inputs = op.inputs[:3] + [graph.reshape(small, (1,) * (4 - small.rank) + small.shape)] + op.inputs[4:]
    return graph.append("attention", inputs, op.attributes, (op.output.shape, "f32")).output


def sees_causal(seen, window):
    """Whether each row of truth values sees itself and those before it, as many as the window has, and no others."""
    rows, keys = seen.shape[-2:]
    for row in range(rows):
        line, last = seen[..., row, :], row + keys - rows + 1
        first = max(0, last - window)
        if line[..., :first].any() or not line[..., first:last].all() or line[..., last:].any():
            return False
    return True


def known_mask(graph, op):
    """A known bias or mask of attention that hides what comes later, and nothing else, says that it is causal; one that hides
    nothing says nothing."""
    if op.kind != "attention" or len(op.inputs) != 4 or op.attributes["causal"]:
        return None
    seen = numbers(op.inputs[3], mask=True)
    if seen is None:
        return None
    seen = seen if seen.dtype == bool else hidden_or_not(seen)
    if seen is None:
        return None
    rows, keys = op.inputs[0].shape[1], op.inputs[1].shape[1]
    attributes = {key: x for key, x in op.attributes.items() if key not in ("bias", "mask")}
    if seen.all():
        return graph.append("attention", op.inputs[:3], attributes, (op.output.shape, "f32")).output
    if rows > keys or seen.shape[2:] != (rows, keys):
        return None
    window = int(seen.reshape(-1, rows, keys)[0, -1].sum())
    if sees_causal(seen, window):
        attributes["causal"] = True
        attributes.update({} if window == keys else {"window": window})
        return graph.append("attention", op.inputs[:3], attributes, (op.output.shape, "f32")).output
    return None


def hides_the_same(bias, mask):
    """Whether a known bias hides what a known mask hides, and does nothing else."""
    of_bias, seen = numbers(bias, mask=True), numbers(mask, mask=True)
    of_bias = of_bias if of_bias is None else hidden_or_not(of_bias)
    return of_bias is not None and seen is not None and numpy.array_equal(of_bias & seen, of_bias | seen)


def hidden_or_not(bias):
    """Truth values of a bias that is 0 or hides; None of others."""
    return bias == 0 if ((bias == 0) | (bias < -1e30)).all() else None


def causal_and_more(graph, op):
    """A mask, or a bias, that hides what comes later and what another one hides or adds: attention is causal and has the other."""
    joins = {"mask": "logical_and", "bias": "add"}
    if op.kind != "attention" or op.attributes["causal"] or len(op.inputs) != 4 \
            or op.inputs[3].op.kind != joins["mask" if "mask" in op.attributes else "bias"]:
        return None
    rows, keys = op.inputs[0].shape[1], op.inputs[1].shape[1]
    for a, b in (op.inputs[3].op.inputs, op.inputs[3].op.inputs[::-1]):
        seen = numbers(a, mask=True)
        if seen is not None and "bias" in op.attributes:
            seen = hidden_or_not(seen)
        if seen is not None and rows <= keys and seen.shape[-2:] == (rows, keys) \
                and sees_causal(seen, keys) and b.rank == 4:
            return graph.append("attention", op.inputs[:3] + [b], {**op.attributes, "causal": True},
                                (op.output.shape, "f32")).output
    return None


def written_out(graph, op):
    """Attention as products with a softmax between them."""
    if op.kind != "einsum" or op.inputs[0].op.kind != "softmax":
        return None
    steps, bias, mask, scale = [op.inputs[0].op], None, None, 1.0
    scores = steps[0].inputs[0]
    while scores.op.kind in ("add", "scale", "select"):
        steps.append(scores.op)
        if scores.op.kind == "scale":
            scale *= scores.op.attributes["by"]
            scores = scores.op.inputs[0]
        elif scores.op.kind == "select":
            low = same_number(scores.op.inputs[2])
            if mask is not None or low is None or low > -1e30 or scale != 1:
                return None
            mask, scores = scores.op.inputs[0], scores.op.inputs[1]
            if bias is not None and not hides_the_same(bias, mask):
                return None
            bias = None
        else:
            a, b = scores.op.inputs
            a, b = (b, a) if leads_to_product(b) and not leads_to_product(a) else (a, b)
            if scale != 1:
                return None
            bias, scores = b if bias is None else graph.binary("add", bias, b), a
    product = scores.op
    if product.kind != "einsum" or scores.rank != 4 or any(graph.readers(s.output) != [r] for s, r in
                                                         zip(steps + [product], [op] + steps)):
        return None
    letters = attention_letters(product.attributes["equation"], op.attributes["equation"])
    if letters is None:
        return None
    q, k, v, out = letters
    rows = [graph.transpose(x, perm) for x, perm in zip(product.inputs + [op.inputs[1]], (q, k, v))]
    if rows[0].shape[3] != rows[2].shape[3]:
        return None
    extra, attributes = [], {"causal": False}
    for key, x in (("bias", bias), ("mask", mask)):
        if x is not None:
            attributes[key] = Operand(3 + len(extra))
            extra.append(graph.reshape(x, (1,) * (4 - x.rank) + x.shape))
    if not near(scale, 1 / math.sqrt(rows[0].shape[3])):
        attributes["scale"] = scale
    y = graph.append("attention", rows + extra, attributes, (rows[0].shape, "f32")).output
    return graph.transpose(y, out)


def scale_behind_product(graph, op):
    """The scores of attention, where queries or keys are scaled: the scores are."""
    if op.kind != "einsum" or not any(scaled(v) for v in op.inputs) or not leads_to_softmax(graph, op.output):
        return None
    inputs, by = [], 1.0
    for v in op.inputs:
        moves = []
        while v.op.kind in ("transpose", "reshape"):
            moves.append(v.op)
            v = v.op.inputs[0]
        if v.op.kind == "scale":
            by, v = by * v.op.attributes["by"], v.op.inputs[0]
        for move in reversed(moves):
            v = graph.transpose(v, move.attributes["perm"]) if move.kind == "transpose" else graph.reshape(v, move.output.shape)
        inputs.append(v)
    return graph.unary("scale", graph.einsum(op.attributes["equation"], *inputs), by=by)


def scaled(value):
    while value.op.kind in ("transpose", "reshape"):
        value = value.op.inputs[0]
    return value.op.kind == "scale"


def leads_to_softmax(graph, value):
    while len(graph.readers(value)) == 1 and graph.readers(value)[0].kind in ("add", "scale", "select", "reshape"):
        value = graph.readers(value)[0].output
    return [reader.kind for reader in graph.readers(value)] == ["softmax"]


def leads_to_product(value):
    while value.op.kind in ("add", "scale", "select"):
        value = value.op.inputs[1 if value.op.kind == "select" else 0]
    return value.op.kind == "einsum"


def attention_letters(first, second):
    """The permutations that make q, k and v of two products [b, rows, heads, size], and of the result what the second one
    gives; None of others."""
    (left, scores), (left2, result) = first.split("->"), second.split("->")
    (q, k), (weights, v) = left.split(","), left2.split(",")
    if not all(len(x) == 4 for x in (q, k, v, scores, weights, result)):
        return None
    shared = [c for c in scores if c in q and c in k]
    size = [c for c in q if c not in scores]
    if len(shared) != 2 or len(size) != 1 or scores[:2] != "".join(shared) or scores[2] not in q or scores[3] not in k:
        return None
    batch, heads, row, key = scores
    # The same places in the second product.
    b2, n2, s2, t2 = weights
    size2 = [c for c in v if c not in weights]
    if len(size2) != 1 or t2 in result or sorted(v) != sorted([b2, n2, t2, size2[0]]):
        return None
    y = [b2, s2, n2, size2[0]]
    return ([q.index(c) for c in (batch, row, heads, size[0])], [k.index(c) for c in (batch, key, heads, size[0])],
            [v.index(c) for c in (b2, t2, n2, size2[0])], [y.index(c) for c in result])


RULES = [scale_behind_product, written_out, known_mask, causal_and_more, grouped_queries, bias_and_mask_as_read]
