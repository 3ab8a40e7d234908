"""Arrays of known numbers as operations: by a formula where there is one, as a list where they are few."""

import numpy

FEW = 64  # numbers that a list says better than how they are computed
MANY = 256  # and the most that a list has


class NoFormula(Exception):
    """Of numbers too many for a list, and without a formula."""


def refuse(core):
    raise NoFormula


def first_of(array, dim):
    """The first along a dimension, which stays."""
    return numpy.take(array, [0], dim)


LARGEST = 3.4028234663852886e38


def dtype_of(array):
    """The element type here of an array's; all floating-point numbers are float32."""
    return {"f": "f32", "b": "i8", "u": "i8"}.get(array.dtype.kind, "i32")


def number(x, dtype):
    """A number as a model file has it, where infinity is the largest."""
    return min(max(float(x), -LARGEST), LARGEST) if dtype == "f32" else int(x)


def constant(graph, array, keep=refuse, listed=FEW):
    """The value of an array. More numbers than `listed` without a formula are given to `keep(array)`, which yields their
    value."""
    dtype, shape, core = dtype_of(array), array.shape, array
    for dim in range(core.ndim):
        if core.shape[dim] > 1 and (core == first_of(core, dim)).all():
            core = first_of(core, dim)
    # Leading extents of 1 are implied where it is read.
    value = core_constant(graph, core, dtype, keep, listed)
    return value if tuple(core.shape) == shape else graph.broadcast_to(value, shape)


def core_constant(graph, core, dtype, keep, listed):
    shape = tuple(core.shape)
    if core.size == 1:
        return graph.fill(shape, number(core.reshape(()), dtype), dtype)
    long = [dim for dim, n in enumerate(shape) if n > 1]
    if len(long) == 1 and dtype != "i8":
        found = progression(graph, core, long[0], dtype)
        if found is not None:
            return found
    if len(long) == 2:
        found = two_numbers(graph, core, long, dtype)
        if found is None and dtype == "f32":
            found = product(graph, core, long)
        if found is not None:
            return found
    if core.size <= listed:
        values = [number(x, dtype) for x in core.reshape(-1)]
        return graph.append("constant", [], {"shape": shape, "values": tuple(values), "to": dtype}, (shape, dtype)).output
    return keep(core)


def progression(graph, core, dim, dtype):
    """first + step * place along one dimension."""
    if progression_of(core) is None:
        return None
    first, step = progression_of(core)
    shape = tuple(core.shape)
    value = graph.append("iota", [], {"shape": shape, "dim": dim, "to": dtype}, (shape, dtype)).output
    if step != 1:
        value = graph.binary("mul", value, graph.fill((1,) * len(shape), step, dtype))
    if first != 0:
        value = graph.binary("add", value, graph.fill((1,) * len(shape), first, dtype))
    return value


def progression_of(core):
    line = core.reshape(-1).astype(numpy.float64)
    first, step = float(line[0]), float(line[1] - line[0])
    return (first, step) if (line == first + step * numpy.arange(len(line))).all() else None


def product(graph, core, long):
    """A line along one dimension times one along another, such as slopes of places."""
    rows, columns = long
    matrix = core.reshape(core.shape[rows], core.shape[columns]).astype(numpy.float64)
    at = numpy.abs(matrix).sum(0).argmax()
    down, across = matrix[:, at], matrix[numpy.abs(matrix[:, at]).argmax()]
    across = across / across[at]
    # As far as float32 goes.
    if not numpy.allclose(down[:, None] * across[None], matrix, rtol=1e-6, atol=0):
        return None
    step = float(across[1] - across[0])
    whole = across / step if step else across
    if step and numpy.allclose(whole, whole.round(), rtol=1e-6, atol=0):
        across, down = whole.round(), down * step
    lines = []
    for line, dim in ((down, rows), (across, columns)):
        shape = [-1 if i == dim else 1 for i in range(core.ndim)]
        line = line.astype(numpy.float32).reshape(shape)
        if line.size > MANY and progression_of(line) is None:
            return None
        lines.append(core_constant(graph, line, "f32", refuse, MANY))
    return graph.binary("mul", *lines)


def two_numbers(graph, core, long, dtype):
    """One number up to a diagonal and another one behind it, as masks have it: the place along the second dimension is at
    most `shift` behind that along the first one."""
    rows, columns = long
    values = numpy.unique(core)
    if len(values) != 2:
        return None
    matrix = core.reshape(core.shape[rows], core.shape[columns])
    place = numpy.arange(matrix.shape[1])[None] - numpy.arange(matrix.shape[0])[:, None]
    for low, high in ((values[0], values[1]), (values[1], values[0])):
        count = int((matrix[0] == low).sum())
        if (matrix == numpy.where(place < count, low, high)).all():
            i = graph.append("iota", [], {"shape": tuple(core.shape), "dim": rows}, (core.shape, "i32")).output
            j = graph.append("iota", [], {"shape": tuple(core.shape), "dim": columns}, (core.shape, "i32")).output
            if count != 1:
                i = graph.binary("add", i, graph.fill((1,) * core.ndim, count - 1, "i32"))
            if dtype == "i8":
                return graph.binary("less_equal" if bool(low) else "greater", j, i, "i8")
            chosen = graph.binary("less_equal", j, i, "i8")
            a, b = (graph.fill((1,) * core.ndim, number(x, dtype), dtype) for x in (low, high))
            return graph.append("select", [chosen, a, b], {}, (core.shape, dtype)).output
    return None
