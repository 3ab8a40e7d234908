"""One graph of two that differ in the batch: numbers that differ become the batch, or multiples of it."""

from .graph import Batch, Failure

# Two sizes of the batch that are seldom another extent of a model. Nothing is computed with them but shapes.
SIZES = (11, 13)


def unify(a, b):
    """Writes what the batch is in `a` into it, by what `b` has there."""
    if len(a.ops) != len(b.ops):
        raise Failure("expected as many operations for every batch, got %d and %d" % (len(a.ops), len(b.ops)))
    for (_, x), (_, y) in zip(a.inputs, b.inputs):
        x.shape = number(x.shape, y.shape, x.op)
    for x, y in zip(a.ops, b.ops):
        if x.kind != y.kind or x.attributes.keys() != y.attributes.keys():
            raise Failure("%s: expected the same operation for every batch, got %s, from\n%s" % (x.kind, y.kind, x.origin))
        x.attributes = {key: number(value, y.attributes[key], x) for key, value in x.attributes.items()}
        for of_x, of_y in zip(x.outputs, y.outputs):
            of_x.shape = number(of_x.shape, of_y.shape, x)


def number(x, y, op):
    if type(x) is not type(y) or (isinstance(x, tuple) and len(x) != len(y)):
        raise Failure("%s: expected the same for every batch, got %.60s and %.60s, from\n%s" % (op.kind, x, y, op.origin))
    if isinstance(x, tuple):
        return tuple(number(of_x, of_y, op) for of_x, of_y in zip(x, y))
    if x == y or isinstance(x, str):
        return x
    small, large = SIZES
    if isinstance(x, int) and x % small == 0 and y * small == x * large:
        return Batch(x // small)
    if isinstance(x, float):
        # A mean over the batch, and a variance without bias.
        if close(x * small, y * large):
            return Batch(1, "%s / (n)" % float("%.15g" % (x * small)))
        n, m = 1 / (1 - 1 / x), 1 / (1 - 1 / y)
        if close(n * large, m * small) and close(n / small, round(n / small)):
            return Batch(round(n / small), "(n) / (n - 1.0)")
    raise Failure("%s: expected a number that is the batch times another one, got %s for a batch of %d and %s for one of %d, "
                  "from\n%s" % (op.kind, x, small, y, large, op.origin))


def close(x, y):
    return abs(x - y) <= 1e-9 * abs(x)
