// The computations of the activation family.
#include "ops/cell_families.h"

namespace weft::cell {
namespace {

// 0.5 x (1 + tanh u) with u = sqrt(2 / pi) (x + 0.044715 x^3) (Hendrycks and Gimpel, "Gaussian error linear units",
// 2016), written as x sigmoid(2u).
constexpr double kScale = 0.79788456080286536, kCubic = 0.044715;
Cell geluSigmoid(Cell x) { return sigmoid(2 * kScale * (x + kCubic * x * x * x)); }

// P(X <= x) of the normal distribution.
Cell normal(Cell x) { return 0.5 * (1.0 + erf(x * 0.70710678118654752)); }
Cell normalDensity(Cell x) { return 0.39894228040143268 * exp(-0.5 * x * x); } // 1 / sqrt(2 pi)

void gelu(Cells &c) {
  Cell x = c.in(0);
  c.out(0, x * (c.word("approximate") == "tanh" ? geluSigmoid(x) : normal(x)));
}

void geluGrad(Cells &c) {
  Cell dy = c.in(0), x = c.in(1);
  if (c.word("approximate") == "tanh") {
    // s + 2 x s (1 - s) du/dx, as 1 - tanh^2 u = 4 s (1 - s).
    Cell s = geluSigmoid(x);
    c.out(0, dy * (s + 2.0 * x * s * (1.0 - s) * (kScale * (1.0 + 3 * kCubic * x * x))));
  } else {
    c.out(0, dy * (normal(x) + x * normalDensity(x)));
  }
}

// NaN stays.
void relu(Cells &c) {
  Cell x = c.in(0), zero = c.number(0);
  c.out(0, select(x < zero, zero, x));
}

void reluGrad(Cells &c) {
  Cell dy = c.in(0), x = c.in(1), zero = c.number(0);
  c.out(0, dy * select(x > zero, c.number(1), select(x < zero, zero, zero * x)));
}

void silu(Cells &c) {
  Cell x = c.in(0);
  c.out(0, x * sigmoid(x));
}

void siluGrad(Cells &c) {
  Cell dy = c.in(0), x = c.in(1), s = sigmoid(x);
  c.out(0, dy * (s * (1.0 + x * (1.0 - s))));
}

} // namespace

void describeActivation(Descriptions &descriptions) {
  descriptions.add("gelu", gelu);
  descriptions.add("gelu_grad", geluGrad);
  descriptions.add("relu", relu);
  descriptions.add("relu_grad", reluGrad);
  descriptions.add("silu", silu);
  descriptions.add("silu_grad", siluGrad);
}

} // namespace weft::cell
