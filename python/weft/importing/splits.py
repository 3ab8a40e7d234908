"""How weights lie over the axis `tensor`: heads, what stands between two products, and vocabularies are split.

A job may ask for other axes, and a search for layouts takes these as suggestions."""

from .layout import UNARY

# Operations that leave every element of the last dimension alone.
LOCAL = set(UNARY) | {"add", "sub", "mul", "div", "maximum", "minimum", "dropout"}


def split_parameters(graph):
    """Sets the attribute `split` of parameters."""
    for op in graph.ops:
        if op.kind in ("attention", "einsum"):
            of_heads(graph, op)
        if op.kind == "einsum":
            between(graph, op)
        elif op.kind == "embedding":
            of_vocabulary(op.inputs[1])
        elif op.kind == "cross_entropy":
            of_logits(op.inputs[0])


def pin(parameter, dim):
    parameter.attributes.setdefault("split", "S(%d)" % dim)


def is_parameter(value):
    return value.op.kind == "parameter" and not value.op.attributes["state"]


def of_vocabulary(table):
    if is_parameter(table) and table.rank == 2 and table.shape[0] > table.shape[1]:
        pin(table.op, 0)


def of_logits(logits):
    """The dimension of the classes, of the weight that makes them and of a bias."""
    if logits.op.kind == "add" and is_parameter(logits.op.inputs[1]) and logits.op.inputs[1].rank == 1:
        pin(logits.op.inputs[1].op, 0)
        logits = logits.op.inputs[0]
    made = maker(logits, logits.rank - 1)
    if made:
        pin(*made)


def maker(value, dim):
    """(parameter, its dimension) that gives a product dimension `dim`."""
    if value.op.kind != "einsum" or not is_parameter(value.op.inputs[1]):
        return None
    left, result = value.op.attributes["equation"].split("->")
    rows, columns = left.split(",")
    return (value.op.inputs[1].op, columns.index(result[dim])) if result[dim] in columns and result[dim] not in rows else None


def of_heads(graph, op):
    """The heads of attention: dimension 2 of queries, keys, values and the result."""
    if op.kind == "attention":
        split_heads(graph, [(value, 2) for value in op.inputs[:3]], op.output, 2)
        return
    # Attention as products, with a softmax between them.
    weights = op.inputs[0]
    while weights.op.kind in ("dropout", "softmax", "scale", "add", "select"):
        weights = weights.op.inputs[1 if weights.op.kind == "select" else 0]
    if weights.op.kind != "einsum" or weights.rank != 4 or op.inputs[0].op.kind not in ("dropout", "softmax"):
        return
    (first, scores), (second, result) = (o.attributes["equation"].split("->") for o in (weights.op, op))
    (q, k), (rows, v) = first.split(","), second.split(",")
    head, again = scores[1], rows[1]
    if head in q and head in k and again in v and again in result:
        split_heads(graph, list(zip(weights.op.inputs, (q.index(head), k.index(head)))) + [(op.inputs[1], v.index(again))],
                    op.output, result.index(again))


def split_heads(graph, makers, result, dim):
    """Dimensions of values, back to the weights that make them; and one of the result, to those that read it."""
    found = [source for value, at in makers for source in sources(value, at)]
    found += [reader_of(reader, result, dim) for reader in graph.readers(result)]
    if None not in found and graph.readers(result):
        for parameter, at in found:
            pin(parameter, at)


def reader_of(op, value, dim):
    """(parameter, dimension) of the weight that sums over a dimension of a value."""
    if op.kind != "einsum" or op.inputs[0] is not value or not is_parameter(op.inputs[1]):
        return None
    left, result = op.attributes["equation"].split("->")
    rows, columns = left.split(",")
    letter = rows[dim]
    return (op.inputs[1].op, columns.index(letter)) if letter in columns and letter not in result else None


def sources(value, dim):
    """[(parameter, dimension), ...] that make dimension `dim` of a value, with None where something else does."""
    op, a = value.op, value.op.attributes
    if op.kind == "einsum":
        return [maker(value, dim)]
    if op.kind == "rope" or op.kind in UNARY:
        return sources(op.inputs[0], dim)
    if op.kind == "slice" and a["dim"] != dim:
        return sources(op.inputs[0], dim)
    if op.kind == "concat" and a["dim"] != dim:
        return [s for v in op.inputs for s in sources(v, dim)]
    if op.kind == "transpose":
        return sources(op.inputs[0], a["perm"][dim])
    if op.kind == "reshape":
        # Only extents of 1 come or go.
        before = [(i, n) for i, n in enumerate(op.inputs[0].shape) if n != 1]
        behind = [(i, n) for i, n in enumerate(value.shape) if n != 1]
        if [n for _, n in before] == [n for _, n in behind] and dim in [i for i, _ in behind]:
            return sources(op.inputs[0], before[[i for i, _ in behind].index(dim)][0])
        return [None]
    if op.kind == "add" and is_parameter(op.inputs[1]):
        bias, at = op.inputs[1], dim - (value.rank - op.inputs[1].rank)
        return sources(op.inputs[0], dim) + ([(bias.op, at)] if at >= 0 and bias.shape[at] != 1 else [])
    return [None]


def between(graph, op):
    """A product with a weight of what products with weights give, and what of each element alone is made of it: no rank
    needs what another one has of it."""
    left, result = op.attributes["equation"].split("->")
    rows, columns = left.split(",")
    x, weight = op.inputs
    if not is_parameter(weight) or rows[-1] not in columns or rows[-1] in result:
        return
    found, allowed = [], {op}
    if not walk(graph, x, found, allowed) or not found:
        return
    for parameter, dim in found + [(weight.op, columns.index(rows[-1]))]:
        if "split" in parameter.attributes:
            return
    for parameter, dim in found + [(weight.op, columns.index(rows[-1]))]:
        pin(parameter, dim)


def walk(graph, value, found, allowed):
    """Whether everything from a value back to products with weights is read nowhere else."""
    if any(reader not in allowed for reader in graph.readers(value)):
        return False
    if value.op.kind == "einsum":
        found.append(maker(value, value.rank - 1))
        return found[-1] is not None and value.op.inputs[1].rank == 2
    if value.op.kind not in LOCAL:
        return False
    allowed.add(value.op)
    for v in value.op.inputs:
        if is_parameter(v) and v.rank == 1 and v.shape[0] == value.shape[-1] and len(graph.readers(v)) == 1:
            found.append((v.op, 0))
        elif v.shape != value.shape or not walk(graph, v, found, allowed):
            return False
    return True
