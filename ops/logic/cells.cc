// The computations of comparisons, of and, or and not, and of select.
#include "ops/cell_families.h"

namespace weft::cell {
namespace {

Cell greater(Cell a, Cell b) { return a > b; }
Cell greaterEqual(Cell a, Cell b) { return a >= b; }
Cell less(Cell a, Cell b) { return a < b; }
Cell lessEqual(Cell a, Cell b) { return a <= b; }
Cell equal(Cell a, Cell b) { return a == b; }
Cell notEqual(Cell a, Cell b) { return a != b; }
Cell both(Cell a, Cell b) { return a & b; }
Cell either(Cell a, Cell b) { return a | b; }

template <Cell (*function)(Cell, Cell)> void comparison(Cells &c) {
  c.out(0, function(c.inAsStored(0), c.inAsStored(1)));
}

template <Cell (*function)(Cell, Cell)> void logical(Cells &c) { c.out(0, function(c.isTrue(0), c.isTrue(1))); }

void logicalNot(Cells &c) { c.out(0, !c.isTrue(0)); }

void choose(Cells &c) { c.out(0, select(c.isTrue(0), c.inAsStored(1), c.inAsStored(2))); }

} // namespace

void describeLogic(Descriptions &descriptions) {
  descriptions.add("greater", comparison<greater>);
  descriptions.add("greater_equal", comparison<greaterEqual>);
  descriptions.add("less", comparison<less>);
  descriptions.add("less_equal", comparison<lessEqual>);
  descriptions.add("equal", comparison<equal>);
  descriptions.add("not_equal", comparison<notEqual>);
  descriptions.add("logical_and", logical<both>);
  descriptions.add("logical_or", logical<either>);
  descriptions.add("logical_not", logicalNot);
  descriptions.add("select", choose);
}

} // namespace weft::cell
