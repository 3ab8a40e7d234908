// How the gradients of norms sum over rows: in blocks fixed by the shape alone,
// so that the sums do not depend on the number of threads.
#ifndef WEFT_OPS_NORM_CPU_ROW_BLOCKS_H_
#define WEFT_OPS_NORM_CPU_ROW_BLOCKS_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "ops/abi/float_types.h"
#include "ops/abi/kernel.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/abi/workspace.h"

namespace weft::norm {

// Sums `width` columns over `rows` rows: each block of rows into its own
// partial sums, then the blocks in order. Called by one thread at a time.
class RowBlocks {
 public:
  RowBlocks(int64_t rows, int64_t width, const KernelSpec& spec)
      : rows_(rows),
        width_(width),
        threads_(spec.threads),
        blocks_(std::clamp<int64_t>(rows / kRowsOfBlock, 1, kMostBlocks)),
        workspace_(Reserved(spec.workspace, static_cast<size_t>(blocks_ * width) * sizeof(float))) {}

  // Calls body(row, partial) for every row; `partial`, `width` floats, starts at 0 and is the row's
  // block's, whose rows come in order on one thread.
  template <typename Body>
  void ForRows(const Body& body) const {
    ParallelFor(threads_, blocks_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        float* partial = workspace_->data<float>() + block * width_;
        std::fill(partial, partial + width_, 0.0f);
        const int64_t last = rows_ * (block + 1) / blocks_;
        for (int64_t row = rows_ * block / blocks_; row < last; ++row) body(row, partial);
      }
    });
  }

  // sums[i] = the blocks' partial sums of column first + i, for `count` columns.
  template <typename T>
  void Sum(int64_t first, int64_t count, T* sums) const {
    ParallelFor(threads_, (count + kColumns - 1) / kColumns, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const int64_t at = part * kColumns;
        SumColumns(workspace_->data<float>() + first + at, std::min(kColumns, count - at), sums + at);
      }
    });
  }

 private:
  static constexpr int64_t kRowsOfBlock = 32;
  static constexpr int64_t kMostBlocks = 64;
  static constexpr int64_t kColumns = 256;

  template <typename T>
  void SumColumns(const float* partial, int64_t count, T* sums) const {
    alignas(64) float sum[kColumns];
    std::copy(partial, partial + count, sum);
    for (int64_t block = 1; block < blocks_; ++block) {
      partial += width_;
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) sum[i] += partial[i];
    }
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) sums[i] = Narrow<T>(sum[i]);
  }

  const int64_t rows_, width_;
  const int threads_;
  const int64_t blocks_;
  const std::shared_ptr<Workspace> workspace_;  // [blocks][width]
};

}  // namespace weft::norm

#endif  // WEFT_OPS_NORM_CPU_ROW_BLOCKS_H_
