// RUN: weft-opt %s --weft-elaborate-config -split-input-file -verify-diagnostics

// expected-error @+1 {{config @a: "2 * c": unknown name c: expected a or b}}
model.config @a = 2 * c
model.config @b = 1

// -----

// expected-error @+1 {{config @a: expected no cycle, got a uses b uses a}}
model.config @a = b + 1
model.config @b = 2 * a

// -----

// expected-error @+1 {{config @a: "3 floordiv 0": floordiv: expected a positive divisor, got 0}}
model.config @a = 3 floordiv 0

// -----

// expected-error @+1 {{config @a: "3 mod -1": mod: expected a positive divisor, got -1}}
model.config @a = 3 mod -1

// -----

// expected-error @+1 {{mod: expected whole numbers, got 1.500000e+00 and 2}}
model.config @a = 1.5 mod 2

// -----

// expected-error @+1 {{expected a number of at most 63 bits, got 4294967296 * 4294967296}}
model.config @a = 4294967296 * 4294967296

// -----

// expected-error @+1 {{config @a: "2 * S(0)": expected a number, got S(0)}}
model.config @a = 2 * S(0)

// -----

// expected-error @+1 {{config @a: "S(5.000000e-01)": S: expected a dimension of 0 or more, got 5.000000e-01}}
model.config @a = S(0.500000)

// -----

// expected-error @+1 {{config @a: "cos(1)": unknown function cos: expected sqrt, rsqrt, exp, log, min, max or if}}
model.config @a = cos(1)

// -----

// expected-error @+1 {{config @a: "rsqrt(0)": rsqrt: expected a positive number, got 0}}
model.config @a = rsqrt(0)

// -----

// expected-error @+1 {{config @a: "P(min)": expected max, got min)}}
model.config @a = P(min)

// -----

// expected-error @+1 {{config @a: "S(1.000000e+00)": S: expected a dimension of 0 or more, got 1.000000e+00}}
model.config @a = S(1.0)
