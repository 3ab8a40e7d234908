"""Numbers that depend on no input, and the rule that writes them by a formula or a list."""

import math

import numpy

from .constants import NoFormula, constant, first_of
from .unify import SIZES

LARGEST = 1 << 22  # elements of what is written by a formula or a list
MASK_BYTES = 1 << 30  # of what is looked at alone: the truth values of 32,768 rows by as many keys, or 8 bytes for each of 8,192 by 8,192

OF_TWO = {"add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "div": numpy.divide, "maximum": numpy.maximum,
          "minimum": numpy.minimum, "greater": numpy.greater, "greater_equal": numpy.greater_equal, "less": numpy.less,
          "less_equal": numpy.less_equal, "equal": numpy.equal, "not_equal": numpy.not_equal,
          "logical_and": numpy.logical_and, "logical_or": numpy.logical_or}
OF_ONE = {"neg": numpy.negative, "abs": numpy.abs, "exp": numpy.exp, "log": numpy.log, "sqrt": numpy.sqrt,
          "rsqrt": lambda x: 1 / numpy.sqrt(x), "square": numpy.square, "cos": numpy.cos, "sin": numpy.sin,
          "logical_not": numpy.logical_not, "stop_gradient": lambda x: x}
TYPES = {"f32": numpy.float64, "i32": numpy.int64, "i8": numpy.bool_}
VIEWS = ("fill", "iota", "broadcast_to")  # take no memory for their elements


def numbers(value, mask=False):
    """The numbers of a value that depends on nothing, in double precision; or None, also where there are too many: for a mask of
    attention that is later."""
    op, elements = value.op, math.prod(value.shape)
    if len(op.outputs) != 1 or elements > LARGEST and not mask:
        return None
    if op.kind not in VIEWS and elements * numpy.dtype(TYPES[value.dtype]).itemsize > MASK_BYTES:
        return None
    if "numbers" not in op.__dict__:
        with numpy.errstate(all="ignore"):  # what is not chosen may be log(0)
            op.numbers = evaluated(op, value, mask)
    return op.numbers


def evaluated(op, value, mask):
    a = op.attributes
    if op.kind == "fill":
        return numpy.broadcast_to(numpy.array(a["value"], TYPES[value.dtype]), a["shape"])
    if op.kind == "constant":
        return numpy.array(a["values"], TYPES[value.dtype]).reshape(a["shape"])
    if op.kind == "iota":
        line = numpy.arange(a["shape"][a["dim"]], dtype=TYPES[value.dtype])
        return numpy.broadcast_to(line.reshape([-1 if i == a["dim"] else 1 for i in range(value.rank)]), a["shape"])
    inputs = [numbers(v, mask) for v in op.inputs] if op.kind != "parameter" else []
    if not inputs or any(x is None for x in inputs):
        return None
    x = inputs[0]
    if op.kind in OF_TWO:
        y = OF_TWO[op.kind](*inputs)
        return y.astype(TYPES[value.dtype])
    if op.kind in OF_ONE:
        return OF_ONE[op.kind](x)
    return {
        "reshape": lambda: x.reshape(value.shape), "broadcast_to": lambda: numpy.broadcast_to(x, value.shape),
        "transpose": lambda: x.transpose(a["perm"]), "cast": lambda: x.astype(TYPES[value.dtype]),
        "scale": lambda: x * a["by"], "add_scalar": lambda: x + a["by"], "power": lambda: x**a["by"],
        "cumsum": lambda: x.cumsum(a["dim"]), "slice": lambda: x.take(range(a["from"], a["from"] + a["size"]), a["dim"]),
        "concat": lambda: numpy.concatenate(inputs, a["dim"]), "select": lambda: numpy.where(*inputs),
        "clamp": lambda: x.clip(a.get("min"), a.get("max")),
        "einsum": lambda: numpy.einsum(a["equation"], *inputs),
        "take": lambda: x.take(inputs[1], a["dim"]) if a["batch"] == 0 else None,
        "reduce": lambda: {"sum": x.sum, "mean": x.mean, "max": x.max}[a["kind"]](a["dims"], keepdims=a["keep_dims"]),
    }.get(op.kind, lambda: None)()


def known(graph, op):
    """What is known, as it is written best; once."""
    if not op.inputs or "formula" in op.__dict__ or numbers(op.output) is None:
        return None
    array, before = numbers(op.output), len(graph.ops)
    if op.output.dtype == "f32":
        array = array.astype(numpy.float32)
    if follows_batch(array):
        op.formula = True
        return None
    try:
        value = constant(graph, array)
    except NoFormula:
        op.formula = True
        return None
    for new in graph.ops[graph.place - (len(graph.ops) - before):graph.place]:
        new.formula = True
    return value


def follows_batch(array):
    """Whether numbers differ along a dimension that may be the batch."""
    return any(n > 1 and any(n % size == 0 for size in SIZES) and (array != first_of(array, dim)).any()
               for dim, n in enumerate(array.shape))


def same_number(value):
    """The number that a value is everywhere, or None."""
    while value.op.kind in ("broadcast_to", "reshape"):
        value = value.op.inputs[0]
    return value.op.attributes["value"] if value.op.kind == "fill" else None


def nothing_done(graph, op):
    """x + 0 and x 1 are x."""
    if {"add_scalar": 0, "scale": 1}.get(op.kind) == op.attributes.get("by", ""):
        return op.inputs[0]
    neutral = {"add": 0, "sub": 0, "mul": 1, "div": 1}.get(op.kind)
    if neutral is None:
        return None
    a, b = op.inputs
    if same_number(b) == neutral and a.dtype == op.output.dtype:
        return graph.broadcast_to(a, op.output.shape)
    if op.kind in ("add", "mul") and same_number(a) == neutral:
        return graph.broadcast_to(b, op.output.shape)
    return None


RULES = [known, nothing_done]
