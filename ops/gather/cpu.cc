// CPU kernels of take, scatter_add and scatter_set: f32, bf16, f16, i32 and i64, by ids of i32 and i64. The table may
// be a tile of the rows: ids of other tiles give rows of zeros, or are left out; ids outside the whole are an error of
// Run().
//
// scatter_add adds the rows of one id in double and in the order of the positions, on any number of threads, so that
// for n of them |error| <= 2^-24 |result| + n 2^-53 sum |updates| (about 2^-8 and 2^-11 for bf16 and f16); integers
// wrap around. scatter_set may be in place.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/number_types.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/families.h"
#include "ops/gather/problem.h"

namespace weft {
namespace {

using gather::GatherProblem;

constexpr int64_t kGrain = 65536;  // bytes

// The ids of a run, and which local row each of them names.
class Ids {
 public:
  Ids(const GatherProblem& problem, const void* ids) : problem_(problem), ids_(ids) {}

  // The first id outside the table is an error.
  absl::Status Check() const {
    for (int64_t i = 0; i < problem_.positions_of_all(); ++i) {
      if (IdOf(i) < 0 || IdOf(i) >= problem_.size) {
        return absl::OutOfRangeError(
            absl::StrCat("id of position ", i, ": expected 0 to ", problem_.size - 1, ", got ", IdOf(i)));
      }
    }
    return absl::OkStatus();
  }

  // -1 if another tile has the row. `i` counts through all batches.
  int64_t RowOf(int64_t i) const {
    const int64_t row = IdOf(i) - problem_.begin;
    return row >= 0 && row < problem_.count ? row : -1;
  }

 private:
  int64_t IdOf(int64_t i) const {
    return problem_.wide_ids ? static_cast<const int64_t*>(ids_)[i] : static_cast<const int32_t*>(ids_)[i];
  }

  const GatherProblem& problem_;
  const void* ids_;
};

// newest[b * count + r] is the last position of batch b whose id is local row r, -1 if there is none.
void FindNewest(const GatherProblem& p, const Ids& ids, std::vector<int32_t>& newest) {
  std::fill(newest.begin(), newest.end(), -1);
  for (int64_t i = 0; i < p.positions_of_all(); ++i) {
    const int64_t row = ids.RowOf(i);
    if (row >= 0) newest[i / p.positions * p.count + row] = static_cast<int32_t>(i % p.positions);
  }
}

class TakeKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_RETURN_IF_ERROR(CheckArity(spec, 2, 1));
    WEFT_ASSIGN_OR_RETURN(GatherProblem problem,
                          gather::MakeProblem(spec, spec.inputs[0], spec.inputs[1], spec.outputs[0]));
    const bool last = spec.attributes.Has("last");
    if (last) WEFT_RETURN_IF_ERROR(gather::CheckWholePositions(spec, spec.inputs[1]));
    return std::make_unique<TakeKernel>(spec.threads, problem, last);
  }

  TakeKernel(int threads, const GatherProblem& problem, bool last)
      : threads_(threads), problem_(problem), newest_(last ? static_cast<size_t>(problem.rows_of_all()) : 0) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const GatherProblem& p = problem_;
    const auto* x = static_cast<const char*>(inputs[0]);
    auto* y = static_cast<char*>(outputs[0]);
    const Ids ids(p, inputs[1]);
    WEFT_RETURN_IF_ERROR(ids.Check());
    const bool last = !newest_.empty();
    if (last) FindNewest(p, ids, newest_);
    const int64_t bytes = p.row_bytes();
    ParallelFor(threads_, p.batch * p.outer * p.positions, std::max<int64_t>(1, kGrain / bytes),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t batch = i / (p.outer * p.positions), position = i % p.positions;
                    const int64_t row = ids.RowOf(batch * p.positions + position);
                    if (row >= 0 && (!last || newest_[batch * p.count + row] == position)) {
                      std::memcpy(y + i * bytes, x + (i / p.positions * p.count + row) * bytes, bytes);
                    } else {
                      std::memset(y + i * bytes, 0, bytes);
                    }
                  }
                });
    return absl::OkStatus();
  }

 private:
  int threads_;
  GatherProblem problem_;
  std::vector<int32_t> newest_;  // of scatter_set's positions; empty: all count
};

// Every row of the result is written once: zeros, or the sum over its positions, which are chained in their order.
template <typename T>
class ScatterAddKernel : public Kernel {
 public:
  ScatterAddKernel(int threads, const GatherProblem& problem)
      : threads_(threads),
        problem_(problem),
        first_(static_cast<size_t>(problem.rows_of_all())),
        next_(static_cast<size_t>(problem.positions_of_all())) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const GatherProblem& p = problem_;
    const auto* updates = static_cast<const T*>(inputs[0]);
    auto* y = static_cast<T*>(outputs[0]);
    const Ids ids(p, inputs[1]);
    WEFT_RETURN_IF_ERROR(ids.Check());
    Chain(ids);
    ParallelFor(threads_, p.batch * p.outer * p.count, std::max<int64_t>(1, kGrain / p.row_bytes()),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t batch = i / (p.outer * p.count);
                    const int32_t first = first_[batch * p.count + i % p.count];
                    const int32_t* next = next_.data() + batch * p.positions;
                    SumRows(updates + i / p.count * p.positions * p.inner, first, next, y + i * p.inner);
                  }
                });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kColumns = 512;

  // The positions of a row are first_[row], next_[first_[row]] and so on up to -1, ascending.
  void Chain(const Ids& ids) {
    const GatherProblem& p = problem_;
    std::fill(first_.begin(), first_.end(), -1);
    for (int64_t i = p.positions_of_all() - 1; i >= 0; --i) {
      const int64_t row = ids.RowOf(i);
      if (row < 0) continue;
      int32_t& first = first_[i / p.positions * p.count + row];
      next_[i] = first;
      first = static_cast<int32_t>(i % p.positions);
    }
  }

  void SumRows(const T* updates, int32_t first, const int32_t* next, T* y) const {
    alignas(64) SumOf<T> sums[kColumns];
    for (int64_t column = 0; column < problem_.inner; column += kColumns) {
      const int64_t count = std::min(kColumns, problem_.inner - column);
      std::fill_n(sums, count, SumOf<T>{});
      for (int64_t at = first; at >= 0; at = next[at]) {
        const T* row = updates + at * problem_.inner + column;
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < count; ++i) sums[i] += ToSum(row[i]);
      }
      for (int64_t i = 0; i < count; ++i) y[column + i] = FromSum<T>(sums[i]);
    }
  }

  int threads_;
  GatherProblem problem_;
  std::vector<int32_t> first_, next_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateScatterAdd(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 2, 1));
  WEFT_ASSIGN_OR_RETURN(GatherProblem problem,
                        gather::MakeProblem(spec, spec.outputs[0], spec.inputs[1], spec.inputs[0]));
  WEFT_ASSIGN_OR_RETURN(int64_t size, spec.attributes.Int("size"));
  if (size != problem.size) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected a tile of ", size, " rows, got ", spec.outputs[0].ToString()));
  }
  return MakeForNumber(problem.type, [&](auto zero) {
    return std::make_unique<ScatterAddKernel<decltype(zero)>>(spec.threads, problem);
  });
}

class ScatterSetKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_RETURN_IF_ERROR(CheckArity(spec, 3, 1));
    const TensorSpec &x = spec.inputs[0], &y = spec.outputs[0];
    WEFT_ASSIGN_OR_RETURN(GatherProblem problem, gather::MakeProblem(spec, x, spec.inputs[1], spec.inputs[2]));
    WEFT_RETURN_IF_ERROR(gather::CheckWholePositions(spec, spec.inputs[1]));
    if (y.dtype != x.dtype || y.dims != x.dims) {
      return absl::InvalidArgumentError(absl::StrCat("output 0: expected ", x.ToString(), ", got ", y.ToString()));
    }
    return std::make_unique<ScatterSetKernel>(spec.threads, problem);
  }

  ScatterSetKernel(int threads, const GatherProblem& problem)
      : threads_(threads), problem_(problem), newest_(static_cast<size_t>(problem.rows_of_all())) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const GatherProblem& p = problem_;
    const auto *x = static_cast<const char*>(inputs[0]), *updates = static_cast<const char*>(inputs[2]);
    auto* y = static_cast<char*>(outputs[0]);
    const Ids ids(p, inputs[1]);
    WEFT_RETURN_IF_ERROR(ids.Check());
    FindNewest(p, ids, newest_);
    const int64_t bytes = p.row_bytes();
    ParallelFor(threads_, p.batch * p.outer * p.count, std::max<int64_t>(1, kGrain / bytes),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const int32_t position = newest_[i / (p.outer * p.count) * p.count + i % p.count];
                    if (position >= 0) {
                      std::memcpy(y + i * bytes, updates + (i / p.count * p.positions + position) * bytes, bytes);
                    } else if (x != y) {
                      std::memcpy(y + i * bytes, x + i * bytes, bytes);
                    }
                  }
                });
    return absl::OkStatus();
  }

 private:
  int threads_;
  GatherProblem problem_;
  std::vector<int32_t> newest_;
};

}  // namespace

void RegisterGatherKernels(KernelRegistry& registry) {
  registry.Register("take", &TakeKernel::Create);
  registry.Register("scatter_add", &CreateScatterAdd);
  registry.Register("scatter_set", &ScatterSetKernel::Create);
}

}  // namespace weft
