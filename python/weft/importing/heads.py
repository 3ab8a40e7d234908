"""Rules that give weights the dimensions of what they make or read, such as heads: so an axis of ranks can split them."""

from .layout import groups


def cut(parameter, dim, extents):
    """Declares a parameter with one dimension as several; files keep the shape that they have."""
    a, value = parameter.attributes, parameter.output
    a.setdefault("stored", a["shape"])
    a["shape"] = value.shape = a["shape"][:dim] + tuple(extents) + a["shape"][dim + 1:]


def alone(graph, value, reader):
    """Whether a value is a parameter that only `reader` reads."""
    return value.op.kind == "parameter" and graph.readers(value) == [reader]


def letters(count, taken):
    return "".join([c for c in "ndcefghlmpq" + "uvwxyz" if c not in taken][:count])


def made_apart(graph, op):
    """A reshape that cuts what a weight makes: the weight makes it so."""
    y = op.inputs[0] if op.kind == "reshape" else None
    if y is None or op.output.rank <= y.rank or op.output.shape[:y.rank - 1] != y.shape[:-1] or graph.readers(y) != [op]:
        return None
    product, bias = y.op, None
    if product.kind == "add" and product.inputs[0].op.kind == "einsum" and alone(graph, product.inputs[1], product) \
            and product.inputs[1].shape[-1] == y.shape[-1] and graph.readers(product.inputs[0]) == [product]:
        product, bias = product.inputs[0].op, product.inputs[1]
    if product.kind != "einsum" or not alone(graph, product.inputs[1], product):
        return None
    extents = op.output.shape[y.rank - 1:]
    left, result = product.attributes["equation"].split("->")
    rows, columns = left.split(",")
    if result[-1] not in columns or result[-1] in rows:
        return None
    new, weight = letters(len(extents), left), product.inputs[1]
    graph.at(y.op)
    cut(weight.op, columns.index(result[-1]), extents)
    y = graph.einsum("%s,%s->%s" % (rows, columns.replace(result[-1], new), result[:-1] + new), product.inputs[0], weight)
    if bias is None:
        return y
    cut(bias.op, bias.rank - 1, extents)
    return graph.binary("add", y, bias)


def parts_apart(graph, op):
    """Equal parts of a last dimension, each cut alike: parts of a dimension of their own."""
    part = op.inputs[0].op if op.kind == "reshape" else None
    if part is None or part.kind != "slice" or part.attributes["dim"] != op.inputs[0].rank - 1:
        return None
    y, start, size = part.inputs[0], part.attributes["from"], part.attributes["size"]
    outer, inner = y.shape[:-1], op.output.shape[y.rank - 1:]
    if op.output.shape[:y.rank - 1] != outer or len(inner) < 2 or y.shape[-1] % size or start % size \
            or y.op.kind not in ("einsum", "add"):
        return None
    apart = graph.reshape(y, outer + (y.shape[-1] // size,) + inner)
    return graph.reshape(graph.slice(apart, y.rank - 1, start // size, 1), op.output.shape)


def part_apart(graph, op):
    """One of several parts, cut: a part of what is cut."""
    part = op.inputs[0].op if op.kind == "reshape" else None
    if part is None or part.kind != "slice" or part.attributes["dim"] != op.inputs[0].rank - 2 or part.attributes["size"] != 1:
        return None
    y = part.inputs[0]
    outer, inner = y.shape[:-2], op.output.shape[y.rank - 2:]
    if op.output.shape[:y.rank - 2] != outer or len(inner) < 2 or 1 in inner or y.op.kind not in ("einsum", "add"):
        return None
    apart = graph.reshape(y, y.shape[:-1] + inner)
    return graph.reshape(graph.slice(apart, y.rank - 2, part.attributes["from"], 1), op.output.shape)


def read_apart(graph, op):
    """A product of what a reshape has joined, as one of what it was: weights are cut alike, and joined rows stay apart up to
    behind it."""
    joined = op.inputs[0].op if op.kind == "einsum" else None
    if joined is None or joined.kind != "reshape":
        return None
    z = joined.inputs[0]
    sizes = groups(z.shape, joined.output.shape)
    if sizes is None or 1 in z.shape:
        return None
    left, result = op.attributes["equation"].split("->")
    rows, columns = left.split(",")
    weight, new_rows, at = op.inputs[1], "", 0
    summed = [c for c, size in zip(rows, sizes) if size > 1 and c in columns]
    if summed and (len(summed) > 1 or summed[0] in result or not alone(graph, weight, op)):
        return None
    for letter, size in zip(rows, sizes):
        extents = z.shape[at:at + size]
        at += size
        new = letter if size == 1 else letters(size, left + new_rows + result + columns)
        new_rows += new
        if letter in columns and size > 1:
            cut(weight.op, columns.index(letter), extents)
            columns = columns.replace(letter, new)
        result = result.replace(letter, new)
    y = graph.einsum("%s,%s->%s" % (new_rows, columns, result), z, weight)
    return graph.reshape(y, op.output.shape)


RULES = [made_apart, parts_apart, part_apart, read_apart]
