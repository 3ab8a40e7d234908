// RUN: weft-opt %s --weft-elaborate-config -split-input-file -verify-diagnostics

// expected-error @+1 {{config @a: "1 / 0": /: expected a divisor other than 0, got 0}}
model.config @a = "1 / 0"

// -----

// expected-error @+1 {{config @a: "min(1)": min: expected 2 arguments, got 1}}
model.config @a = min(1)

// -----

// expected-error @+1 {{config @a: "log(0)": log: expected a positive number, got 0}}
model.config @a = log(0)

// -----

// expected-error @+1 {{config @a: "if(B, 1, 2)": expected a number, got B}}
model.config @a = if(B, 1, 2)

// -----

// expected-error @+1 {{config @a: "1 < 2 < 3": expected an operator or the end, got < 3}}
model.config @a = "1 < 2 < 3"

// -----

// expected-error @+1 {{expression: expected 1 to 65536 letters without quotes, got 0}}
model.config @a = " "
