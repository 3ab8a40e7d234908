// The computations of the normalisations.
#include "ops/cell_families.h"

namespace weft::cell {
namespace {

// y = (x - mean) rstd w + b with rstd = 1 / sqrt(variance + eps); the variance is the mean of squared distances, in a
// second pass (Ba, Kiros and Hinton, "Layer normalization", 2016). Results: y, and mean and rstd where they are wanted.
void layerNorm(Cells &c) {
  c.rows();
  Cell x = c.in(0), count = c.number(double(c.rowSize()));
  Cell mean = c.rowSum(x) / count;
  Cell distance = x - mean;
  Cell rstd = 1.0 / sqrt(c.rowSum(distance * distance) / count + c.constant("eps"));
  c.out(0, distance * rstd * c.in(1) + c.in(2));
  if (c.numOutputs() > 1) {
    c.outOfRow(1, mean);
    c.outOfRow(2, rstd);
  }
}

// y = x rstd w with rstd = 1 / sqrt(avg(x^2) + eps) (Zhang and Sennrich, "Root mean square layer normalization", 2019).
// Results: y, and rstd where it is wanted.
void rmsNorm(Cells &c) {
  c.rows();
  Cell x = c.in(0);
  Cell rstd = 1.0 / sqrt(c.rowSum(x * x) / double(c.rowSize()) + c.constant("eps"));
  c.out(0, x * rstd * c.in(1));
  if (c.numOutputs() > 1) {
    c.outOfRow(1, rstd);
  }
}

// With n = (x - mean) rstd and g = dy w: dx = rstd (g - avg(g) - n avg(g n)), dw = sum dy n, db = sum dy.
void layerNormGrad(Cells &c) {
  c.rows();
  Cell dy = c.in(0), n = (c.in(1) - c.inOfRow(3)) * c.inOfRow(4), g = dy * c.in(2);
  const double share = 1.0 / double(c.rowSize());
  c.out(0, c.inOfRow(4) * (g - share * c.rowSum(g) - n * (share * c.rowSum(g * n))));
  c.out(1, c.sumRows(dy * n));
  c.out(2, c.sumRows(dy));
}

// With n = x rstd and g = dy w: dx = rstd (g - n avg(g n)), dw = sum dy n.
void rmsNormGrad(Cells &c) {
  c.rows();
  Cell dy = c.in(0), n = c.in(1) * c.inOfRow(3), g = dy * c.in(2);
  c.out(0, c.inOfRow(3) * (g - n * (c.rowSum(g * n) / double(c.rowSize()))));
  c.out(1, c.sumRows(dy * n));
}

} // namespace

void describeNorm(Descriptions &descriptions) {
  descriptions.add("layer_norm", layerNorm);
  descriptions.add("rms_norm", rmsNorm);
  descriptions.add("layer_norm_grad", layerNormGrad);
  descriptions.add("rms_norm_grad", rmsNormGrad);
}

} // namespace weft::cell
