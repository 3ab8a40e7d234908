// CPU kernels of embedding (a table of any element type) and embedding_grad
// (f32), with i32 ids. The table may be a tile of the vocabulary: ids of other tiles give rows of zeros, ids
// outside the whole vocabulary are an error of Run().
//
// embedding_grad adds the rows of one id in double, in the order of the
// positions: for n occurrences |error| <= 2^-24 |result| + n 2^-53 sum |dout|,
// on any number of threads. With the epilogue `add` the rows, rounded, are added
// to those of a third input; accumulate_embedding_grad does so from the second
// micro-batch on.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/embedding/spec.h"
#include "ops/families.h"

namespace weft {
namespace {

using embedding::RowsInto;

// The vocabulary, and the part of it that the local table holds.
struct Vocabulary {
  int64_t size, begin, count;
};

// The first id outside the vocabulary is an error.
absl::Status CheckIds(const int32_t* ids, int64_t n, const Vocabulary& vocabulary) {
  const int32_t* bad = std::find_if(ids, ids + n, [&](int32_t id) { return id < 0 || id >= vocabulary.size; });
  if (bad == ids + n) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat("id of position ", bad - ids, ": expected 0 to ", vocabulary.size - 1, ", got ", *bad));
}

class EmbeddingKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "i32:.,any:vh->any:.h"));
    const TensorSpec& table = spec.inputs[1];
    if (table.dtype != spec.outputs[0].dtype) {
      return absl::InvalidArgumentError(absl::StrCat("output 0: expected the element type of the table, ",
                                                     NameOf(table.dtype), ", got ", NameOf(spec.outputs[0].dtype)));
    }
    const Vocabulary vocabulary{table.global_dims[0], table.origin[0], extents['v']};
    const int64_t row_bytes = extents['h'] * static_cast<int64_t>(SizeOf(table.dtype));
    return std::make_unique<EmbeddingKernel>(spec.threads, extents.rows(), row_bytes, vocabulary);
  }

  EmbeddingKernel(int threads, int64_t rows, int64_t row_bytes, Vocabulary vocabulary)
      : threads_(threads), rows_(rows), row_bytes_(row_bytes), vocabulary_(vocabulary) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* ids = static_cast<const int32_t*>(inputs[0]);
    const auto* table = static_cast<const char*>(inputs[1]);
    auto* y = static_cast<char*>(outputs[0]);
    WEFT_RETURN_IF_ERROR(CheckIds(ids, rows_, vocabulary_));
    const auto bytes = static_cast<size_t>(row_bytes_);
    ParallelFor(threads_, rows_, std::max<int64_t>(1, kGrain / row_bytes_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = ids[i] - vocabulary_.begin;
        if (row >= 0 && row < vocabulary_.count) {
          std::memcpy(y + i * row_bytes_, table + row * row_bytes_, bytes);
        } else {
          std::memset(y + i * row_bytes_, 0, bytes);
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kGrain = 65536;  // bytes

  int threads_;
  int64_t rows_, row_bytes_;
  Vocabulary vocabulary_;
};

// Sorts the positions by id (a stable counting sort), then writes every row of
// the table once: zeros, or the sum of the rows at the positions of its id.
// Where it adds, rows without positions stay as they are. Threads share out the columns, so a frequent id does not hold
// up one of them.
template <typename T>
class EmbeddingGradKernel : public Kernel {
 public:
  EmbeddingGradKernel(RowsInto into, int threads, int64_t positions, int64_t width, Vocabulary vocabulary)
      : into_(into),
        threads_(threads),
        positions_(positions),
        width_(width),
        vocabulary_(vocabulary),
        starts_(static_cast<size_t>(vocabulary.count + 1)),
        order_(static_cast<size_t>(positions)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const auto* ids = static_cast<const int32_t*>(inputs[0]);
    const auto* gradient = static_cast<const T*>(inputs[1]);
    auto* table = static_cast<float*>(outputs[0]);
    WEFT_RETURN_IF_ERROR(CheckIds(ids, positions_, vocabulary_));
    const bool adds = Adds(into_, context);
    if (adds && inputs[2] != outputs[0]) {
      std::memcpy(table, inputs[2], static_cast<size_t>(vocabulary_.count * width_) * sizeof(float));
    }
    SortPositions(ids);
    // Whole cache lines of columns.
    constexpr int64_t kLine = 16;
    ParallelFor(threads_, (width_ + kLine - 1) / kLine, 1, [&](int64_t begin, int64_t end) {
      const int64_t last = std::min(end * kLine, width_);
      for (int64_t column = begin * kLine; column < last; column += kColumns) {
        SumColumns(adds, gradient + column, table + column, std::min(kColumns, last - column));
      }
    });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kColumns = 512;

  // order_[starts_[r] .. starts_[r + 1]) are the positions of local row r, ascending.
  void SortPositions(const int32_t* ids) {
    std::fill(starts_.begin(), starts_.end(), 0);
    for (int64_t i = 0; i < positions_; ++i) {
      const int64_t row = ids[i] - vocabulary_.begin;
      if (row >= 0 && row < vocabulary_.count) ++starts_[row];
    }
    int64_t end = 0;
    for (int64_t row = 0; row <= vocabulary_.count; ++row) {
      end += starts_[row];
      starts_[row] = end;
    }
    for (int64_t i = positions_ - 1; i >= 0; --i) {
      const int64_t row = ids[i] - vocabulary_.begin;
      if (row >= 0 && row < vocabulary_.count) order_[--starts_[row]] = i;
    }
  }

  void SumColumns(bool adds, const T* gradient, float* table, int64_t count) const {
    alignas(64) double sum[kColumns];
    for (int64_t row = 0; row < vocabulary_.count; ++row) {
      float* y = table + row * width_;
      const int64_t begin = starts_[row], end = starts_[row + 1];
      if (begin == end) {
        if (!adds) std::fill_n(y, count, 0.0f);
        continue;
      }
      std::fill_n(sum, count, 0.0);
      for (int64_t at = begin; at < end; ++at) {
        const T* x = gradient + order_[at] * width_;
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < count; ++i) sum[i] += static_cast<double>(Widen(x[i]));
      }
      if (adds) {
        for (int64_t i = 0; i < count; ++i) y[i] += static_cast<float>(sum[i]);
      } else {
        for (int64_t i = 0; i < count; ++i) y[i] = static_cast<float>(sum[i]);
      }
    }
  }

  const RowsInto into_;
  int threads_;
  int64_t positions_, width_;
  Vocabulary vocabulary_;
  std::vector<int64_t> starts_;
  std::vector<int64_t> order_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateEmbeddingGrad(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(const embedding::GradSpec grad, embedding::ParseGrad(spec));
  const Vocabulary vocabulary{grad.size, spec.outputs[0].origin[0], grad.extents['v']};
  return MakeForFloat(grad.extents.type(), [&](auto zero) {
    return std::make_unique<EmbeddingGradKernel<decltype(zero)>>(grad.into, spec.threads, grad.extents.rows(),
                                                                 grad.extents['h'], vocabulary);
  });
}

}  // namespace

void RegisterEmbeddingKernels(KernelRegistry& registry) {
  registry.Register("embedding", &EmbeddingKernel::Create);
  registry.Register("embedding_grad", &CreateEmbeddingGrad);
  registry.Register("accumulate_embedding_grad", &CreateEmbeddingGrad);
}

}  // namespace weft
