// The computations of the layout family: none, but at which element of its input a place is.
#include "ops/cell_families.h"

namespace weft::cell {
namespace {

void transpose(Cells &c) {
  const llvm::SmallVector<int64_t> strides = stridesOf(c.subject().inputs[0].shape), perm = c.integers("perm");
  if (perm.size() != strides.size() ||
      llvm::any_of(perm, [&](int64_t dim) { return dim < 0 || dim >= int64_t(perm.size()); })) {
    return c.refuse();
  }
  c.out(0, c.inAt(0, llvm::map_to_vector(perm, [&](int64_t dim) { return strides[size_t(dim)]; })));
}

void slice(Cells &c) {
  const Operand &x = c.subject().inputs[0];
  const int64_t dim = c.integer("dim"), offset = c.integer("offset");
  if (dim < 0 || dim >= int64_t(x.shape.size())) {
    return c.refuse();
  }
  const llvm::SmallVector<int64_t> strides = stridesOf(x.shape);
  c.out(0, c.inAt(0, strides, offset * strides[size_t(dim)]));
}

} // namespace

void describeLayout(Descriptions &descriptions) {
  descriptions.add("transpose", transpose);
  descriptions.add("slice", slice);
}

} // namespace weft::cell
