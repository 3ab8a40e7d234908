// transpose: any permutation of dims.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "ops/abi/parallel.h"
#include "ops/layout/cpu_internal.h"
#include "ops/layout/plan.h"

namespace weft::layout {
namespace {

// Turns blocks of the plane spanned by the last dim of the result (columns)
// and the last dim of the operand (rows): every element crosses a small buffer
// that stays in the first-level cache, so both tensors are read and written in
// short runs of neighbours. Where the two last dims are the same one, whole
// runs are copied instead.
template <typename Word>
class TransposeKernel : public Kernel {
 public:
  TransposeKernel(int threads, std::vector<PermutedDim> dims) : threads_(threads) {
    if (dims.empty()) dims.push_back({1, 1, 1});
    column_ = dims.back();
    dims.pop_back();
    if (column_.from != 1) {
      auto row = std::find_if(dims.begin(), dims.end(), [](const PermutedDim& dim) { return dim.from == 1; });
      row_ = *row;
      dims.erase(row);
    }
    outer_ = std::move(dims);
    for (const PermutedDim& dim : outer_) planes_ *= dim.extent;
    strips_ = column_.from == 1 ? 1 : (row_.extent + kStrip - 1) / kStrip;
  }

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const Word*>(inputs[0]);
    auto* y = static_cast<Word*>(outputs[0]);
    const int64_t work = column_.extent * (column_.from == 1 ? 1 : kStrip) * static_cast<int64_t>(sizeof(Word));
    ParallelFor(threads_, planes_ * strips_, std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(work, 1)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t task = begin; task < end; ++task) RunTask(x, y, task);
                });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kBlock = 64 / static_cast<int64_t>(sizeof(Word));  // a cache line
  static constexpr int64_t kStrip = 4 * kBlock;  // rows of a task: of each page of x, four lines at once

  void RunTask(const Word* x, Word* y, int64_t task) const {
    int64_t plane = task / strips_;
    for (auto dim = outer_.rbegin(); dim != outer_.rend(); ++dim) {
      x += plane % dim->extent * dim->from;
      y += plane % dim->extent * dim->to;
      plane /= dim->extent;
    }
    if (column_.from == 1) {
      std::memcpy(y, x, static_cast<size_t>(column_.extent) * sizeof(Word));
      return;
    }
    const int64_t first = task % strips_ * kStrip, last = std::min(first + kStrip, row_.extent);
    for (int64_t column = 0; column < column_.extent; column += kBlock) {
      const int64_t columns = std::min(kBlock, column_.extent - column);
      for (int64_t row = first; row < last; row += kBlock) {
        TurnBlock(x + row + column * column_.from, y + row * row_.to + column, std::min(kBlock, last - row), columns);
      }
    }
  }

  void TurnBlock(const Word* x, Word* y, int64_t rows, int64_t columns) const {
    alignas(64) Word block[kBlock][kBlock];
    if (rows == kBlock && columns == kBlock) {
      for (int64_t c = 0; c < kBlock; ++c) {
        for (int64_t r = 0; r < kBlock; ++r) block[r][c] = x[c * column_.from + r];
      }
      for (int64_t r = 0; r < kBlock; ++r) std::memcpy(y + r * row_.to, block[r], sizeof(block[r]));
      return;
    }
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) y[r * row_.to + c] = x[c * column_.from + r];
    }
  }

  int threads_;
  PermutedDim column_, row_;
  std::vector<PermutedDim> outer_;
  int64_t planes_ = 1, strips_ = 1;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateTranspose(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(std::vector<PermutedDim> dims, PlanTranspose(spec));
  std::unique_ptr<Kernel> kernel;
  switch (SizeOf(spec.inputs[0].dtype)) {
    case 1:
      kernel = std::make_unique<TransposeKernel<uint8_t>>(spec.threads, std::move(dims));
      break;
    case 2:
      kernel = std::make_unique<TransposeKernel<uint16_t>>(spec.threads, std::move(dims));
      break;
    case 4:
      kernel = std::make_unique<TransposeKernel<uint32_t>>(spec.threads, std::move(dims));
      break;
    default:
      kernel = std::make_unique<TransposeKernel<uint64_t>>(spec.threads, std::move(dims));
  }
  return kernel;
}

}  // namespace

void RegisterTranspose(KernelRegistry& registry) { registry.Register("transpose", &CreateTranspose); }

}  // namespace weft::layout
