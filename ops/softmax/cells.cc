// The computations of the softmax family.
#include "ops/cell_families.h"

namespace weft::cell {
namespace {

void softmax(Cells &c) {
  c.rows();
  Cell x = c.in(0);
  Cell power = exp(x - c.rowMax(x));
  c.out(0, power * (1.0 / c.rowSum(power)));
}

// dx = y (dy - sum(dy y)).
void softmaxGrad(Cells &c) {
  c.rows();
  Cell dy = c.in(0), y = c.in(1);
  c.out(0, y * (dy - c.rowSum(dy * y)));
}

} // namespace

void describeSoftmax(Descriptions &descriptions) {
  descriptions.add("softmax", softmax);
  descriptions.add("softmax_grad", softmaxGrad);
}

} // namespace weft::cell
