"""Losses."""

from .common import choose, log_softmax, take
from .lowering import Unsupported


def cross_entropy(l, logits, labels, weight=None, reduction=1, ignore=-100, smoothing=0.0):
    """Of logits[rows, classes, ...]. The reduction is 0 none, 1 mean, 2 sum."""
    g = l.graph
    if labels.dtype == "f32":
        raise Unsupported("labels that are probabilities")
    if weight is not None:
        raise Unsupported("weights of classes")
    alone = logits.rank == 1
    if alone:
        logits, labels = g.reshape(logits, (1,) + logits.shape), g.reshape(labels, (1,))
    logits = g.transpose(logits, [0] + list(range(2, logits.rank)) + [1])
    if reduction == 0:
        losses = losses_of_rows(l, logits, labels, ignore, smoothing)
        return g.reshape(losses, ()) if alone else losses
    attributes = {"ignore": ignore} if ignore != -100 else {}
    attributes.update({"label_smoothing": float(smoothing)} if smoothing else {})
    op = g.append("cross_entropy", [logits, labels], attributes, ((), "f32"), ((), "f32"))
    return op.outputs[0] if reduction == 2 else g.binary("div", *op.outputs)


def losses_of_rows(l, logits, labels, ignore, smoothing):
    if smoothing:
        raise Unsupported("label smoothing of each row")
    g, last = l.graph, logits.rank - 1
    logs = log_softmax(l, logits, last)
    outside = g.binary("equal", labels, l.tensor(ignore, "i32", labels), "i8")
    ids = choose(l, outside, l.tensor(0, "i32", labels), labels)
    ids = g.reshape(ids, labels.shape + (1,))
    own = g.reshape(take(l, logs, ids, last, last), labels.shape)
    return choose(l, outside, l.tensor(0.0, "f32", labels), g.unary("neg", own))


def nll_loss(l, logs, labels, weight=None, reduction=1, ignore=-100):
    """Of logarithms of probabilities, whose cross entropy as logits is the same."""
    return cross_entropy(l, logs, labels, weight, reduction, ignore)


def reduced_loss(l, x, reduction):
    return x if reduction == 0 else l.graph.reduce("mean" if reduction == 1 else "sum", x, range(x.rank))


def mse_loss(l, a, b, reduction=1):
    return reduced_loss(l, l.graph.unary("square", l.graph.binary("sub", a, b)), reduction)


def l1_loss(l, a, b, reduction=1):
    return reduced_loss(l, l.graph.unary("abs", l.graph.binary("sub", a, b)), reduction)


def binary_cross_entropy_with_logits(l, x, y, weight=None, positive=None, reduction=1):
    if weight is not None or positive is not None:
        raise Unsupported("weights")
    g = l.graph
    # max(x, 0) - x y + log(1 + e^-|x|)
    tail = g.unary("log", g.unary("add_scalar", g.unary("exp", g.unary("neg", g.unary("abs", x))), by=1.0))
    return reduced_loss(l, g.binary("add", g.binary("sub", g.unary("relu", x), g.binary("mul", x, y)), tail), reduction)
