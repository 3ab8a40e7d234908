"""Tensors of known numbers as operations: by a formula where there is one, as a list where they are few."""

import torch

LISTED = 256  # numbers in a model file
LARGEST = 3.4028234663852886e38


def dtype_of(torch_type):
    """The element type here of one of torch's; all floating-point numbers are float32."""
    if torch_type.is_floating_point:
        return "f32"
    return "i8" if torch_type in (torch.bool, torch.uint8) else "i32"


def number(x, dtype):
    """A number as a model file has it, where infinity is the largest."""
    x = x.item() if isinstance(x, torch.Tensor) else x
    return min(max(float(x), -LARGEST), LARGEST) if dtype == "f32" else int(x)


def constant(graph, tensor, keep):
    """The value of a tensor. What is long and has no formula is given to `keep(tensor)`, which yields its value."""
    dtype, shape = dtype_of(tensor.dtype), tuple(tensor.shape)
    core = tensor.detach().cpu().contiguous()
    for dim in range(core.dim()):
        if core.shape[dim] > 1 and bool((core == core.narrow(dim, 0, 1)).all()):
            core = core.narrow(dim, 0, 1).contiguous()
    # Leading extents of 1 are implied where it is read.
    value = core_constant(graph, core, dtype, keep)
    return value if tuple(core.shape) == shape else graph.broadcast_to(value, shape)


def core_constant(graph, core, dtype, keep):
    shape = tuple(core.shape)
    if core.numel() == 1:
        return graph.fill(shape, number(core.reshape(()), dtype), dtype)
    long = [dim for dim, n in enumerate(shape) if n > 1]
    if len(long) == 1 and dtype != "i8":
        found = progression(graph, core, long[0], dtype)
        if found is not None:
            return found
    if len(long) == 2:
        found = two_numbers(graph, core, long, dtype)
        if found is not None:
            return found
    if core.numel() <= LISTED:
        values = [number(x, dtype) for x in core.reshape(-1)]
        return graph.append("constant", [], {"shape": shape, "values": tuple(values), "to": dtype}, (shape, dtype)).output
    return keep(core)


def progression(graph, core, dim, dtype):
    """first + step * place along one dimension."""
    line = core.reshape(-1).double()
    first, step = line[0].item(), (line[1] - line[0]).item()
    if not bool((line == first + step * torch.arange(len(line)).double()).all()):
        return None
    shape = tuple(core.shape)
    value = graph.append("iota", [], {"shape": shape, "dim": dim, "to": dtype}, (shape, dtype)).output
    if step != 1:
        value = graph.binary("mul", value, graph.fill((1,) * len(shape), step, dtype))
    if first != 0:
        value = graph.binary("add", value, graph.fill((1,) * len(shape), first, dtype))
    return value


def two_numbers(graph, core, long, dtype):
    """One number up to a diagonal and another one behind it, as masks have it: the place along the second dimension is at
    most `shift` behind that along the first one."""
    rows, columns = long
    values = core.unique()
    if len(values) != 2:
        return None
    matrix = core.reshape(core.shape[rows], core.shape[columns])
    place = torch.arange(matrix.shape[1])[None] - torch.arange(matrix.shape[0])[:, None]
    for low, high in ((values[0], values[1]), (values[1], values[0])):
        count = int((matrix[0] == low).sum())
        if bool((matrix == torch.where(place < count, low, high)).all()):
            i = graph.append("iota", [], {"shape": tuple(core.shape), "dim": rows}, (core.shape, "i32")).output
            j = graph.append("iota", [], {"shape": tuple(core.shape), "dim": columns}, (core.shape, "i32")).output
            if count != 1:
                i = graph.binary("add", i, graph.fill((1,) * core.dim(), count - 1, "i32"))
            if dtype == "i8":
                return graph.binary("less_equal" if bool(low) else "greater", j, i, "i8")
            chosen = graph.binary("less_equal", j, i, "i8")
            a, b = (graph.fill((1,) * core.dim(), number(x, dtype), dtype) for x in (low, high))
            return graph.append("select", [chosen, a, b], {}, (core.shape, dtype)).output
    return None
