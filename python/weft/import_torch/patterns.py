"""Rules for what Weft has an operation of: norms, rotary positions, rows in order, grouped queries."""

import math

import torch

from .graph import Operand
from .known import numbers, same_number


def made_by(value, kind):
    return value.op if value.op.kind == kind else None


def either(op, kind):
    """(operation of that kind, the other operand) of an operation of two."""
    for a, b in (op.inputs, op.inputs[::-1]):
        if a.op.kind == kind:
            yield a.op, b


def rows_in_order(graph, op):
    """The rows of a table in their order are a part of it."""
    ids, table = (numbers(op.inputs[0]), op.inputs[1]) if op.kind == "embedding" else (None, None)
    if ids is None or not bool((ids == ids.reshape(-1, ids.shape[-1])[0]).all()):
        return None
    ids = ids.reshape(-1, ids.shape[-1])[0]
    first = int(ids[0])
    if not torch.equal(ids, torch.arange(first, first + len(ids))) or first + len(ids) > table.shape[0]:
        return None
    rows = graph.slice(table, 0, first, len(ids))
    rows = graph.reshape(rows, (1,) * (op.output.rank - 2) + rows.shape)
    return graph.broadcast_to(rows, op.output.shape)


def rms_norm(graph, op):
    """w (x rsqrt(mean(x^2) + eps)) along the last dimension."""
    if op.kind != "mul":
        return None
    for rows, weight in either(op, "mul"):
        if weight.shape != op.output.shape[-1:]:
            continue
        for factor, x in either(rows, "rsqrt"):
            added = made_by(factor.inputs[0], "add_scalar")
            mean = added and made_by(added.inputs[0], "reduce")
            square = mean and made_by(mean.inputs[0], "square")
            if square and square.inputs[0] is x and mean.attributes == {"kind": "mean", "dims": (x.rank - 1,), "keep_dims": True}:
                return graph.append("rms_norm", [x, weight], {"eps": added.attributes["by"]}, (x.shape, "f32")).output
    return None


def gelu_by_tanh(graph, op):
    """0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))."""
    if op.kind != "mul":
        return None
    for plus, half in either(op, "add_scalar"):
        tanh = made_by(plus.inputs[0], "tanh")
        inner = tanh and made_by(tanh.inputs[0], "scale")
        total = inner and made_by(inner.inputs[0], "add")
        if not total or half.op.kind != "scale" or plus.attributes["by"] != 1:
            continue
        x = half.op.inputs[0]
        for cubic, same in either(total, "scale"):
            cube = made_by(cubic.inputs[0], "power")
            if (same is x and cube and cube.inputs[0] is x and cube.attributes["by"] == 3 and half.op.attributes["by"] == 0.5
                    and abs(cubic.attributes["by"] - 0.044715) < 1e-12
                    and abs(inner.attributes["by"] - math.sqrt(2 / math.pi)) < 1e-12):
                return graph.unary("gelu", x, approximate="tanh")
    return None


def gelu_factored(graph, op):
    """0.5 x (1 + tanh(sqrt(2 / pi) x (1 + 0.044715 x^2))), the same in another order."""
    if op.kind != "mul":
        return None
    for plus, half in either(op, "add_scalar"):
        tanh = made_by(plus.inputs[0], "tanh")
        product = tanh and made_by(tanh.inputs[0], "mul")
        if not product or half.op.kind != "scale" or half.op.attributes["by"] != 0.5 or plus.attributes["by"] != 1:
            continue
        x = half.op.inputs[0]
        for inner, outer in either(product, "add_scalar"):
            cubic = made_by(inner.inputs[0], "mul")
            if (cubic and outer.op.kind == "scale" and outer.op.inputs[0] is x and inner.attributes["by"] == 1
                    and abs(outer.op.attributes["by"] / math.sqrt(2 / math.pi) - 1) < 1e-8):
                for factor, same in either(cubic, "scale"):
                    if same is x and factor.inputs[0] is x and abs(factor.attributes["by"] - 0.044715) < 1e-12:
                        return graph.unary("gelu", x, approximate="tanh")
    return None


def silu(graph, op):
    """x sigmoid(x)."""
    if op.kind != "mul":
        return None
    for sigmoid, x in either(op, "sigmoid"):
        if sigmoid.inputs[0] is x:
            return graph.unary("silu", x)
    return None


def rope(graph, op):
    """x cos + turned(x) sin, where the angles are those of positions and turned(x) is (-x2, x1) of the halves of x."""
    if op.kind != "add" or op.output.rank != 4:
        return None
    for straight, crossed in ((op.inputs[0], op.inputs[1]), (op.inputs[1], op.inputs[0])):
        if straight.op.kind != "mul" or crossed.op.kind != "mul":
            continue
        for x, cos in (straight.op.inputs, straight.op.inputs[::-1]):
            for turned, sin in (crossed.op.inputs, crossed.op.inputs[::-1]):
                if turned.op.kind == "concat" and turns(turned.op, x):
                    cosines, sines = numbers(cos), numbers(sin)
                    if cosines is not None and sines is not None:
                        return rotated(graph, x, cosines, sines)
    return None


def turns(op, x):
    half = x.shape[-1] // 2
    if len(op.inputs) != 2 or op.attributes["dim"] != x.rank - 1 or x.shape[-1] % 2:
        return False
    second, first = made_by(op.inputs[0], "neg"), made_by(op.inputs[1], "slice")
    second = second and made_by(second.inputs[0], "slice")
    return bool(first and second and first.inputs[0] is x and second.inputs[0] is x
                and first.attributes == {"dim": x.rank - 1, "from": 0, "size": half}
                and second.attributes == {"dim": x.rank - 1, "from": half, "size": half})


def rotated(graph, x, cosines, sines):
    """`weft.rope` of x[b, n, s, d], or of x[b, s, n, d], if the numbers are those of positions 0 to s - 1."""
    shape = (1,) * (4 - cosines.dim()) + tuple(cosines.shape)
    cosines, sines = cosines.reshape(shape), sines.reshape((1,) * (4 - sines.dim()) + tuple(sines.shape))
    places = 2 if shape[1] == 1 and shape[2] == x.shape[2] else 1 if shape[2] == 1 and shape[1] == x.shape[1] else None
    size = x.shape[-1]
    if shape[3] == 1:
        cosines, sines = (t.expand(shape[:3] + (size,)) for t in (cosines, sines))
        shape = tuple(cosines.shape)
    if shape[0] != 1 or places is None or shape[3] != size or cosines.shape != sines.shape or size > 512:
        return None
    table = (cosines.reshape(-1, size), sines.reshape(-1, size))
    found = frequencies(*table)
    if found is None:
        return None
    theta, factor = found
    perm = (0, 1, 2, 3) if places == 1 else (0, 2, 1, 3)
    rows = graph.transpose(x, perm)
    attributes = {"theta": theta} if factor == 1 else {"theta": theta, "factor": factor}
    return graph.transpose(graph.append("rope", [rows], attributes, (rows.shape, "f32")).output, perm)


def frequencies(cosines, sines):
    """(theta, factor) of tables whose pair i turns by theta^(-2i / d) / factor a position; None of others."""
    places, size = cosines.shape
    if places < 2:
        return None
    angles = torch.atan2(sines[1, :size // 2], cosines[1, :size // 2])
    factor = float("%.5g" % (1 / angles[0].item())) if angles[0] > 0 else 0
    if factor <= 0:
        return None
    theta = 10000.0 if size == 2 else float("%.5g" % (angles[0] / angles[-1]).item() ** (size / (size - 2)))
    turns = torch.arange(size // 2, dtype=torch.float64) * 2 / size
    table = torch.arange(places, dtype=torch.float64)[:, None] * (theta ** -turns / factor)
    table = torch.cat([table, table], 1)
    # torch's tables are of angles in float32.
    allowed = 1e-6 + 4e-7 * places
    if (table.cos() - cosines).abs().max() > allowed or (table.sin() - sines).abs().max() > allowed:
        return None
    return theta, factor


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


def rows_of_loss(graph, op):
    """A cross entropy of rows that are joined, as one of the rows as they are."""
    if op.kind != "cross_entropy" or len(op.inputs) != 2:
        return None
    logits, labels = (made_by(v, "reshape") for v in op.inputs)
    if not logits or not labels or logits.inputs[0].shape[:-1] != labels.inputs[0].shape \
            or logits.inputs[0].shape[-1] != logits.output.shape[-1] or labels.inputs[0].rank <= labels.output.rank:
        return None
    new = graph.append("cross_entropy", [logits.inputs[0], labels.inputs[0]], op.attributes, ((), "f32"), ((), "f32"))
    graph.replace(op.outputs[1], new.outputs[1])
    return new.output


def bias_and_mask_as_read(graph, op):
    """Bias and mask of attention may be the same along a dimension: nothing has to be repeated for it."""
    if op.kind != "attention" or len(op.inputs) == 3 or op.inputs[3].op.kind != "broadcast_to" \
            or op.inputs[3].op.inputs[0].rank > 4:
        return None
    small = op.inputs[3].op.inputs[0]
    inputs = op.inputs[:3] + [graph.reshape(small, (1,) * (4 - small.rank) + small.shape)] + op.inputs[4:]
    return graph.append("attention", inputs, op.attributes, (op.output.shape, "f32")).output


def causal(rows, keys):
    """Whether a row sees itself and those before it, as truth values."""
    return torch.arange(keys)[None] <= torch.arange(rows)[:, None] + keys - rows


def known_mask(graph, op):
    """A known bias or mask of attention that hides what comes later, and nothing else, says that it is causal; one that hides
    nothing says nothing."""
    if op.kind != "attention" or len(op.inputs) != 4 or op.attributes["causal"]:
        return None
    seen = numbers(op.inputs[3])
    if seen is None:
        return None
    seen = seen if seen.dtype == torch.bool else hidden_or_not(seen)
    if seen is None:
        return None
    rows, keys = op.inputs[0].shape[1], op.inputs[1].shape[1]
    attributes = {key: x for key, x in op.attributes.items() if key not in ("bias", "mask")}
    if bool(seen.all()):
        return graph.append("attention", op.inputs[:3], attributes, (op.output.shape, "f32")).output
    if rows > keys or tuple(seen.shape[2:]) != (rows, keys):
        return None
    far = torch.arange(rows)[:, None] + keys - rows - torch.arange(keys)[None]
    window = int(seen.reshape(-1, rows, keys)[0, -1].sum())
    if bool((seen == ((far >= 0) & (far < window))).all()):
        attributes["causal"] = True
        attributes.update({} if window == keys else {"window": window})
        return graph.append("attention", op.inputs[:3], attributes, (op.output.shape, "f32")).output
    return None


def hidden_or_not(bias):
    """Truth values of a bias that is 0 or hides; None of others."""
    return bias == 0 if bool(((bias == 0) | (bias < -1e30)).all()) else None


def causal_and_mask(graph, op):
    """A mask that hides what comes later and what another mask hides: attention is causal and has that mask."""
    if op.kind != "attention" or "mask" not in op.attributes or op.attributes["causal"] or len(op.inputs) != 4 \
            or op.inputs[3].op.kind != "logical_and":
        return None
    rows, keys = op.inputs[0].shape[1], op.inputs[1].shape[1]
    for a, b in (op.inputs[3].op.inputs, op.inputs[3].op.inputs[::-1]):
        seen = numbers(a)
        if seen is not None and rows <= keys and tuple(seen.shape[-2:]) == (rows, keys) \
                and bool((seen == causal(rows, keys)).all()) and b.rank == 4:
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
            if mask is not None or low is None or low > -1e30 or bias is not None or scale != 1:
                return None
            mask, scores = scores.op.inputs[0], scores.op.inputs[1]
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
    if abs(scale * math.sqrt(rows[0].shape[3]) - 1) > 1e-12:
        attributes["scale"] = scale
    y = graph.append("attention", rows + extra, attributes, (rows[0].shape, "f32")).output
    return graph.transpose(y, out)


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


RULES = [written_out, known_mask, causal_and_mask, rows_in_order, rms_norm, gelu_by_tanh, gelu_factored, silu, rope, grouped_queries, rows_of_loss, bias_and_mask_as_read]
