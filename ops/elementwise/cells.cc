// The computations of the element-wise family.
#include <limits>

#include "ops/cell_families.h"

namespace weft::cell {
namespace {

template <Cell (*function)(Cell)> void unary(Cells &c) { c.out(0, function(c.in(0))); }
template <Cell (*function)(Cell, Cell)> void binary(Cells &c) { c.out(0, function(c.in(0), c.in(1))); }
// Of integers too.
template <Cell (*function)(Cell, Cell)> void binaryOfAll(Cells &c) {
  c.out(0, function(c.inAsStored(0), c.inAsStored(1)));
}

Cell negate(Cell x) { return -x; }
Cell rsqrt(Cell x) { return 1.0 / sqrt(x); }
Cell square(Cell x) { return x * x; }
// NaN stays.
Cell sign(Cell x) {
  Cell zero = x.number(0);
  return select(x > zero, x.number(1), select(x < zero, x.number(-1), x));
}
Cell add(Cell a, Cell b) { return a + b; }
Cell subtract(Cell a, Cell b) { return a - b; }
Cell multiply(Cell a, Cell b) { return a * b; }
Cell divide(Cell a, Cell b) { return a / b; }

void scale(Cells &c) { c.out(0, c.in(0) * c.constant("factor")); }
void addScalar(Cells &c) { c.out(0, c.in(0) + c.constant("addend")); }

// NaN stays: a comparison with it is false.
void clamp(Cells &c) {
  Cell x = c.in(0);
  if (c.has("min")) {
    Cell min = c.number(c.constant("min"));
    x = select(x < min, min, x);
  }
  if (c.has("max")) {
    Cell max = c.number(c.constant("max"));
    x = select(x > max, max, x);
  }
  c.out(0, x);
}

void addN(Cells &c) {
  Cell sum = c.in(0);
  for (unsigned i = 1; i < c.numInputs(); ++i) {
    sum = sum + c.in(i);
  }
  c.out(0, sum);
}

void cast(Cells &c) { c.out(0, c.converted(c.inAsStored(0), 0)); }
void same(Cells &c) { c.out(0, c.inAsStored(0)); }

} // namespace

void describeElementwise(Descriptions &descriptions) {
  descriptions.add("neg", unary<negate>);
  descriptions.add("exp", unary<exp>);
  descriptions.add("log", unary<log>);
  descriptions.add("sqrt", unary<sqrt>);
  descriptions.add("rsqrt", unary<rsqrt>);
  descriptions.add("tanh", unary<tanh>);
  descriptions.add("sigmoid", unary<sigmoid>);
  descriptions.add("square", unary<square>);
  descriptions.add("abs", unary<abs>);
  descriptions.add("sign", unary<sign>);
  descriptions.add("add", binaryOfAll<add>);
  descriptions.add("sub", binaryOfAll<subtract>);
  descriptions.add("mul", binaryOfAll<multiply>);
  descriptions.add("div", binary<divide>);
  descriptions.add("maximum", binaryOfAll<maximum>);
  descriptions.add("minimum", binaryOfAll<minimum>);
  descriptions.add("scale", scale);
  descriptions.add("add_scalar", addScalar);
  descriptions.add("clamp", clamp);
  descriptions.add("add_n", addN);
  descriptions.add("cast", cast);
  descriptions.add("broadcast_to", same);
}

} // namespace weft::cell
