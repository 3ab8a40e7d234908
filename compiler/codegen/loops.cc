#include "compiler/codegen/loops.h"

namespace weft::compiler {
namespace {

using Dim = Loops::Dim;

// Whether a step of `outer` is a walk through `inner` for every operand.
bool continues(const Dim &outer, const Dim &inner) {
  return llvm::all_of(llvm::zip(outer.strides, inner.strides), [&](auto pair) {
    return std::get<0>(pair) == std::get<1>(pair) * inner.extent;
  });
}

// Neighbours of [begin, end) of the domain merged where they are one walk; without those of one place.
llvm::SmallVector<Dim> merged(cell::KernelOp kernel, size_t begin, size_t end) {
  llvm::SmallVector<Dim> dims;
  for (size_t d = begin; d < end; ++d) {
    Dim dim{kernel.getDomain()[d], {}};
    for (unsigned operand = 0; operand < kernel.getStrides().size(); ++operand) {
      dim.strides.push_back(kernel.getStridesOf(operand)[d]);
    }
    if (dim.extent == 1) {
      continue;
    }
    if (!dims.empty() && continues(dims.back(), dim)) {
      dim.extent *= dims.back().extent;
      dims.back() = dim;
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

} // namespace

int64_t Loops::rows() const {
  int64_t rows = 1;
  for (const Dim &dim : outer) {
    rows *= dim.extent;
  }
  return rows;
}

int64_t Loops::units() const { return isFlat() ? (row.extent + kLanes - 1) / kLanes : rows(); }

std::optional<Loops> loopsOf(cell::KernelOp kernel) {
  const bool reduces = !kernel.getBody().getOps<cell::ReduceOp>().empty();
  const size_t rank = kernel.getDomain().size();
  size_t begin = rank; // of the row
  for (int64_t row = 1; row < int64_t(kernel.getRow()); row *= kernel.getDomain()[begin]) {
    --begin;
  }
  llvm::SmallVector<Dim> outer = merged(kernel, 0, begin), inner = merged(kernel, begin, rank);
  if (inner.size() > 1) {
    return std::nullopt;
  }
  Loops loops{outer, Dim{1, llvm::SmallVector<int64_t>(kernel.getStrides().size(), 0)}, reduces};
  if (!inner.empty()) {
    loops.row = inner[0];
  } else if (!reduces && !outer.empty()) {
    loops.row = loops.outer.pop_back_val();
  }
  const bool isWalk = llvm::all_of(loops.row.strides, [](int64_t stride) { return stride <= 1; });
  return isWalk ? std::optional(loops) : std::nullopt;
}

} // namespace weft::compiler
