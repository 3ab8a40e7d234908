"""The table of ONNX's operators: what each becomes. A function gets the Lowering, what the operator reads (None for what is
left out) and its attributes by name. It yields the value, or one for each result. An attribute that it does not take is
refused."""

import math

import numpy

from .. import common, losses, norms, windows
from ..common import choose, truth
from ..graph import broadcast
from ..known import numbers
from ..lowering import Unsupported
from .lowering import tidy

TABLE = {}
LOWEST = -3.0e38  # below every number that counts


def lowers(*names):
    def put(function):
        for name in names:
            TABLE[name] = function
        return function
    return put


def like(l, a, b):
    """Two operands of one type; truth values count as whole numbers."""
    dtype = "f32" if "f32" in (a.dtype, b.dtype) else "i32"
    return l.graph.cast(a, dtype), l.graph.cast(b, dtype)


# Element by element.

for _name, _kind in {"Exp": "exp", "Log": "log", "Sqrt": "sqrt", "Tanh": "tanh", "Sigmoid": "sigmoid", "Sin": "sin",
                     "Cos": "cos", "Sign": "sign", "Relu": "relu", "Erf": "erf"}.items():
    TABLE[_name] = lambda l, x, kind=_kind: l.graph.unary(kind, x)

TABLE["Identity"] = lambda l, x: x
TABLE["Floor"] = lambda l, x: common.floor(l, x)
TABLE["Ceil"] = lambda l, x: l.graph.unary("neg", common.floor(l, l.graph.unary("neg", x)))
TABLE["Reciprocal"] = lambda l, x: divide(l, l.tensor(1.0, "f32", x), x)
TABLE["Softplus"] = lambda l, x: common.softplus(l, x)
TABLE["Elu"] = lambda l, x, alpha=1.0: common.elu(l, x, alpha)
TABLE["LeakyRelu"] = lambda l, x, alpha=0.01: common.leaky_relu(l, x, alpha)
TABLE["HardSwish"] = lambda l, x: l.graph.binary("mul", x, common.hardsigmoid(l, x))
TABLE["Gelu"] = lambda l, x, approximate="none": l.graph.unary("gelu", x, approximate=approximate)
# Infinity is the largest number here, so that masks make no NaN.
TABLE["IsNaN"] = lambda l, x: l.graph.fill(x.shape, 0, "i8")


@lowers("HardSigmoid")
def hard_sigmoid(l, x, alpha=0.2, beta=0.5):
    y = l.graph.unary("add_scalar", l.graph.unary("scale", x, by=float(alpha)), by=float(beta))
    return l.graph.unary("clamp", y, min=0.0, max=1.0)


@lowers("Neg", "Abs")
def negate(l, x):
    g, kind = l.graph, l.node.kind.lower()
    if x.dtype == "f32":
        return g.unary(kind, x)
    minus = g.binary("sub", l.tensor(0, x.dtype, x), x)
    return minus if kind == "neg" else g.binary("maximum", x, minus)


def with_number(l, a, b):
    """A number that repeats over floating-point `a` of the result's shape, or None."""
    found = l.number(b) if a.dtype == "f32" else None
    return found if found is not None and broadcast(a.shape, b.shape) == a.shape else None


@lowers("Add")
def add(l, a, b):
    for x, y in ((a, b), (b, a)):
        by = with_number(l, x, y)
        if by is not None:
            return l.graph.unary("add_scalar", x, by=float(by))
    # A bias is the second operand, as where a module adds it.
    a, b = (b, a) if a.op.kind == "parameter" and b.op.kind != "parameter" and broadcast(a.shape, b.shape) == b.shape else (a, b)
    return l.graph.binary("add", *like(l, a, b))


@lowers("Sub")
def sub(l, a, b):
    by = with_number(l, a, b)
    return l.graph.unary("add_scalar", a, by=-float(by)) if by is not None else l.graph.binary("sub", *like(l, a, b))


@lowers("Mul")
def mul(l, a, b):
    for x, y in ((a, b), (b, a)):
        by = with_number(l, x, y)
        if by is not None:
            return l.graph.unary("scale", x, by=float(by))
    return l.graph.binary("mul", *like(l, a, b))


@lowers("Div")
def divide(l, a, b):
    g = l.graph
    if a.dtype != "f32" or b.dtype != "f32":
        return common.divided(l, a, b)
    by = with_number(l, a, b)
    if by is not None and by != 0:
        return g.unary("scale", a, by=1 / float(by))
    over = with_number(l, b, a)
    if over is not None:
        inverse = g.unary("rsqrt", b.op.inputs[0]) if b.op.kind == "sqrt" else g.unary("power", b, by=-1.0)
        return inverse if over == 1 else g.unary("scale", inverse, by=float(over))
    return g.binary("div", a, b)


@lowers("Mod")
def mod(l, a, b, fmod=0):
    if "f32" in (a.dtype, b.dtype):
        raise Unsupported("of floating-point numbers")
    return l.graph.binary("sub", a, l.graph.binary("mul", common.divided(l, a, b), b))


@lowers("Pow")
def power(l, a, b):
    g, by = l.graph, l.number(b)
    a = g.cast(a, "f32")
    if by is not None:
        return g.unary("square", a) if by == 2 else g.unary("sqrt", a) if by == 0.5 else g.unary("power", a, by=float(by))
    if l.number(a) is not None:
        return g.unary("exp", g.unary("scale", g.cast(b, "f32"), by=math.log(l.number(a))))
    return g.unary("exp", g.binary("mul", g.cast(b, "f32"), g.unary("log", a)))


@lowers("Min", "Max")
def extreme(l, *values):
    kind, y = {"Min": "minimum", "Max": "maximum"}[l.node.kind], values[0]
    for x in values[1:]:
        y = l.graph.binary(kind, *like(l, y, x))
    return y


@lowers("Sum", "Mean")
def total(l, *values):
    y = values[0]
    for x in values[1:]:
        y = add(l, y, x)
    return y if l.node.kind == "Sum" else l.graph.unary("scale", y, by=1 / len(values))


@lowers("Clip")
def clip(l, x, low=None, high=None, min=None, max=None):
    low = min if low is None else l.numbers(low, "min").item()
    high = max if high is None else l.numbers(high, "max").item()
    if x.dtype == "f32":
        bounds = {key: float(v) for key, v in (("min", low), ("max", high)) if v is not None and abs(v) < -LOWEST}
        return l.graph.unary("clamp", x, **bounds) if bounds else x
    for kind, bound in (("maximum", low), ("minimum", high)):
        x = x if bound is None else l.graph.binary(kind, x, l.tensor(bound, x.dtype, x))
    return x


@lowers("Cast")
def cast(l, x, to, saturate=1):
    kind = {1: "f32", 10: "f32", 11: "f32", 16: "f32", 9: "i8"}.get(to, "i32")
    if to not in (1, 3, 5, 6, 7, 9, 10, 11, 16):
        raise Unsupported("to type %d of ONNX" % to)
    return truth(l, x) if kind == "i8" else l.graph.cast(x, kind)


@lowers("CastLike")
def cast_like(l, x, y, saturate=1):
    return truth(l, x) if y.dtype == "i8" else l.graph.cast(x, y.dtype)


# Comparisons and choices.

for _name, _kind in {"Equal": "equal", "Less": "less", "LessOrEqual": "less_equal", "Greater": "greater",
                     "GreaterOrEqual": "greater_equal"}.items():
    TABLE[_name] = lambda l, a, b, kind=_kind: l.graph.binary(kind, *like(l, a, b), "i8")
for _name, _kind in {"And": "logical_and", "Or": "logical_or"}.items():
    TABLE[_name] = lambda l, a, b, kind=_kind: l.graph.binary(kind, truth(l, a), truth(l, b), "i8")
TABLE["Xor"] = lambda l, a, b: l.graph.binary("not_equal", *like(l, a, b), "i8")
TABLE["Not"] = lambda l, x: l.graph.unary("logical_not", truth(l, x), "i8")


@lowers("Where")
def where(l, condition, a, b):
    shape, seen = broadcast(broadcast(condition.shape, a.shape), b.shape), numbers(condition)
    if seen is not None and seen.size and seen.all() == seen.any():
        return l.graph.broadcast_to(a if seen.all() else b, shape)
    if a.dtype == b.dtype == "i8":
        return truth(l, choose(l, condition, *like(l, a, b)))
    return choose(l, truth(l, condition), a, b)


# Tensors of numbers.

@lowers("Constant")
def constant(l, value=None, value_float=None, value_int=None, value_floats=None, value_ints=None):
    array = next(v for v in (value, value_float, value_int, value_floats, value_ints) if v is not None)
    return l.constant(array if value is not None else numpy.array(
        array, numpy.float32 if value_float is not None or value_floats is not None else numpy.int64))


@lowers("ConstantOfShape")
def constant_of_shape(l, shape, value=None):
    value = numpy.zeros(1, numpy.float32) if value is None else value
    return l.constant(numpy.full(l.whole(shape, "the shape"), value.reshape(-1)[0], value.dtype))


@lowers("Shape")
def shape_of(l, x, start=0, end=None):
    return l.constant(numpy.array(x.shape, numpy.int64)[start:end])


TABLE["Size"] = lambda l, x: l.constant(numpy.array(math.prod(x.shape)))


@lowers("Range")
def range_(l, start, limit, delta):
    a, b, step = (l.numbers(v, "the range").item() for v in (start, limit, delta))
    return l.constant(numpy.arange(a, b, step, numpy.float32 if start.dtype == "f32" else numpy.int64))


@lowers("Trilu")
def trilu(l, x, k=None, upper=1):
    return common.triangle(l, x, l.whole(k, "k")[0] if k is not None else 0, not upper)


@lowers("NonZero")
def non_zero(l, x):
    return l.constant(numpy.array(numpy.nonzero(l.numbers(x, "what is searched"))))


# Layout.

@lowers("Reshape")
def reshape(l, x, shape, allowzero=0):
    given = l.whole(shape, "the shape")
    found = [x.shape[i] if n == 0 and not allowzero else n for i, n in enumerate(given)]
    if -1 in found:
        rest = math.prod(n for n in found if n != -1)
        found[found.index(-1)] = math.prod(x.shape) // rest if rest else 0
    if math.prod(found) != math.prod(x.shape):
        raise Unsupported("%s of what has %s for a batch of %d" % (given, list(x.shape), l.size))
    return l.graph.reshape(x, found)


@lowers("Flatten")
def flatten(l, x, axis=1):
    axis = axis % x.rank if axis < 0 else axis
    return l.graph.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@lowers("Squeeze")
def squeeze(l, x, given=None, axes=None):
    axes = l.whole(given, "the axes") if given is not None else axes
    dims = [d for d, n in enumerate(x.shape) if n == 1] if axes is None else [a % x.rank for a in axes]
    return l.graph.reshape(x, [n for d, n in enumerate(x.shape) if d not in dims])


@lowers("Unsqueeze")
def unsqueeze(l, x, given=None, axes=None):
    axes = l.whole(given, "the axes") if given is not None else axes
    rank, rest = x.rank + len(axes), list(x.shape)
    dims = {a % rank for a in axes}
    return l.graph.reshape(x, [1 if d in dims else rest.pop(0) for d in range(rank)])


@lowers("Transpose")
def transpose(l, x, perm=None):
    return l.graph.transpose(x, range(x.rank)[::-1] if perm is None else perm)


@lowers("Expand")
def expand(l, x, shape):
    return l.graph.broadcast_to(x, broadcast(x.shape, l.whole(shape, "the shape")))


TABLE["Tile"] = lambda l, x, times: common.tile(l, x, l.whole(times, "the repeats"))


@lowers("Concat")
def concat(l, *values, axis):
    axis, values = axis % values[0].rank, [v for v in values if math.prod(v.shape)] or values[:1]
    return l.graph.concat(values, axis)


@lowers("Split")
def split(l, x, given=None, axis=0, split=None, num_outputs=None):
    axis, count = axis % x.rank, len(l.node.outputs)
    sizes = l.whole(given, "the sizes") if given is not None else split
    if sizes is None:
        size = -(-x.shape[axis] // count)
        sizes = [min(size, x.shape[axis] - i * size) for i in range(count)]
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [l.graph.slice(x, axis, start, size) for start, size in zip(starts, sizes)]


@lowers("Slice")
def slice_(l, x, given_starts=None, given_ends=None, given_axes=None, given_steps=None, starts=None, ends=None, axes=None):
    if given_starts is not None:
        starts, ends = l.whole(given_starts, "the starts"), l.whole(given_ends, "the ends")
        axes = l.whole(given_axes, "the axes") if given_axes is not None else None
    steps = l.whole(given_steps, "the steps") if given_steps is not None else [1] * len(starts)
    for axis, start, end, step in zip(axes or range(len(starts)), starts, ends, steps):
        axis %= x.rank
        where = range(x.shape[axis])[start:end:step]
        if not where:
            shape = x.shape[:axis] + (0,) + x.shape[axis + 1:]
            x = l.graph.fill(shape, 0, x.dtype)  # which Concat leaves out
        else:
            x = common.part(l, x, axis, where.start, len(where), step)
    return x


@lowers("Pad")
def pad(l, x, given=None, given_value=None, given_axes=None, mode="constant", pads=None, value=0.0):
    if mode != "constant":
        raise Unsupported("mode %s" % mode)
    pads = l.whole(given, "the pads") if given is not None else pads
    dims = l.whole(given_axes, "the axes") if given_axes is not None else list(range(x.rank))
    number = l.numbers(given_value, "the number").item() if given_value is not None else value
    for i, dim in enumerate(dims):
        x = common.padded(l, x, dim % x.rank, pads[i], pads[len(dims) + i], number)
    return x


# Rows by number.

@lowers("Gather")
def gather(l, x, ids, axis=0):
    g, axis, known = l.graph, axis % x.rank, numbers(ids)
    if known is not None:
        known = numpy.where(known < 0, known + x.shape[axis], known)
        line = known.reshape(-1)
        if known.ndim < 2 and line.size and (line == line[0] + numpy.arange(line.size)).all():
            part = g.slice(x, axis, int(line[0]), line.size)
            return g.reshape(part, x.shape[:axis] + known.shape + x.shape[axis + 1:])
        ids = l.constant(known)
    if axis == 0 and x.rank == 2 and x.dtype == "f32" and numbers(x) is None:
        return common.rows_of_table(l, ids, x)
    return common.take(l, x, ids, axis)


@lowers("GatherND")
def gather_nd(l, x, ids, batch_dims=0):
    """The last dimension of the ids has a place for each of the first dimensions, which become one, in row-major order."""
    g, count = l.graph, ids.shape[-1]
    if batch_dims:
        raise Unsupported("batch_dims %d" % batch_dims)
    found, places = numbers(x), numbers(ids)
    if found is not None and places is not None:
        return l.constant(found[tuple(places[..., i] for i in range(count))])
    row = None
    for i in range(count):
        place = g.reshape(g.slice(ids, ids.rank - 1, i, 1), ids.shape[:-1])
        row = place if row is None else g.binary("add", g.binary("mul", row, l.tensor(x.shape[i], "i32", row)), place)
    return common.take(l, g.reshape(x, (math.prod(x.shape[:count]),) + x.shape[count:]), row, 0)


@lowers("GatherElements")
def gather_elements(l, x, ids, axis=0):
    return common.gather(l, x, axis, ids)


@lowers("ScatterElements")
def scatter_elements(l, x, ids, updates, axis=0, reduction="none"):
    g, axis = l.graph, axis % x.rank
    if reduction not in ("none", "add") or ids.shape[:axis] + ids.shape[axis + 1:] != x.shape[:axis] + x.shape[axis + 1:]:
        raise Unsupported("reduction %s, %s ids in %s" % (reduction, list(ids.shape), list(x.shape)))
    perm, back = common.to_last(x, axis)
    x, ids, updates = (g.transpose(v, perm) for v in (x, ids, updates))
    last = x.rank - 1
    if reduction == "none":
        y = g.append("scatter_set", [x, ids, updates], {"dim": last, "batch": last}, (x.shape, x.dtype)).output
    else:
        added = g.append("scatter_add", [updates, ids], {"dim": last, "size": x.shape[last], "batch": last}, (x.shape, x.dtype))
        y = g.binary("add", x, added.output)
    return g.transpose(y, back)


@lowers("ScatterND")
def scatter_nd(l, x, ids, updates, reduction="none"):
    ids, parts = l.numbers(ids, "the places"), (numbers(x), numbers(updates))
    if reduction != "none" or parts[0] is None or parts[1] is None:
        raise Unsupported("into what depends on inputs")
    y = parts[0].copy()
    y[tuple(ids[..., i] for i in range(ids.shape[-1]))] = parts[1]
    return l.constant(y)


@lowers("TopK")
def top_k(l, x, k, axis=-1, largest=1, sorted=1):
    if not largest:
        raise Unsupported("the smallest")
    k, axis = l.whole(k, "k")[0], axis % x.rank
    shape = x.shape[:axis] + (k,) + x.shape[axis + 1:]
    return l.graph.append("top_k", [x], {"k": k, "dim": axis}, (shape, x.dtype), (shape, "i32")).outputs


@lowers("ArgMax")
def arg_max(l, x, axis=0, keepdims=1, select_last_index=0):
    axis %= x.rank
    shape = x.shape[:axis] + (1,) + x.shape[axis + 1:]
    ids = l.graph.append("top_k", [x], {"k": 1, "dim": axis}, (shape, x.dtype), (shape, "i32")).outputs[1]
    return ids if keepdims else l.graph.reshape(ids, x.shape[:axis] + x.shape[axis + 1:])


# Sums and norms.

@lowers("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSumExp",
        "ReduceProd")
def reduce(l, x, given=None, axes=None, keepdims=1, noop_with_empty_axes=0):
    g, dtype, kind, keep = l.graph, x.dtype, l.node.kind[len("Reduce"):], bool(keepdims)
    axes = l.whole(given, "the axes") if given is not None else axes
    if not axes and noop_with_empty_axes:
        return x
    dims = sorted(a % x.rank for a in axes) if axes else list(range(x.rank))
    if kind == "Prod":
        return l.constant(numpy.prod(l.numbers(x, "the factors"), tuple(dims), keepdims=keep))
    x = g.cast(x, "f32")
    if kind == "Min":
        return g.cast(common.least(l, x, dims, keep), dtype)
    if kind == "LogSumExp":
        return common.logsumexp(l, x, dims, keep)
    before = {"SumSquare": "square", "L2": "square", "L1": "abs"}.get(kind)
    x = g.unary(before, x) if before else x
    y = g.reduce({"Mean": "mean", "Max": "max"}.get(kind, "sum"), x, dims, keep)
    return g.unary("sqrt", y) if kind == "L2" else g.cast(y, dtype)


@lowers("CumSum")
def cum_sum(l, x, axis, exclusive=0, reverse=0):
    if exclusive or reverse:
        raise Unsupported("exclusive or reverse")
    return l.graph.unary("cumsum", x, dim=l.whole(axis, "the axis")[0] % x.rank)


@lowers("Softmax", "LogSoftmax")
def softmax(l, x, axis=None):
    make = common.softmax if l.node.kind == "Softmax" else common.log_softmax
    axis = (-1 if l.model.opset >= 13 else 1) if axis is None else axis
    if l.model.opset >= 13 or axis % x.rank == x.rank - 1:
        return make(l, x, axis % x.rank)
    # Earlier versions take all dimensions from the axis on as one.
    y = make(l, flatten(l, x, axis), 1)
    return l.graph.reshape(y, x.shape)


@lowers("LayerNormalization")
def layer_normalization(l, x, weight=None, bias=None, axis=-1, epsilon=1e-5, stash_type=1):
    return norms.layer_norm(l, x, x.rank - axis % x.rank, weight, bias, tidy(epsilon))


@lowers("RMSNormalization")
def rms_normalization(l, x, weight=None, axis=-1, epsilon=1e-5, stash_type=1):
    return norms.rms_norm(l, x, x.rank - axis % x.rank, weight, tidy(epsilon))


@lowers("InstanceNormalization")
def instance_normalization(l, x, weight, bias, epsilon=1e-5):
    return norms.group_norm(l, x, x.shape[1], weight, bias, tidy(epsilon))


@lowers("BatchNormalization")
def batch_normalization(l, x, weight, bias, mean, variance, epsilon=1e-5, momentum=0.9, training_mode=0, spatial=1):
    """Running statistics move by the batch's variance as it is, which PyTorch makes larger by n / (n - 1)."""
    if not training_mode:
        return norms.batch_norm_apply(l, x, mean, variance, weight, bias, tidy(epsilon))
    y, now_mean, now_variance = norms.batch_norm(l, x, weight, bias, tidy(epsilon))
    if l.model.loss is not None:
        for state, now in ((mean, now_mean), (variance, now_variance)):
            l.assigned.append((state, norms.moved(l, state, now, tidy(1 - momentum))))
    return [y, mean, variance]


@lowers("Dropout")
def dropout(l, x, rate=None, training=None, ratio=0.5, seed=0):
    rate = l.numbers(rate, "the ratio").item() if rate is not None else ratio
    if training is None or not l.numbers(training, "training_mode").item() or rate == 0:
        return x
    return l.graph.unary("dropout", x, rate=tidy(rate))


# Products.

TABLE["MatMul"] = lambda l, a, b: l.matmul(a, b)
TABLE["Einsum"] = lambda l, *values, equation: common.einsum(l, equation, values)


@lowers("Gemm")
def gemm(l, a, b, c=None, alpha=1.0, beta=1.0, transA=0, transB=0):
    g = l.graph
    y = l.matmul(g.transpose(a, (1, 0)) if transA else a, g.transpose(b, (1, 0)) if transB else b)
    y = y if alpha == 1 else g.unary("scale", y, by=float(alpha))
    if c is None or beta == 0:
        return y
    return g.binary("add", y, c if beta == 1 else g.unary("scale", c, by=float(beta)))


# Windows.

def window(x, size, strides, pads, dilations, auto_pad):
    """(strides, dilations, padding in front, behind) of windows along the last dimensions."""
    n = len(size)
    strides, dilations = strides or [1] * n, dilations or [1] * n
    if auto_pad in ("NOTSET", "VALID"):
        pads = pads if pads and auto_pad == "NOTSET" else [0] * 2 * n
        return tuple(strides), tuple(dilations), pads[:n], pads[n:]
    before, after = [], []
    for extent, of, step, far in zip(x.shape[-n:], size, strides, dilations):
        whole = max((-(-extent // step) - 1) * step + far * (of - 1) + 1 - extent, 0)
        few, many = whole // 2, whole - whole // 2
        before.append(few if auto_pad == "SAME_UPPER" else many)
        after.append(many if auto_pad == "SAME_UPPER" else few)
    return tuple(strides), tuple(dilations), before, after


def padding_of(l, x, before, after, number=0):
    """(x, padding): what is not the same in front and behind is put on first."""
    if list(before) == list(after):
        return x, tuple(before)
    for i, (a, b) in enumerate(zip(before, after)):
        x = common.padded(l, x, x.rank - len(before) + i, a, b, number)
    return x, (0,) * len(before)


@lowers("Conv")
def conv(l, x, weight, bias=None, auto_pad="NOTSET", dilations=None, group=1, kernel_shape=None, pads=None, strides=None):
    strides, dilations, before, after = window(x, weight.shape[2:], strides, pads, dilations, auto_pad)
    x, padding = padding_of(l, x, before, after)
    return windows.convolution(l, x, weight, bias, strides, padding, dilations, group)


@lowers("MaxPool")
def max_pool(l, x, kernel_shape, auto_pad="NOTSET", ceil_mode=0, dilations=None, pads=None, storage_order=0, strides=None):
    strides, dilations, before, after = window(x, kernel_shape, strides, pads, dilations, auto_pad)
    if ceil_mode:
        after = up(x, kernel_shape, strides, dilations, before, after)
    x, padding = padding_of(l, x, before, after, LOWEST)
    return windows.max_pool(l, x, tuple(kernel_shape), strides, padding, dilations)


def up(x, size, strides, dilations, before, after):
    """Padding behind that makes the last window whole, where the number of places is rounded up."""
    found = []
    for extent, of, step, far, a, b in zip(x.shape[-len(size):], size, strides, dilations, before, after):
        rest = (extent + a + b - far * (of - 1) - 1) % step
        found.append(b + (step - rest if rest else 0))
    return found


@lowers("AveragePool")
def average_pool(l, x, kernel_shape, auto_pad="NOTSET", ceil_mode=0, count_include_pad=0, dilations=None, pads=None,
                 strides=None):
    strides, dilations, before, after = window(x, kernel_shape, strides, pads, dilations, auto_pad)
    if list(before) != list(after) or set(dilations) != {1} or (
            ceil_mode and up(x, kernel_shape, strides, dilations, before, after) != list(after)):
        raise Unsupported("padding that is not the same in front and behind, dilations, or ceil_mode")
    return windows.avg_pool(l, x, tuple(kernel_shape), strides, tuple(before), bool(count_include_pad))


@lowers("GlobalAveragePool", "GlobalMaxPool")
def global_pool(l, x):
    return l.graph.reduce("max" if "Max" in l.node.kind else "mean", x, range(2, x.rank), True)


# Losses.

@lowers("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")
def cross_entropy(l, logits, labels, weights=None, ignore_index=-100, reduction="mean"):
    return losses.cross_entropy(l, logits, labels, weights, ("none", "mean", "sum").index(reduction), ignore_index)
