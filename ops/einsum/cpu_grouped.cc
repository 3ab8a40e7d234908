// CPU kernels of grouped_matmul and grouped_outer: f32, bf16 and f16, a result of that type or f32, summed in float.
//
// The rows of a group are brought together from all outer elements, so that a group is one matrix product: of bf16 as
// a product alone is made (cpu_grouped_bf16.cc, cpu_product.h), else in float by oneDNN's sgemm, or by plain loops
// where it is not there. Where there is one outer element and all is f32 they lie together already, and nothing is
// copied. How a product is cut into pieces depends on its shape alone, hence the bits do not depend on threads.
#include "ops/einsum/cpu_grouped.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"
#include "ops/abi/shared_status.h"
#include "ops/einsum/cpu_float_product.h"
#include "ops/einsum/cpu_groups.h"
#include "ops/einsum/cpu_sgemm.h"
#include "ops/einsum/grouped.h"

namespace weft {
namespace {

using einsum::Cut;
using einsum::GroupedProblem;
using einsum::Groups;
using einsum::kGrain;
using einsum::Sgemm;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A product for each group, cut into pieces for threads.
class Pieces {
 public:
  explicit Pieces(int64_t groups) : cuts_(groups), first_(groups + 1) {}

  void Begin() { work_ = 0; }
  // In the order of the groups.
  void Add(int64_t g, int64_t rows, int64_t columns, int64_t inner) {
    Group& it = cuts_[g];
    it = {einsum::CutFor(rows, columns, inner, 1), rows, columns, 1};
    it.across = CeilDiv(columns, std::max<int64_t>(it.cut.columns, 1));
    first_[g + 1] = first_[g] + it.across * CeilDiv(rows, std::max<int64_t>(it.cut.rows, 1));
    work_ +=
        static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(std::max<int64_t>(inner, 1));
  }
  // Calls body(group, first row, rows, first column, columns), which returns a status.
  template <typename Body>
  absl::Status Run(int threads, Body&& body) const {
    const auto useful = static_cast<int64_t>(std::clamp(work_ / einsum::kWorkOfThread, 1.0, 1e6));
    const auto workers = static_cast<int>(std::min<int64_t>(std::max(threads, 1), useful));
    SharedStatus status;
    ParallelFor(workers, first_.back(), 1, [&](int64_t begin, int64_t end) {
      int64_t g = std::upper_bound(first_.begin(), first_.end(), begin) - first_.begin() - 1;
      for (int64_t piece = begin; piece < end; ++piece) {
        while (piece >= first_[g + 1]) ++g;
        const Group& it = cuts_[g];
        const int64_t row = (piece - first_[g]) / it.across * it.cut.rows;
        const int64_t column = (piece - first_[g]) % it.across * it.cut.columns;
        status.Add(
            body(g, row, std::min(it.cut.rows, it.rows - row), column, std::min(it.cut.columns, it.columns - column)));
      }
    });
    return status.Get();
  }

 private:
  struct Group {
    Cut cut;
    int64_t rows, columns, across;
  };
  std::vector<Group> cuts_;
  std::vector<int64_t> first_;
  double work_ = 0;
};

// T: of the operands; R: of the result.
template <typename T, typename R>
class GroupedKernel : public Kernel {
 public:
  GroupedKernel(const KernelSpec& spec, const GroupedProblem& problem)
      : threads_(spec.threads), problem_(problem), groups_(problem), pieces_(problem.count) {
    sgemm_ = einsum::OneDnnSgemm();
    if (sgemm_ == nullptr) sgemm_ = &einsum::PlainSgemm;
  }

 protected:
  // Whether the rows of groups are where the operands have them, all f32.
  bool in_place() const { return std::is_same_v<T, float> && problem_.outer == 1; }
  void Reserve(std::shared_ptr<Workspace> shared, int64_t floats) {
    workspace_ = Reserved(std::move(shared), static_cast<size_t>(floats) * sizeof(float));
  }
  // `rows` in float and together, in `space` if they are not.
  const float* Together(const T* rows, int64_t columns, float* space) const {
    if constexpr (std::is_same_v<T, float>) {
      if (in_place()) return groups_.places() == 0 ? rows : rows + groups_.row_of(0) * columns;
    }
    einsum::Gather(threads_, groups_, rows, columns, space);
    return space;
  }

  const int threads_;
  const GroupedProblem problem_;
  Groups groups_;
  Pieces pieces_;
  Sgemm sgemm_;
  std::shared_ptr<Workspace> workspace_;
};

template <typename T, typename R>
class MatmulKernel : public GroupedKernel<T, R> {
 public:
  MatmulKernel(const KernelSpec& spec, const GroupedProblem& problem) : GroupedKernel<T, R>(spec, problem) {
    const GroupedProblem& p = problem;
    this->Reserve(spec.workspace, (this->in_place() ? 0 : p.all_rows() * p.k) + (Direct() ? 0 : p.all_rows() * p.m) +
                                      (std::is_same_v<T, float> ? 0 : p.count * p.matrix()));
  }

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const GroupedProblem& p = this->problem_;
    Groups& groups = this->groups_;
    WEFT_RETURN_IF_ERROR(groups.Read(static_cast<const int32_t*>(inputs[2])));
    auto* y = static_cast<R*>(outputs[0]);
    auto* space = this->workspace_->template data<float>();
    const float* x = this->Together(static_cast<const T*>(inputs[0]), p.k, space);
    if (!this->in_place()) space += p.all_rows() * p.k;
    const float* matrices = Matrices(static_cast<const T*>(inputs[1]), space);
    if (!std::is_same_v<T, float>) space += p.count * p.matrix();
    float* results = space;
    if constexpr (std::is_same_v<R, float>) {
      if (Direct()) results = y + (groups.places() == 0 ? 0 : groups.row_of(0) * p.m);
    }
    WEFT_RETURN_IF_ERROR(Multiply(x, matrices, results));
    einsum::Scatter(this->threads_, groups, p.all_rows(), Direct() ? nullptr : results, p.m, y);
    return absl::OkStatus();
  }

 private:
  // Whether results are written where they belong.
  bool Direct() const { return this->in_place() && std::is_same_v<R, float>; }

  const float* Matrices(const T* matrices, float* space) const {
    if constexpr (std::is_same_v<T, float>) return matrices;
    ParallelFor(this->threads_, this->problem_.count * this->problem_.matrix(), kGrain,
                [&](int64_t begin, int64_t end) { einsum::Convert(matrices + begin, space + begin, end - begin); });
    return space;
  }

  absl::Status Multiply(const float* x, const float* matrices, float* y) {
    const GroupedProblem& p = this->problem_;
    const Groups& groups = this->groups_;
    this->pieces_.Begin();
    for (int64_t g = 0; g < p.count; ++g) this->pieces_.Add(g, groups.size(g), p.m, p.k);
    const auto stride = static_cast<int>(p.transposed ? p.k : p.m);
    return this->pieces_.Run(
        this->threads_, [&](int64_t g, int64_t row, int64_t rows, int64_t column, int64_t columns) {
          const int64_t place = groups.first(g) + row;
          const float* matrix = matrices + g * p.matrix() + column * (p.transposed ? p.k : 1);
          return this->sgemm_(static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(p.k),
                              {x + place * p.k, static_cast<int>(p.k), false}, {matrix, stride, p.transposed},
                              y + place * p.m + column, static_cast<int>(p.m));
        });
  }
};

template <typename T, typename R>
class OuterKernel : public GroupedKernel<T, R> {
 public:
  OuterKernel(const KernelSpec& spec, const GroupedProblem& problem) : GroupedKernel<T, R>(spec, problem) {
    const GroupedProblem& p = problem;
    this->Reserve(spec.workspace, (this->in_place() ? 0 : p.all_rows() * (p.k + p.m)) +
                                      (std::is_same_v<R, float> ? 0 : p.count * p.matrix()));
  }

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const GroupedProblem& p = this->problem_;
    WEFT_RETURN_IF_ERROR(this->groups_.Read(static_cast<const int32_t*>(inputs[2])));
    auto* y = static_cast<R*>(outputs[0]);
    auto* space = this->workspace_->template data<float>();
    const float* left = this->Together(static_cast<const T*>(inputs[0]), p.k, space);
    if (!this->in_place()) space += p.all_rows() * p.k;
    const float* right = this->Together(static_cast<const T*>(inputs[1]), p.m, space);
    if (!this->in_place()) space += p.all_rows() * p.m;
    if constexpr (std::is_same_v<R, float>) {
      WEFT_RETURN_IF_ERROR(Multiply(left, right, y));
    } else {
      WEFT_RETURN_IF_ERROR(Multiply(left, right, space));
      ParallelFor(this->threads_, p.count * p.matrix(), kGrain,
                  [&](int64_t begin, int64_t end) { einsum::Convert(space + begin, y + begin, end - begin); });
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Multiply(const float* left, const float* right, float* y) {
    const GroupedProblem& p = this->problem_;
    const Groups& groups = this->groups_;
    this->pieces_.Begin();
    for (int64_t g = 0; g < p.count; ++g) this->pieces_.Add(g, p.k, p.m, groups.size(g));
    return this->pieces_.Run(
        this->threads_, [&](int64_t g, int64_t row, int64_t rows, int64_t column, int64_t columns) {
          float* at = y + g * p.matrix() + row * p.m + column;
          if (groups.size(g) == 0) {
            for (int64_t r = 0; r < rows; ++r) std::fill_n(at + r * p.m, columns, 0.0f);
            return absl::OkStatus();
          }
          const int64_t place = groups.first(g);
          return this->sgemm_(static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(groups.size(g)),
                              {left + place * p.k + row, static_cast<int>(p.k), true},
                              {right + place * p.m + column, static_cast<int>(p.m), false}, at, static_cast<int>(p.m));
        });
  }
};

template <template <typename, typename> class KernelOf>
absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const absl::StatusOr<GroupedProblem>& problem) {
  if (!problem.ok()) return problem.status();
  for (int64_t number : {problem->all_rows(), problem->k, problem->m}) {
    if (number > std::numeric_limits<int>::max()) {
      return absl::InvalidArgumentError(absl::StrCat("expected extents below 2^31, got ", number));
    }
  }
  return MakeForFloat(problem->type, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if (problem->result == DType::kF32) return std::make_unique<KernelOf<T, float>>(spec, *problem);
    return std::make_unique<KernelOf<T, T>>(spec, *problem);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> einsum::CreateGroupedMatmul(const KernelSpec& spec) {
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = CreateBf16GroupedMatmul(spec);
  if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) return kernel;
  return Create<MatmulKernel>(spec, MakeGroupedMatmul(spec));
}

absl::StatusOr<std::unique_ptr<Kernel>> einsum::CreateGroupedOuter(const KernelSpec& spec) {
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = CreateBf16GroupedOuter(spec);
  if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) return kernel;
  return Create<OuterKernel>(spec, MakeGroupedOuter(spec));
}

}  // namespace weft
