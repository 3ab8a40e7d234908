// The computations of reductions: sums over the first dimensions.
#include "ops/cell_families.h"

namespace weft::cell {
namespace {

// Along rows, and over several places of a row, the family's own kernels go.
void reduce(Cells &c) {
  const Operand &x = c.subject().inputs[0];
  auto dims = llvm::dyn_cast_or_null<mlir::ArrayAttr>(c.subject().constants.get("dims"));
  const bool sums = c.word("kind") == "sum" && dims && dims.size() > 0 && dims.size() < x.shape.size();
  for (size_t i = 0; sums && i < dims.size(); ++i) {
    if (llvm::cast<mlir::IntegerAttr>(dims[unsigned(i)]).getInt() != int64_t(i)) {
      return c.refuse();
    }
  }
  if (!sums) {
    return c.refuse();
  }
  c.over(x.shape);
  c.out(0, c.sumRows(c.in(0)));
}

} // namespace

void describeReduce(Descriptions &descriptions) { descriptions.add("reduce", reduce); }

} // namespace weft::cell
