#include "compiler/codegen/loops.h"

#include <algorithm>
#include <limits>

namespace weft::compiler {
namespace {

using Dim = Loops::Dim;

// Whether a step of `outer` is a walk through `inner` for every operand.
bool continues(const Dim &outer, const Dim &inner) {
  return llvm::all_of(llvm::zip(outer.strides, inner.strides),
                      [&](auto pair) { return std::get<0>(pair) == std::get<1>(pair) * inner.extent; });
}

// Neighbours of [begin, end) of the domain merged where they are one walk of `most` places; without those of one place.
llvm::SmallVector<Dim> merged(cell::KernelOp kernel, size_t begin, size_t end, int64_t most) {
  llvm::SmallVector<Dim> dims; // the innermost first
  for (size_t d = end; d-- > begin;) {
    Dim dim{kernel.getDomain()[d], {}};
    for (unsigned operand = 0; operand < kernel.getStrides().size(); ++operand) {
      dim.strides.push_back(kernel.getStridesOf(operand)[d]);
    }
    for (auto random : kernel.getBody().getOps<cell::RandomOp>()) {
      dim.strides.push_back(random.getStrides()[d]);
    }
    if (dim.extent == 1) {
      continue;
    }
    if (!dims.empty() && continues(dim, dims.back()) && dim.extent * dims.back().extent <= most) {
      dims.back().extent *= dim.extent;
    } else {
      dims.push_back(dim);
    }
  }
  std::reverse(dims.begin(), dims.end());
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

int64_t Loops::units() const {
  // Blocks of 32 rows, each of which has its own sums, and at most 64 of them: 8192 rows are 64 blocks of 128.
  constexpr int64_t kRowsOfBlock = 32, kMostBlocks = 64;
  if (sums > 0) {
    return std::clamp<int64_t>(rows() / kRowsOfBlock, 1, kMostBlocks);
  }
  return isFlat() ? groups() : rows();
}

std::optional<Loops> loopsOf(cell::KernelOp kernel) {
  if (kernel.getBatch()) {
    Loops loops{{}, Dim{1, {}}, false, 0, 0};
    for (unsigned operand = 0; operand < kernel.getStrides().size(); ++operand) {
      loops.row.strides.push_back(kernel.getStridesOf(operand)[0]);
    }
    return loops;
  }
  const bool reduces = !kernel.getBody().getOps<cell::ReduceOp>().empty();
  const size_t rank = kernel.getDomain().size();
  size_t begin = rank; // of the row
  for (int64_t row = 1; row < int64_t(kernel.getRow()); row *= kernel.getDomain()[begin]) {
    --begin;
  }
  auto randoms = kernel.getBody().getOps<cell::RandomOp>();
  const size_t numRandoms = size_t(std::distance(randoms.begin(), randoms.end()));
  // Random bits of a row are kept.
  const int64_t most = numRandoms > 0 ? kKeptRow / 4 : std::numeric_limits<int64_t>::max();
  llvm::SmallVector<Dim> outer = merged(kernel, 0, begin, most), inner = merged(kernel, begin, rank, most);
  if (inner.size() > 1) {
    return std::nullopt;
  }
  const size_t numSums =
      size_t(llvm::count_if(kernel.getYielded(), [](mlir::Value value) { return bool(cell::sumRowsOf(value)); }));
  Loops loops{outer, Dim{1, llvm::SmallVector<int64_t>(kernel.getStrides().size() + numRandoms, 0)}, reduces, numSums,
              numRandoms};
  if (!inner.empty()) {
    loops.row = inner[0];
  } else if (!reduces && !outer.empty()) {
    loops.row = loops.outer.pop_back_val();
  }
  // What is a row in memory may be none in the whole tensor, whose bits are drawn: then each place is one. So it is
  // where rows of one place are summed.
  const bool isDrawn =
      llvm::all_of(llvm::ArrayRef(loops.row.strides).take_back(numRandoms), [](int64_t stride) { return stride == 1; });
  const bool isPlace = reduces && loops.row.extent == 1 && numSums > 0;
  if (isPlace || (!isDrawn && (!reduces || loops.row.extent == 1))) {
    if (loops.row.extent > 1) {
      loops.outer.push_back(loops.row);
    }
    loops.row = {1, llvm::SmallVector<int64_t>(loops.row.strides.size(), 1)};
  }
  const bool isWalk = llvm::all_of(loops.row.strides, [](int64_t stride) { return stride <= 1; });
  const bool isKept = numRandoms == 0 || !reduces || loops.row.extent <= kKeptRow;
  for (auto [index, value] : llvm::enumerate(kernel.getYielded())) {
    const size_t operand = kernel.getNumInputs() + index;
    const bool isRow = loops.row.strides[operand] == 1 &&
                       llvm::all_of(loops.outer, [&](const Dim &dim) { return dim.strides[operand] == 0; });
    if (cell::sumRowsOf(value) && !isRow) {
      return std::nullopt;
    }
  }
  return isWalk && isKept ? std::optional(loops) : std::nullopt;
}

} // namespace weft::compiler
