#!/usr/bin/python3
"""Computes the coefficients in vector_math.h (needs the Debian package python3-mpmath).

Polynomials: the Remez exchange on the relative error of the whole function, in
50 digits. The rational for erf: weighted least squares over Chebyshev nodes,
linearised (P - f Q = 0) with the weights 1 / (f Q) of the previous round.
Prints each coefficient as a float literal, the lowest power first, and the
largest relative error before rounding.
"""
from mpmath import mp, mpf, matrix, lu_solve, qr_solve, sin, cos, pi, exp, log, erf, sqrt, nstr
import struct

mp.dps = 50


def literal(x):
    """The nearest float32, printed with the nine digits that identify it."""
    return "%.9gf" % struct.unpack("f", struct.pack("f", float(x)))[0]


def remez(target, weight, low, high, degree, rounds=12, grid=2000):
    """Coefficients c minimising the largest |weight(x) * (sum c_i x^i - target(x))|."""
    n = degree + 2
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    xs = [low + (high - low) * mpf(i) / grid for i in range(grid + 1)]
    xs = [x for x in xs if abs(x) > mpf(10) ** -6]
    values = [(x, target(x), weight(x)) for x in xs]
    for _ in range(rounds):
        a, b = matrix(n, n), matrix(n, 1)
        for i, x in enumerate(nodes):
            for j in range(degree + 1):
                a[i, j] = x ** j
            a[i, degree + 1] = (-1) ** i / weight(x)
            b[i] = target(x)
        solved = lu_solve(a, b)
        c = [solved[j] for j in range(degree + 1)]
        errors = [(w * (sum(cj * x ** j for j, cj in enumerate(c)) - t), x) for x, t, w in values]
        runs = []  # the extremum of each run of one sign
        for e, x in errors:
            if not runs or (runs[-1][0] > 0) != (e > 0):
                runs.append((e, x))
            elif abs(e) > abs(runs[-1][0]):
                runs[-1] = (e, x)
        while len(runs) > n:
            runs.pop(0 if abs(runs[0][0]) < abs(runs[-1][0]) else -1)
        if len(runs) < n:
            break
        nodes = [x for _, x in runs]
    return c, max(abs(e) for e, _ in errors)


def rational(target, low, high, degree_p, degree_q, rounds=8, points=160):
    """P and Q (Q's constant is 1) with P/Q near target, relatively."""
    xs = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * points)) for i in range(points)]
    fs = [target(x) for x in xs]
    q_at = [mpf(1)] * points
    for _ in range(rounds):
        a, b = matrix(points, degree_p + 1 + degree_q), matrix(points, 1)
        for i, (x, f) in enumerate(zip(xs, fs)):
            w = 1 / (f * q_at[i])
            for j in range(degree_p + 1):
                a[i, j] = w * x ** j
            for j in range(1, degree_q + 1):
                a[i, degree_p + j] = -w * f * x ** j
            b[i] = w * f
        solved, _ = qr_solve(a, b)
        p = [solved[j] for j in range(degree_p + 1)]
        q = [mpf(1)] + [solved[degree_p + j] for j in range(1, degree_q + 1)]
        q_at = [sum(c * x ** j for j, c in enumerate(q)) for x in xs]
    p_at = [sum(c * x ** j for j, c in enumerate(p)) for x in xs]
    return p, q, max(abs(pv / qv / f - 1) for pv, qv, f in zip(p_at, q_at, fs))


def show(name, coefficients, error):
    print(name, ", ".join(literal(c) for c in coefficients), " error", nstr(error, 3))


half_log2 = log(2) / 2
show("exp", *remez(lambda r: (exp(r) - 1 - r) / r ** 2, lambda r: r ** 2 / exp(r), -half_log2, half_log2, 4))
show("log", *remez(lambda f: (log(1 + f) - f + f * f / 2) / f ** 3, lambda f: f ** 3 / log(1 + f),
                   sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1, 8))
p, q, error = rational(lambda t: erf(sqrt(t)) / sqrt(t), mpf(10) ** -12, mpf("3.93") ** 2, 5, 5)
show("erf p", p, error)
show("erf q", q, error)
# In t = r^2, 0 <= r <= pi / 4: sin(r) = r + r^3 P(t), cos(r) = 1 - t / 2 + t^2 P(t).
quarter = (pi / 4) ** 2
low = mpf(10) ** -12
show("sin", *remez(lambda t: (sin(sqrt(t)) / sqrt(t) - 1) / t, lambda t: t * sqrt(t) / sin(sqrt(t)), low, quarter, 2))
show("cos", *remez(lambda t: (cos(sqrt(t)) - 1 + t / 2) / t ** 2, lambda t: t ** 2 / cos(sqrt(t)), low, quarter, 2))


def parts(x, count):
    """`x` as a sum of float32s, each the nearest to what is left."""
    found = []
    for _ in range(count):
        found.append(literal(x))
        x -= mpf(struct.unpack("f", struct.pack("f", float(x)))[0])
    return found


print("pi / 2", ", ".join(parts(pi / 2, 3)))
