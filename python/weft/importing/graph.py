"""The graph between a front and a model file: operations of Weft on values of known shapes."""

import math


class Failure(Exception):
    """What cannot be imported, in a line or several."""

    status = 1


class WrongRequest(Failure):
    """What was asked for and is not there."""

    status = 2


class Batch:
    """A number that the batch is in, as `form` says with n for `factor` times the batch."""

    def __init__(self, factor, form="n"):
        self.factor, self.form = factor, form

    def __str__(self):
        n = "batch" if self.factor == 1 else "batch * %s" % self.factor
        return self.form.replace("n", n) if self.form == "n" else '"%s"' % self.form.replace("n", n)

    def __eq__(self, other):
        return isinstance(other, Batch) and (self.factor, self.form) == (other.factor, other.form)

    def __hash__(self):
        return hash((self.factor, self.form))


class Value:
    """What an operation gives. Element types are f32, i32 and i8, that of truth values."""

    def __init__(self, op, shape, dtype):
        self.op, self.shape, self.dtype = op, tuple(shape), dtype

    @property
    def rank(self):
        return len(self.shape)


class Op:
    """An operation of the dialect `weft`; `scope` is where it stands among the modules, `origin` the Python lines that
    made it. A parameter's attributes are its name, shape and so on."""

    def __init__(self, kind, inputs, attributes, scope=(), origin=""):
        self.kind, self.inputs, self.attributes = kind, list(inputs), dict(attributes)
        self.scope, self.origin = scope, origin
        self.outputs = []

    @property
    def output(self):
        return self.outputs[0]

    def give(self, shape, dtype):
        self.outputs.append(Value(self, shape, dtype))
        return self.outputs[-1]


class Graph:
    """Operations in order. `inputs` are (name, value) pairs; `classes` says of each scope which class its module has."""

    def __init__(self):
        self.ops, self.inputs, self.classes = [], [], {}
        self.scope, self.origin = (), ""
        self.place = None  # where operations are put; at the end if None
        self.read = None  # who reads each value, once asked

    def append(self, kind, inputs, attributes, *results):
        """Puts an operation here; `results` are (shape, dtype) pairs."""
        op, self.read = Op(kind, inputs, attributes, self.scope, self.origin), None
        for shape, dtype in results:
            op.give(shape, dtype)
        if self.place is None:
            self.ops.append(op)
        else:
            self.ops.insert(self.place, op)
            self.place += 1
        return op

    def at(self, op):
        """What follows is put in front of `op` and belongs to its place among the modules."""
        self.place, self.scope, self.origin = self.ops.index(op), op.scope, op.origin

    def readers(self, value):
        """The operations that read a value."""
        if self.read is None:
            self.read = {}
            for op in self.ops:
                for v in set(op.inputs):
                    self.read.setdefault(v, []).append(op)
        return self.read.get(value, [])

    def replace(self, old, new):
        for op in self.readers(old):
            op.inputs = [new if value is old else value for value in op.inputs]
        self.read = None

    def merge_same(self):
        """Of operations that compute the same in one module keeps the first."""
        seen = {}
        for op in self.ops:
            if op.kind in EFFECTS or op.kind in DRAWS or op.kind in ("parameter", "accumulate"):
                continue
            key = (op.kind, op.scope, tuple(map(id, op.inputs)), tuple(sorted((k, repr(v)) for k, v in op.attributes.items())))
            first = seen.setdefault(key, op)
            if first is not op:
                for old, new in zip(op.outputs, first.outputs):
                    self.replace(old, new)

    def drop_dead(self):
        """Removes what nothing reads that has an effect."""
        needed, kept = set(), []
        for op in reversed(self.ops):
            if op.kind in EFFECTS or any(value in needed for value in op.outputs):
                needed.update(op.inputs)
                kept.append(op)
        self.ops, self.read = kept[::-1], None

    # The operations that several files make. Each yields its (first) value.

    def reshape(self, x, shape):
        shape = tuple(shape)
        assert math.prod(shape) == math.prod(x.shape), (x.shape, shape)
        return x if shape == x.shape else self.append("reshape", [x], {"shape": shape}, (shape, x.dtype)).output

    def transpose(self, x, perm):
        perm = tuple(perm)
        if perm == tuple(range(x.rank)):
            return x
        return self.append("transpose", [x], {"perm": perm}, ([x.shape[i] for i in perm], x.dtype)).output

    def cast(self, x, dtype):
        return x if x.dtype == dtype else self.append("cast", [x], {"to": dtype}, (x.shape, dtype)).output

    def fill(self, shape, number, dtype="f32"):
        number = float(number) if dtype == "f32" else int(number)
        return self.append("fill", [], {"shape": tuple(shape), "value": number, "to": dtype}, (shape, dtype)).output

    def unary(self, kind, x, dtype=None, **attributes):
        return self.append(kind, [x], attributes, (x.shape, dtype or x.dtype)).output

    def binary(self, kind, a, b, dtype=None, **attributes):
        return self.append(kind, [a, b], attributes, (broadcast(a.shape, b.shape), dtype or a.dtype)).output

    def slice(self, x, dim, start, size):
        if size == x.shape[dim]:
            return x
        shape = list(x.shape)
        shape[dim] = size
        return self.append("slice", [x], {"dim": dim, "from": start, "size": size}, (shape, x.dtype)).output

    def concat(self, values, dim):
        if len(values) == 1:
            return values[0]
        shape = list(values[0].shape)
        shape[dim] = sum(value.shape[dim] for value in values)
        return self.append("concat", values, {"dim": dim}, (shape, values[0].dtype)).output

    def broadcast_to(self, x, shape):
        shape = tuple(shape)
        return x if shape == x.shape else self.append("broadcast_to", [x], {"shape": shape}, (shape, x.dtype)).output

    def reduce(self, kind, x, dims, keep=False):
        dims = tuple(sorted(dims))
        if not dims:
            return x
        shape = [1 if i in dims else n for i, n in enumerate(x.shape) if keep or i not in dims]
        return self.append("reduce", [x], {"kind": kind, "dims": dims, "keep_dims": keep}, (shape, x.dtype)).output

    def einsum(self, equation, a, b):
        left, result = equation.split("->")
        extents = {}
        for letters, value in zip(left.split(","), (a, b)):
            assert len(letters) == value.rank, (equation, a.shape, b.shape)
            extents.update(zip(letters, value.shape))
        return self.append("einsum", [a, b], {"equation": equation}, ([extents[x] for x in result], "f32")).output


EFFECTS = {"minimize", "assign", "output"}
DRAWS = {"dropout", "random_uniform", "random_normal"}

# How an operation is written: parts behind `|` are there if their attribute is, or is true.
FORMS = {
    "accumulate": "{0}", "assign": "{0}, {1}", "broadcast_to": "{0} {shape}", "cast": "{0} to {to}",
    "add_scalar": "{0} by({by})", "scale": "{0} by({by})", "power": "{0} by({by})",
    "clamp": "{0}| min({min})| max({max})", "concat": "{*} dim({dim})", "cumsum": "{0} dim({dim})",
    "constant": "{shape} values {values}| to {to}", "fill": "{shape} value({value})| to {to}",
    "iota": "{shape} dim({dim})| to {to}", "dropout": "{0} rate({rate})", "einsum": '"{equation}" {0}, {1}',
    "embedding": "{0}, {1}", "gelu": "{0} approximate({approximate})",
    "layer_norm": "{0}, {1}, {2} eps({eps})", "rms_norm": "{0}, {1} eps({eps})",
    "batch_norm": "{0}, {1}, {2} over {dims} eps({eps})",
    "batch_norm_apply": "{0}, {1}, {2}, {3}, {4} over {dims} eps({eps})",
    "reshape": "{0} {shape}", "transpose": "{0} {perm}", "slice": "{0} dim({dim}) from({from}) size({size})",
    "pad": "{0} dim({dim}) before({before}) after({after})", "select": "{0}, {1}, {2}",
    "reduce": "{kind} {0} over {dims}| keep_dims",
    "take": "{0}, {1} dim({dim})| batch({batch})", "top_k": "{0} k({k}) dim({dim})",
    "scatter_set": "{0}, {1}, {2} dim({dim})| batch({batch})",
    "scatter_add": "{0}, {1} dim({dim}) size({size})| batch({batch})",
    "sort": "{0} dim({dim})| descending", "rope": "{0} theta({theta})| factor({factor})| interleaved",
    "unfold": "{0} dim({dim}) size {size}| stride {stride}| padding {padding}| dilation {dilation}",
    "max_pool": "{0} dim({dim}) size {size}| stride {stride}| padding {padding}| dilation {dilation}",
    "depthwise_conv": "{0}, {1}| stride {stride}| padding {padding}| dilation {dilation}",
    "attention": "{0}, {1}, {2}| bias({bias})| mask({mask})| causal| window({window})| scale({scale})",
    "cross_entropy": "{0}, {1}| ignore({ignore})| weights({weights})| label_smoothing({label_smoothing})",
    "random_uniform": "{shape} low({low}) high({high})", "random_normal": "{shape} mean({mean}) std({std})",
    "minimize": "{0}| per {1}", "output": '"{name}" {0}',
    "parameter": '"{name}" {shape}| stored {stored}| init({init})| init(normal {std})| sbp(tensor = {split})| state',
}
for _kind in ("add", "sub", "mul", "div", "maximum", "minimum", "logical_and", "logical_or"):
    FORMS[_kind] = "{0}, {1}"
for _kind in ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal"):
    FORMS[_kind] = "{0}, {1}| as_number"
for _kind in ("neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "square", "abs", "sign", "sin", "cos", "relu", "silu",
              "softmax", "stop_gradient", "logical_not"):
    FORMS[_kind] = "{0}"


class Operand(int):
    """An attribute that is an operand, by its place."""


def broadcast(a, b):
    """The shape of two that are aligned at the last dimension."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    assert all(x == y or 1 in (x, y) for x, y in zip(a, b)), (a, b)
    return tuple(y if x == 1 else x for x, y in zip(a, b))
