// Grouped products of bf16 by oneDNN, whose products are prepared for fixed shapes: rows are multiplied 8192, 2048,
// 512, 128 and 32 at a time, and groups filled up to 32.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ops/einsum/contraction.h"
#include "ops/einsum/cpu_grouped.h"
#include "ops/einsum/cpu_groups.h"
#include "ops/einsum/cpu_product.h"

namespace weft::einsum {
namespace {

constexpr int64_t kChunks[] = {8192, 2048, 512, 128, 32};
constexpr int64_t kUnit = 32;

size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// An axis of the extent 1 is left out.
void Add(std::vector<Axis>& axes, const Axis& axis) {
  if (axis.extent > 1) axes.push_back(axis);
}

// Of `rows` rows.
Contraction MatmulOf(const GroupedProblem& p, int64_t rows) {
  Contraction contraction;
  Add(contraction.rows, {rows, {p.k, 0, p.m}});
  Add(contraction.columns, {p.m, {0, p.transposed ? p.k : 1, 1}});
  Add(contraction.inner, {p.k, {1, p.transposed ? 1 : p.m, 0}});
  return contraction;
}

Contraction OuterOf(const GroupedProblem& p, int64_t rows) {
  Contraction contraction;
  Add(contraction.rows, {p.k, {1, 0, p.m}});
  Add(contraction.columns, {p.m, {0, 1, 1}});
  Add(contraction.inner, {rows, {p.k, p.m, 0}});
  return contraction;
}

// Products of any multiple of kUnit rows.
class Chunks {
 public:
  absl::Status Prepare(const GroupedProblem& problem, Contraction (*contraction_of)(const GroupedProblem&, int64_t),
                       DType result, int threads) {
    const DType types[3] = {DType::kBF16, DType::kBF16, result};
    for (int64_t rows : kChunks) {
      if (rows > kUnit && rows > problem.all_rows()) continue;
      WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Product> product,
                            CreateProduct(contraction_of(problem, rows), types, threads));
      bytes_ = std::max(bytes_, product->workspace_bytes());
      products_.emplace_back(rows, std::move(product));
    }
    return absl::OkStatus();
  }

  size_t workspace_bytes() const { return Aligned(bytes_); }

  // Calls body(product, first) for pieces that make up `rows`.
  template <typename Body>
  absl::Status Each(int64_t rows, Body&& body) const {
    int64_t first = 0;
    for (const auto& [size, product] : products_) {
      for (; rows - first >= size || (size == kUnit && first < rows); first += size) {
        WEFT_RETURN_IF_ERROR(body(*product, first));
      }
    }
    return absl::OkStatus();
  }

 private:
  std::vector<std::pair<int64_t, std::unique_ptr<Product>>> products_;  // the largest first
  size_t bytes_ = 0;
};

// R: of the result.
template <typename R>
class Bf16Kernel : public Kernel {
 public:
  Bf16Kernel(const KernelSpec& spec, const GroupedProblem& problem)
      : threads_(spec.threads), problem_(problem), groups_(problem, kUnit) {}

  absl::Status Prepare(std::shared_ptr<Workspace> shared, Contraction (*contraction_of)(const GroupedProblem&, int64_t),
                       DType result, std::vector<size_t> bytes) {
    WEFT_RETURN_IF_ERROR(chunks_.Prepare(problem_, contraction_of, result, threads_));
    size_t at = chunks_.workspace_bytes();
    for (size_t part : bytes) {
      parts_.push_back(at);
      at += Aligned(part);
    }
    workspace_ = Reserved(std::move(shared), at);
    return absl::OkStatus();
  }

 protected:
  // Part `index` of the workspace.
  template <typename T>
  T* Part(size_t index) const {
    return reinterpret_cast<T*>(workspace_->data<char>() + parts_[index]);
  }
  void* Scratch() const { return workspace_->data<char>(); }

  const int threads_;
  const GroupedProblem problem_;
  Groups groups_;
  Chunks chunks_;

 private:
  std::vector<size_t> parts_;
  std::shared_ptr<Workspace> workspace_;
};

template <typename R>
class Bf16MatmulKernel : public Bf16Kernel<R> {
 public:
  using Bf16Kernel<R>::Bf16Kernel;

  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const GroupedProblem& problem) {
    auto kernel = std::make_unique<Bf16MatmulKernel>(spec, problem);
    const auto places = static_cast<size_t>(kernel->groups_.most_places());
    WEFT_RETURN_IF_ERROR(kernel->Prepare(spec.workspace, &MatmulOf, problem.result,
                                         {places * static_cast<size_t>(problem.k) * sizeof(BFloat16),
                                          places * static_cast<size_t>(problem.m) * sizeof(R)}));
    return kernel;
  }

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const GroupedProblem& p = this->problem_;
    Groups& groups = this->groups_;
    WEFT_RETURN_IF_ERROR(groups.Read(static_cast<const int32_t*>(inputs[2])));
    auto* x = this->template Part<BFloat16>(0);
    auto* y = this->template Part<R>(1);
    Gather(this->threads_, groups, static_cast<const BFloat16*>(inputs[0]), p.k, x);
    for (int64_t g = 0; g < p.count; ++g) {
      const BFloat16* matrix = static_cast<const BFloat16*>(inputs[1]) + g * p.matrix();
      WEFT_RETURN_IF_ERROR(this->chunks_.Each(groups.size(g), [&](Product& product, int64_t first) {
        const int64_t place = groups.first(g) + first;
        return product.Run(x + place * p.k, matrix, y + place * p.m, this->Scratch());
      }));
    }
    Scatter(this->threads_, groups, p.all_rows(), y, p.m, static_cast<R*>(outputs[0]));
    return absl::OkStatus();
  }
};

// Pieces of a group are added up in float.
template <typename R>
class Bf16OuterKernel : public Bf16Kernel<R> {
 public:
  using Bf16Kernel<R>::Bf16Kernel;

  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const GroupedProblem& problem) {
    auto kernel = std::make_unique<Bf16OuterKernel>(spec, problem);
    const auto places = static_cast<size_t>(kernel->groups_.most_places());
    const size_t floats = static_cast<size_t>(problem.matrix()) * sizeof(float);
    WEFT_RETURN_IF_ERROR(kernel->Prepare(spec.workspace, &OuterOf, DType::kF32,
                                         {places * static_cast<size_t>(problem.k) * sizeof(BFloat16),
                                          places * static_cast<size_t>(problem.m) * sizeof(BFloat16), floats, floats}));
    return kernel;
  }

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const GroupedProblem& p = this->problem_;
    Groups& groups = this->groups_;
    WEFT_RETURN_IF_ERROR(groups.Read(static_cast<const int32_t*>(inputs[2])));
    auto *left = this->template Part<BFloat16>(0), *right = this->template Part<BFloat16>(1);
    auto *sum = this->template Part<float>(2), *piece = this->template Part<float>(3);
    Gather(this->threads_, groups, static_cast<const BFloat16*>(inputs[0]), p.k, left);
    Gather(this->threads_, groups, static_cast<const BFloat16*>(inputs[1]), p.m, right);
    for (int64_t g = 0; g < p.count; ++g) {
      auto* y = static_cast<R*>(outputs[0]) + g * p.matrix();
      if (groups.size(g) == 0) std::fill_n(sum, p.matrix(), 0.0f);
      WEFT_RETURN_IF_ERROR(this->chunks_.Each(groups.size(g), [&](Product& product, int64_t first) {
        const int64_t place = groups.first(g) + first;
        absl::Status status =
            product.Run(left + place * p.k, right + place * p.m, first == 0 ? sum : piece, this->Scratch());
        if (first > 0) {
          ForElements([&](int64_t i) { sum[i] += piece[i]; });
        }
        return status;
      }));
      ForElements([&](int64_t i) { y[i] = Narrow<R>(sum[i]); });
    }
    return absl::OkStatus();
  }

 private:
  // Of a matrix.
  template <typename Body>
  void ForElements(const Body& body) const {
    ParallelFor(this->threads_, this->problem_.matrix(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i);
    });
  }
};

template <template <typename> class KernelOf>
absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const absl::StatusOr<GroupedProblem>& problem) {
  if (!problem.ok()) return problem.status();
  if (problem->type != DType::kBF16) return absl::UnimplementedError("expected bf16");
  if (problem->result == DType::kF32) return KernelOf<float>::Create(spec, *problem);
  return KernelOf<BFloat16>::Create(spec, *problem);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateBf16GroupedMatmul(const KernelSpec& spec) {
  return Create<Bf16MatmulKernel>(spec, MakeGroupedMatmul(spec));
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateBf16GroupedOuter(const KernelSpec& spec) {
  return Create<Bf16OuterKernel>(spec, MakeGroupedOuter(spec));
}

}  // namespace weft::einsum
