"""Makes the references of tests/optimizers from the rules' papers, in float64 with NumPy: see README.md there.

usage: references.py --out tests/optimizers

Where PyTorch or transformers can be imported, what they have of it is compared with what is made here.
"""

import argparse
import json
import math
import os

import numpy
from safetensors.numpy import save_file

STEPS, BATCH = 20, 8
UNIT = 2.0**-24  # of a rounding to float32
SHAPES = {"wide.weight": (8, 12), "tall.weight": (12, 4), "heads.weight": (4, 12), "ln.bias": (12,)}
INPUTS = {"wide.weight": ("wide", (8, 12)), "tall.weight": ("tall", (12, 4)), "heads.weight": ("heads", (4, 3, 2, 2)),
          "ln.bias": ("vector", (12,))}


class Real:
    """A number, or a tensor, and how far what float32 makes of the same operations may be from it (Higham, "Accuracy and
    stability of numerical algorithms", 2002, section 3.3: running errors)."""

    __array_priority__ = 1

    def __init__(self, value, error=0.0):
        self.value = numpy.asarray(value, numpy.float64)
        self.error = numpy.broadcast_to(numpy.asarray(error, numpy.float64), self.value.shape)

    @staticmethod
    def of(x):
        return x if isinstance(x, Real) else rounded(x, 0)

    def __add__(self, other):
        other = Real.of(other)
        return rounded(self.value + other.value, self.error + other.error)

    def __neg__(self):
        return Real(-self.value, self.error)

    def __sub__(self, other):
        return self + -Real.of(other)

    def __mul__(self, other):
        other = Real.of(other)
        error = abs(self.value) * other.error + abs(other.value) * self.error + self.error * other.error
        return rounded(self.value * other.value, error)

    def __truediv__(self, other):
        other = Real.of(other)
        least = abs(other.value) - other.error
        assert (least > 0).all(), "a divisor may be 0"
        value = self.value / other.value
        return rounded(value, (self.error + abs(value) * other.error) / least)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return -self + other

    def __rtruediv__(self, other):
        return Real.of(other) / self


def rounded(value, error):
    # Three units: a division, a root or a power may be off by more than half of one.
    return Real(value, error + 3 * UNIT * (abs(numpy.asarray(value)) + error))


def monotone(function, x):
    """A function that rises or falls all over what x may be."""
    value = function(x.value)
    ends = [function(numpy.maximum(x.value - x.error, 0)), function(x.value + x.error)]
    with numpy.errstate(invalid="ignore"):
        return rounded(value, numpy.maximum(abs(ends[0] - value), abs(ends[1] - value)))


def root(x):
    return monotone(numpy.sqrt, x)


def sign(x):
    assert (abs(x.value) > x.error).all(), "a sign is open"
    return Real(numpy.sign(x.value))


def total(x, axis=None):
    count = x.value.size if axis is None else x.value.shape[axis]
    value, error = x.value.sum(axis=axis, keepdims=True), x.error.sum(axis=axis, keepdims=True)
    return Real(value, error + count * UNIT * abs(x.value).sum(axis=axis, keepdims=True) * (1 + UNIT))


def mean(x, axis):
    return total(x, axis) / x.value.shape[axis]


def norm(x):
    return root(total(x * x))


def bounded(function, *operands):
    """A maximum or minimum, which moves no more than what moves most of its operands."""
    operands = [Real.of(operand) for operand in operands]
    value = function(*[operand.value for operand in operands])
    return Real(value, numpy.maximum(*[numpy.broadcast_to(operand.error, value.shape) for operand in operands]))


# ---- rules ------------------------------------------------------------------
# Each makes the next parameter from p, its gradient, the state (a dictionary, empty at first), the number t of the step and
# the learning rate. Sources: ops/optimizer/optimizer.td.


def adamw(p, g, state, t, lr, beta1, beta2, eps, decay):
    m = state["m"] = state.get("m", Real(0 * g.value)) * beta1 + g * (1 - beta1)
    v = state["v"] = state.get("v", Real(0 * g.value)) * beta2 + g * g * (1 - beta2)
    step = m * lr / (1 - beta1**t) / (root(v / (1 - beta2**t)) + eps)
    return p - p * (lr * decay) - step


def momentum(p, g, state, t, lr, momentum, decay):
    v = state["v"] = state.get("v", Real(0 * g.value)) * momentum + g + p * decay
    return p - v * lr


def lion(p, g, state, t, lr, beta1, beta2, decay):
    m = state.get("m", Real(0 * g.value))
    state["m"] = m + (g - m) * (1 - beta2)
    return p - p * (lr * decay) - sign(m + (g - m) * (1 - beta1)) * lr


def lamb(p, g, state, t, lr, beta1, beta2, eps, decay):
    m, v = state.get("m", Real(0 * g.value)), state.get("v", Real(0 * g.value))
    m = state["m"] = m + (g - m) * (1 - beta1)
    v = state["v"] = v + (g * g - v) * (1 - beta2)
    # Of 1 / (1 - beta^t) by a tanh within 3 units of the last place, and what leads to it.
    corrections = [rounded(1 / (1 - beta**t), 7 * UNIT / (1 - beta**t)) for beta in (beta1, beta2)]
    u = m * corrections[0] / (root(v * corrections[1]) + eps) + p * decay
    ratio = norm(p) / norm(u) if abs(p.value).max() > 0 else Real(1)
    return p - u * (ratio * lr)


def lars(p, g, state, t, lr, momentum, trust, decay):
    local = norm(p) * trust / (norm(g) + norm(p) * decay)
    v = state["v"] = state.get("v", Real(0 * g.value)) * momentum + (g + p * decay) * (local * lr)
    return p - v


def adafactor(p, g, state, t, lr, power, eps1, eps2, clip, decay):
    share = rounded(t**-power, 0)
    squares = g * g
    if p.value.ndim == 1:
        v = state.get("v", Real(0 * g.value))
        v = state["v"] = v + (squares + eps1 - v) * share
        u = g / root(v)
    else:
        r, c = mean(squares, 1) + eps1, mean(squares, 0) + eps1
        state["r"] = r = state.get("r", Real(0 * r.value)) + (r - state.get("r", Real(0 * r.value))) * share
        state["c"] = c = state.get("c", Real(0 * c.value)) + (c - state.get("c", Real(0 * c.value))) * share
        u = g / root(r / mean(r, 0)) / root(c)
    size = math.sqrt(p.value.size)
    u = u / bounded(numpy.maximum, norm(u) / size / clip, 1.0)
    step = bounded(numpy.maximum, norm(p) / size, eps2) * bounded(numpy.minimum, lr, 1 / math.sqrt(t))
    return p - p * (lr * decay) - u * step


def most_stretched(x):
    """What the step f(x) = a x + b x^3 + c x^5 of singular values multiplies an error of X by at most, in the Frobenius norm:
    f's largest divided difference between two of them or their negatives (first order; Higham, "Functions of matrices", 2008,
    section 3.2)."""
    f = lambda s: 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    values = numpy.linalg.svd(x, compute_uv=False)
    values = numpy.concatenate([values, -values])
    left, right = values[:, None], values[None, :]
    same = abs(left - right) < 1e-6
    slopes = numpy.where(same, 3.4445 - 3 * 4.7750 * left**2 + 5 * 2.0315 * left**4,
                         (f(left) - f(right)) / numpy.where(same, 1, left - right))
    return abs(slopes).max()


def product(x, y):
    """Of an inner product of n terms, n roundings."""
    size, error = abs(x.value) @ abs(y.value), abs(x.value) @ y.error + x.error @ abs(y.value) + x.error @ y.error
    return Real(x.value @ y.value, error + (x.value.shape[1] + 1) * UNIT * size)


def muon(p, g, state, t, lr, momentum, decay):
    m = state.get("m", Real(0 * g.value))
    m = state["m"] = m + (g - m) * (1 - momentum)
    u = g + (m - g) * momentum
    x = u / (norm(u) + 1e-7)
    if p.value.shape[0] > p.value.shape[1]:
        x = Real(x.value.T, x.error.T)
    size = numpy.linalg.norm
    error = size(x.error)
    for _ in range(5):
        # Errors of before, as a whole, and those of this step, by themselves.
        error *= most_stretched(x.value)
        x = Real(x.value)
        a = product(x, Real(x.value.T))
        x = x * 3.4445 + product(a * -4.7750 + product(a, a) * 2.0315, x)
        error += size(x.error)
    x = Real(x.value.T if p.value.shape[0] > p.value.shape[1] else x.value, error)
    return p - p * (lr * decay) - x * (lr * 0.2 * math.sqrt(max(p.value.shape)))


def is_vector(name):
    return len(SHAPES[name]) == 1


ADAM = {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8}
# What each does to a parameter of a name: the rule, its numbers, and the part of the learning rate.
CASES = {
    "adamw": lambda n: (adamw, {"lr": 0.01, "decay": 0 if is_vector(n) else 0.1, **ADAM}),
    "lion": lambda n: (lion, {"lr": 0.003, "beta1": 0.9, "beta2": 0.99, "decay": 0 if is_vector(n) else 0.3}),
    "lamb": lambda n: (lamb, {"lr": 0.02, "beta1": 0.9, "beta2": 0.999, "eps": 1e-6,
                              "decay": 0 if is_vector(n) else 0.1}),
    "lars": lambda n: ((momentum, {"lr": 0.5, "momentum": 0.9, "decay": 0}) if is_vector(n) else
                       (lars, {"lr": 0.5, "momentum": 0.9, "trust": 0.02, "decay": 0.01})),
    "adafactor": lambda n: (adafactor, {"lr": 0.05, "power": 0.8, "eps1": 1e-30, "eps2": 1e-3, "clip": 1.0,
                                        "decay": 0 if is_vector(n) else 0.1}),
    "muon": lambda n: ((adamw, {"lr": 0.01, "decay": 0, **ADAM}) if is_vector(n) else
                       (muon, {"lr": 0.01, "momentum": 0.95, "decay": 0.1})),
    # Groups: decay of vectors, another rate, and a matrix that AdamW updates in the place of Muon.
    "groups": lambda n: (adamw, {"lr": 0.01 * (0.5 if n != "ln.bias" else 1),
                                 "decay": {"ln.bias": 0.2, "heads.weight": 0}.get(n, 0.1), **ADAM}),
    "muon_groups": lambda n: ((adamw, {"lr": 0.01, "decay": 0 if is_vector(n) else 0.1, **ADAM})
                              if n in ("ln.bias", "tall.weight") else
                              (muon, {"lr": 0.01, "momentum": 0.95, "decay": 0.1})),
}


def drawn():
    """Weights, and gradients of every step and sample: multiples of 2^-10, whose sums float32 has without a rounding."""
    dice = numpy.random.default_rng(7)
    grid = lambda *shape: numpy.round(dice.normal(size=shape) * 512) / 1024
    weights = {name: grid(*shape) for name, shape in SHAPES.items()}
    data = {name: grid(STEPS, BATCH, *shape) + 0.25 * numpy.sign(grid(*shape)) for name, shape in SHAPES.items()}
    return weights, data


def trained(case, weights, data):
    result = {}
    for name in SHAPES:
        rule, numbers = CASES[case](name)
        p, state = Real(weights[name]), {}
        for step in range(STEPS):
            p = rule(p, Real(data[name][step].mean(axis=0)), state, step + 1, **numbers)
        result[name] = p
    return result


# ---- schedules --------------------------------------------------------------
def warmed(warmup, rest):
    return lambda s: (s + 1) / warmup if s < warmup else rest(s)


def restarts(s, warmup, period, growth, least):
    s -= warmup
    while s >= period:
        s, period = s - period, period * growth
    return least + (1 - least) * (1 + math.cos(math.pi * s / period)) / 2


SCHEDULES = {
    "inverse_sqrt { warmup: 4 }": warmed(4, lambda s: math.sqrt(4 / (s + 1))),
    "polynomial { warmup: 3 total: 15 min_ratio: 0.1 power: 2 }":
        warmed(3, lambda s: 0.1 + 0.9 * (1 - min(1, (s - 3) / 12))**2),
    "step { milestones: [5, 9, 14] factor: 0.5 }": lambda s: 0.5**sum(s >= m for m in (5, 9, 14)),
    "step { warmup: 2 every: 6 factor: 0.1 }": warmed(2, lambda s: 0.1**(s // 6)),
    "warmup_stable_decay { warmup: 4 total: 18 decay: 6 min_ratio: 0.05 }":
        warmed(4, lambda s: 0.05 + 0.95 * (1 - min(1, max(0, (s - 12) / 6)))),
    "cosine_restarts { warmup: 2 period: 3 growth: 2 min_ratio: 0.1 }": warmed(2, lambda s: restarts(s, 2, 3, 2, 0.1)),
}


# ---- beside PyTorch and transformers ----------------------------------------
def compare_with_torch(weights, data):
    import torch
    from transformers import optimization

    def run(make):
        parameters = {name: torch.tensor(value, requires_grad=True) for name, value in weights.items()}
        optimizer = make(parameters)
        for step in range(STEPS):
            for name, parameter in parameters.items():
                parameter.grad = torch.tensor(data[name][step].mean(axis=0))
            optimizer.step()
        return {name: parameter.detach().numpy() for name, parameter in parameters.items()}

    numbers = {"betas": (0.9, 0.95), "eps": 1e-8, "lr": 0.01}
    makers = {
        "adamw": lambda p: torch.optim.AdamW(
            [{"params": [p[n] for n in p if not is_vector(n)], "weight_decay": 0.1},
             {"params": [p["ln.bias"]], "weight_decay": 0.0}], **numbers),
        "groups": lambda p: torch.optim.AdamW(
            [{"params": [p["ln.bias"]], "weight_decay": 0.2},
             {"params": [p["heads.weight"]], "weight_decay": 0.0, "lr": 0.005},
             {"params": [p["wide.weight"], p["tall.weight"]], "weight_decay": 0.1, "lr": 0.005}], **numbers)}
    for case, make in makers.items():
        theirs, ours = run(make), trained(case, weights, data)
        for name in SHAPES:
            assert abs(theirs[name] - ours[name].value).max() < 1e-13, (case, name)

    def rates(make):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        schedule, found = make(optimizer), []
        for _ in range(STEPS):
            found.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            schedule.step()
        return found

    schedulers = torch.optim.lr_scheduler
    # Theirs begin without a warm-up, or count its steps from 0.
    pairs = [
        (lambda s: 0.5**sum(s >= m for m in (5, 9, 14)),
         rates(lambda o: schedulers.MultiStepLR(o, [5, 9, 14], gamma=0.5))),
        (lambda s: 0.1**(s // 6), rates(lambda o: schedulers.StepLR(o, 6, gamma=0.1))),
        (lambda s: (1 - min(1, s / 12))**2, rates(lambda o: schedulers.PolynomialLR(o, 12, power=2))),
        (lambda s: restarts(s, 0, 3, 2, 0.1),
         rates(lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3, 2, eta_min=0.1))),
    ]
    for ours, theirs in pairs:
        assert max(abs(ours(s) - theirs[s]) for s in range(STEPS)) < 1e-13
    theirs = rates(lambda o: optimization.get_inverse_sqrt_schedule(o, 4))
    ours = SCHEDULES["inverse_sqrt { warmup: 4 }"]
    # Theirs has at step s what ours has at s - 1: it begins with 0.
    assert max(abs(ours(s - 1) - theirs[s]) for s in range(1, STEPS)) < 1e-13


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    out = parser.parse_args().out
    weights, data = drawn()
    try:
        compare_with_torch(weights, data)
        print("PyTorch and transformers agree")
    except ImportError as missing:
        print(f"not compared: {missing}")
    save_file({name: value.astype(numpy.float32) for name, value in weights.items()}, os.path.join(out, "weights.safetensors"))
    records = {}
    for name, (field, shape) in INPUTS.items():
        records[field] = data[name].reshape(STEPS * BATCH, *shape).astype(numpy.float32)
    save_file(records, os.path.join(out, "data.safetensors"))
    references = {"rules": {}, "schedules": {}}
    for case in CASES:
        result = trained(case, weights, data)
        references["rules"][case] = {
            name: {"bound": float(f"{p.error.max():.3g}"), "values": [float(f"{v:.12g}") for v in p.value.ravel()]}
            for name, p in result.items()}
        print(case, {name: (f"{p.error.max():.2g}", f"moved {abs(p.value - weights[name]).max():.2g}")
                     for name, p in result.items()})
    for text, share in SCHEDULES.items():
        references["schedules"][text] = [float(f"{share(s):.17g}") for s in range(STEPS)]
    with open(os.path.join(out, "references.json"), "w", encoding="utf-8") as file:
        json.dump(references, file, indent=0, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
