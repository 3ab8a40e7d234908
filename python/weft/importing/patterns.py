"""Rules for what Weft has an operation of: norms, activations, rotary positions, rows in order. Attention has a file of its own."""

import math

import numpy

from .known import numbers


# Operations that Weft has as part of another one alone, which a rule here finds.
INSIDE = {"erf": "GELU"}


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
    if ids is None or not (ids == ids.reshape(-1, ids.shape[-1])[0]).all():
        return None
    ids = ids.reshape(-1, ids.shape[-1])[0]
    first = int(ids[0])
    if not numpy.array_equal(ids, numpy.arange(first, first + len(ids))) or first + len(ids) > table.shape[0]:
        return None
    rows = graph.slice(table, 0, first, len(ids))
    rows = graph.reshape(rows, (1,) * (op.output.rank - 2) + rows.shape)
    return graph.broadcast_to(rows, op.output.shape)


def layer_norm(graph, op):
    """w (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) + b along the last dimension."""
    if op.kind != "add":
        return None
    for scaled, bias in either(op, "mul"):
        for rows, weight in either(scaled, "div"):
            far, root = rows.inputs[0], made_by(rows.inputs[1], "sqrt")
            added = root and made_by(root.inputs[0], "add_scalar")
            variance = added and made_by(added.inputs[0], "reduce")
            square = variance and made_by(variance.inputs[0], "square")
            mean = far.op.kind == "sub" and made_by(far.op.inputs[1], "reduce")
            of_last = {"kind": "mean", "dims": (far.rank - 1,), "keep_dims": True}
            if mean and square and square.inputs[0] is far and mean.inputs[0] is far.op.inputs[0] \
                    and weight.shape == bias.shape == far.shape[-1:] and mean.attributes == variance.attributes == of_last:
                return graph.append("layer_norm", [mean.inputs[0], weight, bias], {"eps": added.attributes["by"]},
                                    (far.shape, "f32")).output
    return None


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


def near(x, y):
    """Whether two numbers are one, as far as products of two in float32 go: files may have them so."""
    return math.isclose(x, y, rel_tol=2e-7)


def half_of_product(op):
    """(x, y) of 0.5 x (1 + y), whatever of them is halved."""
    halved = op.kind == "scale" and op.attributes["by"] == 0.5
    product = made_by(op.inputs[0], "mul") if halved else op
    for half, x in either(op, "scale") if op.kind == "mul" else ():
        plus = made_by(half.inputs[0], "add_scalar")
        if plus and plus.attributes["by"] == 1 and half.attributes["by"] == 0.5:
            yield x, plus.inputs[0]
    for plus, x in either(product, "add_scalar") if product and product.kind == "mul" else ():
        if plus.attributes["by"] == 1 and halved:
            yield x, plus.inputs[0]
        elif plus.attributes["by"] == 1 and x.op.kind == "scale" and x.op.attributes["by"] == 0.5:
            yield x.op.inputs[0], plus.inputs[0]


def gelu_by_erf(graph, op):
    """0.5 x (1 + erf(x / sqrt(2)))."""
    for x, y in half_of_product(op):
        erf = made_by(y, "erf")
        inner = erf and made_by(erf.inputs[0], "scale")
        if inner and inner.inputs[0] is x and near(inner.attributes["by"], math.sqrt(0.5)):
            return graph.unary("gelu", x, approximate="none")
    return None


def is_cube(value, x):
    """Whether a value is x^3."""
    if value.op.kind == "power":
        return value.op.inputs[0] is x and value.op.attributes["by"] == 3
    return value.op.kind == "mul" and any(a is x and is_square(b, x) for a, b in (value.op.inputs, value.op.inputs[::-1]))


def is_square(value, x):
    return value.op.kind in ("square", "mul") and all(v is x for v in value.op.inputs)


def gelu_by_tanh(graph, op):
    """0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))."""
    for x, y in half_of_product(op):
        tanh = made_by(y, "tanh")
        inner = tanh and made_by(tanh.inputs[0], "scale")
        total = inner and made_by(inner.inputs[0], "add")
        for cubic, same in either(total, "scale") if total else ():
            if same is x and is_cube(cubic.inputs[0], x) and near(cubic.attributes["by"], 0.044715) \
                    and near(inner.attributes["by"], math.sqrt(2 / math.pi)):
                return graph.unary("gelu", x, approximate="tanh")
    return None


def gelu_factored(graph, op):
    """0.5 x (1 + tanh(sqrt(2 / pi) x (1 + 0.044715 x^2))), the same in another order."""
    for x, y in half_of_product(op):
        tanh = made_by(y, "tanh")
        product = tanh and made_by(tanh.inputs[0], "mul")
        for inner, outer in either(product, "add_scalar") if product else ():
            cubic = made_by(inner.inputs[0], "mul")
            if cubic and outer.op.kind == "scale" and outer.op.inputs[0] is x and inner.attributes["by"] == 1 \
                    and near(outer.op.attributes["by"], math.sqrt(2 / math.pi)):
                for factor, same in either(cubic, "scale"):
                    if same is x and factor.inputs[0] is x and near(factor.attributes["by"], 0.044715):
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
    shape = (1,) * (4 - cosines.ndim) + cosines.shape
    cosines, sines = cosines.reshape(shape), sines.reshape((1,) * (4 - sines.ndim) + sines.shape)
    places = 2 if shape[1] == 1 and shape[2] == x.shape[2] else 1 if shape[2] == 1 and shape[1] == x.shape[1] else None
    size = x.shape[-1]
    if shape[3] == 1:
        cosines, sines = (numpy.broadcast_to(t, shape[:3] + (size,)) for t in (cosines, sines))
        shape = cosines.shape
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
    angles = numpy.arctan2(sines[1, :size // 2], cosines[1, :size // 2])
    factor = float("%.5g" % (1 / float(angles[0]))) if angles[0] > 0 else 0
    if factor <= 0:
        return None
    theta = 10000.0 if size == 2 else float("%.5g" % float(angles[0] / angles[-1]) ** (size / (size - 2)))
    turns = numpy.arange(size // 2) * 2 / size
    table = numpy.arange(places)[:, None] * (theta ** -turns / factor)
    table = numpy.concatenate([table, table], 1)
    # torch's tables are of angles in float32.
    allowed = 1e-6 + 4e-7 * places
    if numpy.abs(numpy.cos(table) - cosines).max() > allowed or numpy.abs(numpy.sin(table) - sines).max() > allowed:
        return None
    return theta, factor


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


RULES = [rows_in_order, layer_norm, rms_norm, gelu_by_erf, gelu_by_tanh, gelu_factored, silu, rope, rows_of_loss]
