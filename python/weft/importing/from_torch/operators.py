"""The table of operators: what each of PyTorch's becomes. One that is not here PyTorch takes apart into those of its core
ATen, so that the table has those and what Weft has a counterpart of.

A function gets the Lowering and what the operator gets: values, numbers, lists. It yields the value, or one for each result."""

import math

import torch

from .. import common, losses, norms as all_norms, windows as all_windows
from ..common import choose, divided, take, truth
from ..graph import broadcast
from ..lowering import Unsupported
from . import attention, norms, windows

TABLE = {}


def lowers(*names):
    def put(function):
        for name in names:
            TABLE["aten." + name] = function
        return function
    return put


# Element by element.

def scaled(l, x, alpha):
    if alpha == 1:
        return x
    return x * alpha if isinstance(x, (int, float)) else l.graph.unary("scale", l.tensor(x, "f32"), by=float(alpha))


def unary(kind):
    return lambda l, x, **_: l.graph.unary(kind, l.tensor(x, l.dtype))


for _name, _kind in {"exp": "exp", "log": "log", "sqrt": "sqrt", "rsqrt": "rsqrt", "tanh": "tanh", "sigmoid": "sigmoid",
                     "abs": "abs", "sign": "sign", "sin": "sin", "cos": "cos", "relu": "relu", "silu": "silu",
                     "square": "square"}.items():
    TABLE["aten.%s.default" % _name] = unary(_kind)


@lowers("abs.default", "neg.default")
def negate(l, x):
    g, kind = l.graph, str(l.node.target).split(".")[1]
    if x.dtype == "f32":
        return g.unary(kind, x)
    minus = g.binary("sub", l.tensor(0, x.dtype, x), x)
    return minus if kind == "neg" else g.binary("maximum", x, minus)


@lowers("gelu.default")
def gelu(l, x, approximate="none"):
    return l.graph.unary("gelu", x, approximate=approximate)


@lowers("reciprocal.default")
def reciprocal(l, x):
    return l.graph.unary("power", l.tensor(x, "f32"), by=-1.0)


@lowers("clone.default", "alias.default", "lift_fresh_copy.default", "contiguous.default", "view_as.default")
def same(l, x, *_, **__):
    return x


@lowers("detach.default")
def detach(l, x):
    return l.graph.unary("stop_gradient", x) if x.dtype == "f32" else x


@lowers("_to_copy.default", "to.dtype", "to.dtype_layout", "to.device")
def to(l, x, *_, **__):
    if l.dtype == "i8" and x.dtype != "i8":
        return l.graph.binary("not_equal", x, l.tensor(0, x.dtype, x), "i8")
    return l.graph.cast(x, l.dtype)


@lowers("add.Tensor", "add.Scalar")
def add(l, a, b, alpha=1):
    return binary(l, "add", a, scaled(l, b, alpha))


@lowers("sub.Tensor", "sub.Scalar")
def sub(l, a, b, alpha=1):
    b = scaled(l, b, alpha)
    if isinstance(b, (int, float)) and l.dtype == "f32":
        return binary(l, "add", a, -b)
    return binary(l, "sub", a, b)


@lowers("rsub.Scalar", "rsub.Tensor")
def rsub(l, a, b, alpha=1):
    return binary(l, "sub", b, scaled(l, a, alpha))


@lowers("mul.Tensor", "mul.Scalar")
def mul(l, a, b):
    return binary(l, "mul", a, b)


@lowers("div.Tensor", "div.Scalar")
def div(l, a, b):
    if isinstance(b, (int, float)):
        return binary(l, "mul", a, 1 / b)
    return binary(l, "div", a, b)


@lowers("div.Tensor_mode", "div.Scalar_mode", "floor_divide.default")
def div_mode(l, a, b, rounding_mode="floor"):
    if l.dtype != "i32" or rounding_mode is None:
        raise Unsupported("rounding_mode %s of %s" % (rounding_mode, l.dtype))
    return divided(l, a, b)  # which is `trunc`, and `floor` where nothing is below 0


@lowers("remainder.Scalar", "remainder.Tensor")
def remainder(l, a, b):
    quotient = div_mode(l, a, b)
    return l.graph.binary("sub", a, l.graph.binary("mul", quotient, l.tensor(b, "i32", quotient)))


def binary(l, kind, a, b):
    """With a number as one operand where Weft has an operation for that."""
    g, dtype = l.graph, l.dtype
    if dtype == "f32" and kind in ("add", "mul"):
        if isinstance(a, (int, float)):
            a, b = b, a
        if isinstance(b, (int, float)):
            return g.unary("add_scalar" if kind == "add" else "scale", l.tensor(a, dtype), by=float(b))
    if dtype == "i8":
        if kind != "mul":
            raise Unsupported("%s of truth values" % kind)
        kind = "logical_and"
    a, b = l.tensor(a, dtype, b), l.tensor(b, dtype, a)
    return g.binary(kind, a, b)


@lowers("maximum.default", "minimum.default")
def extreme(l, a, b):
    return binary(l, str(l.node.target).split(".")[1], a, b)


@lowers("pow.Tensor_Scalar")
def power(l, x, exponent):
    x = l.tensor(x, "f32")
    if exponent == 2:
        return l.graph.unary("square", x)
    return l.graph.unary("power", x, by=float(exponent))


@lowers("pow.Scalar")
def power_of_scalar(l, base, x):
    return l.graph.unary("exp", l.graph.unary("scale", l.tensor(x, "f32"), by=math.log(base)))


@lowers("pow.Tensor_Tensor")
def power_of_tensors(l, a, b):
    known = l.known(1)
    if known is not None and known.numel() == 1:
        return power(l, a, known.item())
    return l.graph.unary("exp", l.graph.binary("mul", l.tensor(b, "f32"), l.graph.unary("log", l.tensor(a, "f32"))))


@lowers("clamp.default", "hardtanh.default", "clamp_min.default", "clamp_max.default")
def clamp(l, x, low=None, high=None):
    if "clamp_max" in str(l.node.target):
        low, high = None, low
    if "hardtanh" in str(l.node.target):
        low, high = -1.0 if low is None else low, 1.0 if high is None else high
    if x.dtype != "f32":
        for kind, bound in (("maximum", low), ("minimum", high)):
            x = x if bound is None else l.graph.binary(kind, x, l.tensor(bound, x.dtype, x))
        return x
    bounds = {k: float(v) for k, v in (("min", low), ("max", high)) if v is not None}
    return l.graph.unary("clamp", x, **bounds)


@lowers("relu6.default")
def relu6(l, x):
    return l.graph.unary("clamp", x, min=0.0, max=6.0)


@lowers("leaky_relu.default")
def leaky_relu(l, x, slope=0.01):
    return common.leaky_relu(l, x, slope)


@lowers("hardsigmoid.default", "hardswish.default")
def hardsigmoid(l, x):
    y = common.hardsigmoid(l, x)
    return y if "hardsigmoid" in str(l.node.target) else l.graph.binary("mul", x, y)


@lowers("rand.default", "rand_like.default", "randn.default", "randn_like.default")
def draw(l, *_, **__):
    kind, numbers = ("random_normal", {"mean": 0.0, "std": 1.0}) if "randn" in str(l.node.target) else (
        "random_uniform", {"low": 0.0, "high": 1.0})
    return l.graph.append(kind, [], {"shape": l.shape, **numbers}, (l.shape, "f32")).output


# Comparisons and choices.

for _name, _kind in {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
                     "ge": "greater_equal"}.items():
    def compare(l, a, b, kind=_kind):
        dtype = "f32" if isinstance(b, float) or getattr(b, "dtype", "") == "f32" else a.dtype
        if getattr(b, "dtype", a.dtype) != a.dtype and dtype != "f32":
            dtype = "i32"
        return l.graph.binary(kind, l.tensor(a, dtype), l.tensor(b, dtype, a), "i8")
    TABLE["aten.%s.Tensor" % _name] = TABLE["aten.%s.Scalar" % _name] = compare


@lowers("logical_and.default", "bitwise_and.Tensor", "logical_or.default", "bitwise_or.Tensor")
def logical(l, a, b):
    if l.dtype != "i8":
        raise Unsupported("of integers")
    return l.graph.binary("logical_and" if "and" in str(l.node.target) else "logical_or", truth(l, a), truth(l, b), "i8")


@lowers("logical_not.default", "bitwise_not.default")
def logical_not(l, x):
    if l.dtype != "i8":
        raise Unsupported("of integers")
    return l.graph.unary("logical_not", truth(l, x), "i8")


@lowers("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(l, condition, a, b):
    return choose(l, truth(l, condition), l.tensor(a, l.dtype, condition), l.tensor(b, l.dtype, condition))


@lowers("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(l, x, mask, number):
    return choose(l, truth(l, mask), l.tensor(number, l.dtype, x), x)


# Tensors of numbers.

@lowers("full.default", "full_like.default", "new_full.default")
def full(l, _, number, *__, **___):
    return l.graph.fill(l.shape, min(max(number, -3.4028234663852886e38), 3.4028234663852886e38), l.dtype)


@lowers("zeros.default", "zeros_like.default", "new_zeros.default")
def zeros(l, *_, **__):
    return l.graph.fill(l.shape, 0, l.dtype)


@lowers("ones.default", "ones_like.default", "new_ones.default")
def ones(l, *_, **__):
    return l.graph.fill(l.shape, 1, l.dtype)


@lowers("empty.memory_format", "empty_like.default", "new_empty.default", "empty_permuted.default")
def empty(l, *_, **__):
    return l.graph.fill(l.shape, 0, l.dtype)


@lowers("scalar_tensor.default")
def scalar_tensor(l, number, **_):
    return l.graph.fill((), number, l.dtype)


@lowers("arange.start_step", "arange.start", "arange.default")
def arange(l, start, end=None, step=1, **_):
    g, dtype = l.graph, l.dtype
    start = 0 if end is None else start
    value = g.append("iota", [], {"shape": l.shape, "dim": 0, "to": dtype}, (l.shape, dtype)).output
    value = value if step == 1 else g.binary("mul", value, g.fill((1,), step, dtype))
    return value if start == 0 else g.binary("add", value, g.fill((1,), start, dtype))


@lowers("tril.default", "triu.default")
def triangle(l, x, diagonal=0):
    return common.triangle(l, x, diagonal, "tril" in str(l.node.target))


# Layout.

@lowers("view.default", "reshape.default", "_unsafe_view.default", "unsqueeze.default", "squeeze.dims", "squeeze.dim",
        "squeeze.default", "flatten.using_ints", "unflatten.int")
def reshape(l, x, *_):
    return l.graph.reshape(x, l.shape)


@lowers("permute.default")
def permute(l, x, dims):
    return l.graph.transpose(x, [d % x.rank for d in dims])


@lowers("transpose.int")
def transpose(l, x, a, b):
    perm = list(range(x.rank))
    perm[a], perm[b] = perm[b], perm[a]
    return l.graph.transpose(x, perm)


@lowers("t.default", "numpy_T.default")
def t(l, x):
    return l.graph.transpose(x, range(x.rank)[::-1])


@lowers("expand.default", "expand_copy.default", "broadcast_to.default")
def expand(l, x, *_, **__):
    return l.graph.broadcast_to(x, l.shape)


@lowers("repeat.default")
def repeat(l, x, times):
    return common.tile(l, x, times)


@lowers("slice.Tensor")
def slice_(l, x, dim=0, start=None, end=None, step=1):
    dim, size = dim % x.rank, x.shape[dim % x.rank]
    start = min(max((start or 0) + (size if (start or 0) < 0 else 0), 0), size)
    count = l.shape[dim]
    if count == 0:
        return l.graph.fill(l.shape, 0, x.dtype)  # which `cat` leaves out
    return common.part(l, x, dim, start, count, step)


@lowers("select.int")
def select_int(l, x, dim, index):
    dim %= x.rank
    return l.graph.reshape(l.graph.slice(x, dim, index % x.shape[dim], 1), l.shape)


@lowers("narrow.default")
def narrow(l, x, dim, start, length):
    return l.graph.slice(x, dim % x.rank, start % x.shape[dim], length)


@lowers("split_with_sizes.default", "split.Tensor", "chunk.default", "unbind.int", "tensor_split.sections")
def split(l, x, *arguments, **named):
    """The parts are those that torch says."""
    name = str(l.node.target)
    dim = (arguments[0] if arguments else named.get("dim", 0)) if "unbind" in name else (
        arguments[1] if len(arguments) > 1 else named.get("dim", 0))
    dim, parts, start = dim % x.rank, [], 0
    for part in l.node.meta["val"]:
        size = 1 if "unbind" in name else part.shape[dim]
        parts.append(l.graph.reshape(l.graph.slice(x, dim, start, size), part.shape))
        start += size
    return parts


def getitem(l, values, index):
    return values[index]


TABLE["<built-in function getitem>"] = getitem


@lowers("cat.default")
def cat(l, values, dim=0):
    values = [v for v in values if math.prod(v.shape)]
    return l.graph.concat([l.tensor(v, l.dtype) for v in values], dim % values[0].rank)


@lowers("stack.default")
def stack(l, values, dim=0):
    dim %= len(l.shape)
    shape = [n for i, n in enumerate(l.shape)]
    shape[dim] = 1
    return l.graph.concat([l.graph.reshape(l.tensor(v, l.dtype), shape) for v in values], dim)


@lowers("slice_scatter.default")
def slice_scatter(l, x, part, dim=0, start=None, end=None, step=1):
    if step != 1:
        raise Unsupported("a step of %d" % step)
    g, dim, size = l.graph, dim % x.rank, x.shape[dim % x.rank]
    start = min(max((start or 0) + (size if (start or 0) < 0 else 0), 0), size)
    end = start + part.shape[dim]
    sides = [g.slice(x, dim, 0, start)] if start else []
    return g.concat(sides + [g.cast(part, x.dtype)] + ([g.slice(x, dim, end, size - end)] if end < size else []), dim)


@lowers("select_scatter.default")
def select_scatter(l, x, part, dim, index):
    dim %= x.rank
    index %= x.shape[dim]
    part = l.graph.reshape(part, x.shape[:dim] + (1,) + x.shape[dim + 1:])
    return slice_scatter(l, x, part, dim, index, index + 1)


@lowers("copy.default")
def copy(l, x, source, *_):
    return l.graph.broadcast_to(l.graph.cast(source, x.dtype), x.shape)


@lowers("constant_pad_nd.default")
def constant_pad_nd(l, x, padding, number=0.0):
    for i in range(len(padding) // 2):
        x = common.padded(l, x, x.rank - 1 - i, padding[2 * i], padding[2 * i + 1], number)
    return x


@lowers("roll.default")
def roll(l, x, shifts, dims=()):
    g, shape = l.graph, x.shape
    if not dims:
        x, dims = g.reshape(x, (math.prod(shape),)), (0,)
    for by, dim in zip(shifts, dims):
        dim, size = dim % x.rank, x.shape[dim % x.rank]
        at = -by % size
        if at:
            x = g.concat([g.slice(x, dim, at, size - at), g.slice(x, dim, 0, at)], dim)
    return g.reshape(x, shape)


@lowers("flip.default")
def flip(l, x, dims):
    for dim in dims:
        n = x.shape[dim % x.rank]
        x = take(l, x, l.graph.binary("sub", l.graph.fill((1,), n - 1, "i32"), common.places(l, n)), dim % x.rank)
    return x


# Rows by number.

@lowers("embedding.default")
def embedding(l, table, ids, padding_idx=-1, *_):
    g, y = l.graph, common.rows_of_table(l, ids, table)
    if padding_idx < 0 or table.op.attributes.get("state"):
        return y
    # That row is not trained by what reads it here.
    padding = g.binary("equal", ids, l.tensor(padding_idx, "i32", ids), "i8")
    padding = g.reshape(padding, ids.shape + (1,))
    return choose(l, padding, g.unary("stop_gradient", y), y)


@lowers("index_select.default")
def index_select(l, x, dim, ids):
    return take(l, x, l.tensor(ids, "i32"), dim % x.rank)


@lowers("index.Tensor")
def index(l, x, indices):
    places = [i for i, ids in enumerate(indices) if ids is not None]
    indices = [from_behind(l, i, ids, x.shape[i]) for i, ids in enumerate(indices)]
    if len(places) == 1 and isinstance(indices[places[0]], range):
        # Rows in order are a part.
        part = l.graph.slice(x, places[0], indices[places[0]].start, len(indices[places[0]]))
        return l.graph.reshape(part, l.shape)
    indices = [place_by_place(l, ids) for ids in indices]
    if any(indices[i].dtype == "i8" for i in places):
        raise Unsupported("rows chosen by truth values, whose number depends on data")
    if len(places) == 1:
        return take(l, x, l.tensor(indices[places[0]], "i32"), places[0])
    if places != list(range(places[0], places[-1] + 1)):
        raise Unsupported("rows by numbers of dimensions that are not side by side")
    shape = broadcast(*[indices[i].shape for i in places]) if len(places) == 2 else ()
    if len(places) == x.rank == 2 and all(in_order(indices[i], x.shape[i]) for i in places) \
            and math.prod(shape) == math.prod(x.shape) and indices[0].shape.index(x.shape[0]) < len(shape) - 1:
        return l.graph.reshape(x, shape)
    # Several dimensions become one, whose rows are numbered in row-major order.
    g, first, last = l.graph, places[0], places[-1]
    ids = l.tensor(indices[first], "i32")
    for i in places[1:]:
        ids = g.binary("mul", ids, l.tensor(x.shape[i], "i32", ids))
        ids = g.binary("add", ids, l.tensor(indices[i], "i32"))
    x = g.reshape(x, x.shape[:first] + (math.prod(x.shape[first:last + 1]),) + x.shape[last + 1:])
    return take(l, x, ids, first)


def from_behind(l, place, ids, extent):
    """Ids of which known ones below 0 count from behind; those that go up by one as a range."""
    given = l.node.args[1][place]
    known = l.trace.known.get(given.name) if given is not None else None
    if known is None or known.dtype == torch.bool:
        return ids
    known = torch.where(known < 0, known + extent, known)
    line = known.reshape(-1)
    first = int(line[0])
    if torch.equal(line, torch.arange(first, first + len(line))) and known.dim() < 2:
        return range(first, first + len(line))
    return l.constant(known, given)


def place_by_place(l, ids):
    return common.places(l, len(ids), ids.start) if isinstance(ids, range) else ids


def in_order(ids, extent):
    """Whether ids are 0 to extent - 1 along one dimension."""
    while ids.op.kind == "reshape":
        ids = ids.op.inputs[0]
    return ids.op.kind == "iota" and math.prod(ids.shape) == extent


@lowers("topk.default")
def topk(l, x, k, dim=-1, largest=True, sorted=True):
    if not largest:
        raise Unsupported("the smallest")
    dim %= x.rank
    shape = x.shape[:dim] + (k,) + x.shape[dim + 1:]
    return l.graph.append("top_k", [x], {"k": k, "dim": dim}, (shape, x.dtype), (shape, "i32")).outputs


@lowers("sort.default")
def sort(l, x, dim=-1, descending=False):
    return l.graph.append("sort", [x], {"dim": dim % x.rank, "descending": descending}, (x.shape, x.dtype),
                          (x.shape, "i32")).outputs


@lowers("argmax.default")
def argmax(l, x, dim=None, keepdim=False):
    x = l.graph.reshape(x, (math.prod(x.shape),)) if dim is None else x
    return l.graph.reshape(topk(l, x, 1, 0 if dim is None else dim)[1], l.shape)


# Sums and norms.

def dims_of(x, dims):
    dims = range(x.rank) if dims is None or dims == [] else [dims] if isinstance(dims, int) else dims
    return [d % x.rank for d in dims]


def reduced(l, kind, x, dims=None, keep=False):
    y = l.graph.reduce(kind, l.tensor(x, "f32"), dims_of(x, dims), keep)
    return l.graph.cast(y, l.dtype if l.dtype != "i8" else y.dtype)


@lowers("sum.default", "sum.dim_IntList")
def total(l, x, dims=None, keep=False, **_):
    return reduced(l, "sum", x, dims, keep)


@lowers("mean.default", "mean.dim")
def mean(l, x, dims=None, keep=False, **_):
    return reduced(l, "mean", x, dims, keep)


@lowers("amax.default", "max.default")
def amax(l, x, dims=None, keep=False):
    return reduced(l, "max", x, dims, keep)


@lowers("amin.default", "min.default")
def amin(l, x, dims=None, keep=False):
    return common.least(l, x, dims_of(x, dims), keep)


@lowers("max.dim")
def max_dim(l, x, dim, keep=False):
    return [reduced(l, "max", x, dim, keep), argmax(l, x, dim, keep)]


@lowers("any.default", "any.dim", "any.dims", "all.default", "all.dim", "all.dims")
def any_all(l, x, dims=None, keep=False):
    g, all_of = l.graph, ".all." in str(l.node.target)
    x = g.cast(truth(l, x), "f32")
    x = g.unary("add_scalar", g.unary("neg", x), by=1.0) if all_of else x
    y = g.reduce("max", x, dims_of(x, dims), keep)
    return g.binary("equal" if all_of else "not_equal", y, l.tensor(0.0, "f32", y), "i8")


@lowers("var.correction", "var.dim")
def variance(l, x, dims=None, correction=1, keepdim=False, unbiased=None):
    g, dims = l.graph, dims_of(x, dims)
    far = g.unary("square", g.binary("sub", x, g.reduce("mean", x, dims, True)))
    y = g.reduce("mean", far, dims, keepdim)
    correction = int(unbiased) if unbiased is not None else 1 if correction is None else correction
    n = math.prod(x.shape[d] for d in dims)
    return y if correction == 0 else g.unary("scale", y, by=n / (n - correction))


@lowers("linalg_vector_norm.default")
def vector_norm(l, x, order=2, dims=None, keep=False, **_):
    g, dims = l.graph, dims_of(x, dims)
    if order == 1:
        return g.reduce("sum", g.unary("abs", x), dims, keep)
    if order != 2:
        raise Unsupported("the norm %s" % order)
    return g.unary("sqrt", g.reduce("sum", g.unary("square", x), dims, keep))


@lowers("cumsum.default")
def cumsum(l, x, dim, **_):
    return l.graph.unary("cumsum", l.tensor(x, l.dtype), dim=dim % x.rank)


@lowers("softmax.int", "_softmax.default", "_safe_softmax.default")
def softmax(l, x, dim, *_, **__):
    return common.softmax(l, x, dim)


@lowers("logsumexp.default")
def logsumexp(l, x, dims, keep=False):
    return common.logsumexp(l, x, dims_of(x, dims), keep)


@lowers("dropout.default", "native_dropout.default", "feature_dropout.default")
def dropout(l, x, rate, train=True):
    if "feature" in str(l.node.target) and train and rate:
        raise Unsupported("whole channels are dropped")
    y = l.graph.unary("dropout", x, rate=float(rate)) if train and rate > 0 else x
    return [y] if "native" in str(l.node.target) else y


# Products.

LETTERS = "abcdefgh"


@lowers("linear.default")
def linear(l, x, weight, bias=None):
    outer = LETTERS[:x.rank - 1]
    y = l.graph.einsum("%si,oi->%so" % (outer, outer), x, weight)
    return y if bias is None else l.graph.binary("add", y, bias)


@lowers("matmul.default", "mm.default", "bmm.default", "mv.default", "dot.default")
def matmul(l, a, b):
    return l.matmul(a, b)


@lowers("addmm.default", "baddbmm.default")
def addmm(l, c, a, b, beta=1, alpha=1):
    y = scaled(l, l.matmul(a, b), alpha)
    return y if beta == 0 else l.graph.binary("add", y, scaled(l, c, beta))


@lowers("einsum.default")
def einsum(l, equation, operands, path=None):
    return common.einsum(l, equation, operands)


# What several fronts have, or takes more than a few lines, has files of its own.

lowers("floor.default")(common.floor)
lowers("elu.default")(common.elu)
lowers("softplus.default")(common.softplus)
lowers("gather.default")(common.gather)
lowers("log_softmax.int", "_log_softmax.default")(common.log_softmax)
lowers("layer_norm.default", "native_layer_norm.default")(norms.layer_norm)
lowers("rms_norm.default")(norms.rms_norm)
lowers("group_norm.default")(all_norms.group_norm)
lowers("_native_batch_norm_legit_functional.default", "_native_batch_norm_legit_no_training.default",
       "_native_batch_norm_legit.no_stats")(norms.batch_norm)
lowers("convolution.default", "conv1d.default", "conv2d.default", "conv3d.default")(windows.convolution)
lowers("max_pool2d_with_indices.default", "max_pool2d.default", "max_pool1d.default")(windows.max_pool)
lowers("avg_pool2d.default", "avg_pool1d.default")(windows.avg_pool)
lowers("adaptive_avg_pool2d.default", "_adaptive_avg_pool2d.default", "adaptive_avg_pool1d.default")(
    all_windows.adaptive_avg_pool)
lowers("scaled_dot_product_attention.default")(attention.attention)
lowers("cross_entropy_loss.default")(losses.cross_entropy)
lowers("nll_loss.default", "nll_loss_nd.default")(losses.nll_loss)
lowers("nll_loss_forward.default")(lambda l, *arguments: [losses.nll_loss(l, *arguments)])
lowers("mse_loss.default")(losses.mse_loss)
lowers("l1_loss.default")(losses.l1_loss)
lowers("binary_cross_entropy_with_logits.default")(losses.binary_cross_entropy_with_logits)
