"""Numbers that depend on no input, and the rule that writes them by a formula or a list."""

import math

import torch

from .constants import NoFormula, constant
from .trace import SIZES

LARGEST = 1 << 22  # elements

OF_TWO = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum,
          "minimum": torch.minimum, "greater": torch.gt, "greater_equal": torch.ge, "less": torch.lt, "less_equal": torch.le,
          "equal": torch.eq, "not_equal": torch.ne, "logical_and": torch.logical_and, "logical_or": torch.logical_or}
OF_ONE = {"neg": torch.neg, "abs": torch.abs, "exp": torch.exp, "log": torch.log, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
          "square": torch.square, "cos": torch.cos, "sin": torch.sin, "logical_not": torch.logical_not,
          "stop_gradient": torch.clone}
TYPES = {"f32": torch.float64, "i32": torch.int64, "i8": torch.bool}


def numbers(value):
    """The numbers of a value that depends on nothing, in double precision; or None."""
    op = value.op
    if "numbers" not in op.__dict__:
        op.numbers = evaluated(op, value) if math.prod(value.shape) <= LARGEST and len(op.outputs) == 1 else None
    return op.numbers


def evaluated(op, value):
    a = op.attributes
    if op.kind == "fill":
        return torch.full(a["shape"], a["value"], dtype=TYPES[value.dtype])
    if op.kind == "constant":
        return torch.tensor(a["values"], dtype=TYPES[value.dtype]).reshape(a["shape"])
    if op.kind == "iota":
        line = torch.arange(a["shape"][a["dim"]], dtype=TYPES[value.dtype])
        return line.reshape([-1 if i == a["dim"] else 1 for i in range(value.rank)]).expand(a["shape"])
    inputs = [numbers(v) for v in op.inputs] if op.kind != "parameter" else []
    if not inputs or any(x is None for x in inputs):
        return None
    x = inputs[0]
    if op.kind in OF_TWO:
        y = OF_TWO[op.kind](*inputs)
        return y.to(TYPES[value.dtype])
    if op.kind in OF_ONE:
        return OF_ONE[op.kind](x)
    return {
        "reshape": lambda: x.reshape(value.shape), "broadcast_to": lambda: x.expand(value.shape),
        "transpose": lambda: x.permute(a["perm"]), "cast": lambda: x.to(TYPES[value.dtype]),
        "scale": lambda: x * a["by"], "add_scalar": lambda: x + a["by"], "power": lambda: x**a["by"],
        "cumsum": lambda: x.cumsum(a["dim"]), "slice": lambda: x.narrow(a["dim"], a["from"], a["size"]),
        "concat": lambda: torch.cat(inputs, a["dim"]), "select": lambda: torch.where(*inputs),
        "clamp": lambda: x.clamp(a.get("min"), a.get("max")),
    }.get(op.kind, lambda: None)()


def known(graph, op):
    """What is known, as it is written best; once."""
    if not op.inputs or "formula" in op.__dict__ or numbers(op.output) is None:
        return None
    tensor, before = numbers(op.output), len(graph.ops)
    if op.output.dtype == "f32":
        tensor = tensor.float()
    if follows_batch(tensor):
        op.formula = True
        return None
    try:
        value = constant(graph, tensor)
    except NoFormula:
        op.formula = True
        return None
    for new in graph.ops[graph.place - (len(graph.ops) - before):graph.place]:
        new.formula = True
    return value


def follows_batch(tensor):
    """Whether numbers differ along a dimension that may be the batch."""
    return any(n > 1 and any(n % size == 0 for size in SIZES) and bool((tensor != tensor.narrow(dim, 0, 1)).any())
               for dim, n in enumerate(tensor.shape))


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
