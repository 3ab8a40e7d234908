// The computations of the normalisations.
#include "ops/cell_families.h"

namespace weft::cell {
namespace {

// y = (x - mean) rstd w + b with rstd = 1 / sqrt(variance + eps); the variance is the mean of squared distances, in a second
// pass (Ba, Kiros and Hinton, "Layer normalization", 2016). Results: y, and mean and rstd where they are wanted.
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

} // namespace

void describeNorm(Descriptions &descriptions) {
  descriptions.add("layer_norm", layerNorm);
  descriptions.add("rms_norm", rmsNorm);
}

} // namespace weft::cell
