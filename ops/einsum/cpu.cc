// CPU kernels of the einsum family.
// Adds grouped products (cpu_grouped.cc) and `einsum`: one matrix product (cpu_product.h; small ones of f16: as f32),
// between permuted copies where the equation or the CPU asks for them. The same in every run; f32 results do not depend
// on the number of threads either. With an epilogue (epilogue.h): what the kernels give that it stands for, bit by bit.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/kernel.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/workspace.h"
#include "ops/einsum/contraction.h"
#include "ops/einsum/cpu_epilogue.h"
#include "ops/einsum/cpu_grouped.h"
#include "ops/einsum/cpu_permute.h"
#include "ops/einsum/cpu_product.h"
#include "ops/einsum/cpu_sgemm.h"
#include "ops/families.h"

namespace weft {
namespace {

using einsum::Axis;
using einsum::Contraction;
using einsum::kLeft;
using einsum::kResult;
using einsum::kRight;
using einsum::Operand;
using einsum::Permute;
using einsum::PermuteAxis;
using einsum::Product;

// The smallest rows * columns of a matrix that is worth a product of its own in a batch.
constexpr int64_t kSmallestMatrix = 32 * 32;

// An operand that reaches the product through a copy.
struct Staged {
  Permute copy;
  size_t offset;  // in the workspace
};

// One way to compute the contraction.
struct Way {
  bool staged[3] = {false, false, false};
  bool batched = false;   // axes that do not merge go to the batch, one side broadcast
  bool in_float = false;  // bf16 and f16 operands are staged as f32
};

int64_t ExtentOf(const std::vector<Axis>& axes) {
  int64_t product = 1;
  for (const Axis& axis : axes) product *= axis.extent;
  return product;
}

// Leaves the longest axis of `axes` and moves the others to `batch`.
void MoveToBatch(std::vector<Axis>& axes, std::vector<Axis>& batch) {
  while (axes.size() > 1) {
    auto shortest =
        std::min_element(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.extent < b.extent; });
    batch.push_back(*shortest);
    axes.erase(shortest);
  }
}

// The result's innermost axis must stay a column.
void MoveColumnsToBatch(Contraction& contraction) {
  std::vector<Axis> kept;
  for (const Axis& axis : contraction.columns) {
    (axis.stride[kResult] == 1 ? kept : contraction.batch).push_back(axis);
  }
  contraction.columns = std::move(kept);
}

class EinsumKernel : public Kernel {
 public:
  EinsumKernel(std::unique_ptr<Product> product, bool swapped)
      : product_(std::move(product)), swapped_(swapped), bytes_(Aligned(product_->workspace_bytes())) {}

  void Stage(Operand operand, Permute copy, size_t bytes) {
    staged_[operand] = {std::move(copy), bytes_};
    bytes_ += Aligned(bytes);
  }
  // After the last Stage().
  void Reserve(std::shared_ptr<Workspace> shared) { workspace_ = Reserved(std::move(shared), bytes_); }

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    char* const workspace = workspace_->data<char>();
    const void* operands[2] = {inputs[swapped_ ? 1 : 0], inputs[swapped_ ? 0 : 1]};
    for (Operand operand : {kLeft, kRight}) {
      if (!staged_[operand]) continue;
      staged_[operand]->copy.Run(operands[operand], workspace + staged_[operand]->offset);
      operands[operand] = workspace + staged_[operand]->offset;
    }
    if (!staged_[kResult]) return product_->Run(operands[kLeft], operands[kRight], outputs[0], workspace);
    char* const result = workspace + staged_[kResult]->offset;
    absl::Status status = product_->Run(operands[kLeft], operands[kRight], result, workspace);
    if (status.ok()) staged_[kResult]->copy.Run(result, outputs[0]);
    return status;
  }

 private:
  static size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

  const std::unique_ptr<Product> product_;
  const bool swapped_;
  size_t bytes_;  // of workspace: the product's, then the staged operands
  std::optional<Staged> staged_[3];
  std::shared_ptr<Workspace> workspace_;
};

// Between the operand's own layout and the dense one.
Permute CopyOf(const Contraction& own, const Contraction& dense, Operand operand, DType own_type, DType dense_type,
               int threads) {
  std::vector<PermuteAxis> axes;
  for (auto list : {&Contraction::batch, &Contraction::rows, &Contraction::columns, &Contraction::inner}) {
    for (size_t i = 0; i < (own.*list).size(); ++i) {
      const int64_t at_own = (own.*list)[i].stride[operand], at_dense = (dense.*list)[i].stride[operand];
      if (at_own == 0) continue;
      const int64_t extent = (own.*list)[i].extent;
      axes.push_back(operand == kResult ? PermuteAxis{extent, at_dense, at_own}
                                        : PermuteAxis{extent, at_own, at_dense});
    }
  }
  return operand == kResult ? Permute(std::move(axes), dense_type, own_type, threads)
                            : Permute(std::move(axes), own_type, dense_type, threads);
}

// `parsed` is oriented; `types` are in its order.
absl::StatusOr<std::unique_ptr<Kernel>> TryWay(const Way& way, const Contraction& parsed, const DType (&types)[3],
                                               const int64_t (&elements)[3], const KernelSpec& spec) {
  Contraction dense = parsed;
  for (Operand operand : {kLeft, kRight, kResult}) {
    if (way.staged[operand]) einsum::MakeDense(dense, operand);
  }
  Contraction product = einsum::Merged(dense);
  if (way.batched) {
    MoveToBatch(product.rows, product.batch);
    MoveColumnsToBatch(product);
    if (ExtentOf(product.rows) * ExtentOf(product.columns) < kSmallestMatrix) {
      return absl::UnimplementedError("expected matrices of some size, got small ones");
    }
  }
  DType product_types[3];
  for (int i = 0; i < 3; ++i) product_types[i] = way.in_float ? DType::kF32 : types[i];
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Product> prepared, einsum::CreateProduct(product, product_types, spec.threads));
  auto kernel = std::make_unique<EinsumKernel>(std::move(prepared), parsed.swapped);
  for (Operand operand : {kLeft, kRight, kResult}) {
    if (!way.staged[operand]) continue;
    kernel->Stage(operand, CopyOf(parsed, dense, operand, types[operand], product_types[operand], spec.threads),
                  static_cast<size_t>(elements[operand]) * SizeOf(product_types[operand]));
  }
  kernel->Reserve(spec.workspace);
  return kernel;
}

// Every way, the cheapest first: none staged, none staged but batched, then by the elements copied.
std::vector<Way> WaysInOrder(const DType (&types)[3], const int64_t (&elements)[3]) {
  std::vector<Way> ways = {{}, {{}, /*batched=*/true}};
  std::vector<std::pair<int64_t, int>> copying;  // elements, which operands
  for (int mask = 1; mask < 8; ++mask) {
    int64_t cost = 0;
    for (int i = 0; i < 3; ++i) cost += (mask >> i & 1) * elements[i];
    copying.push_back({cost, mask});
  }
  std::sort(copying.begin(), copying.end());
  for (const auto& [cost, mask] : copying) {
    Way way;
    for (int i = 0; i < 3; ++i) way.staged[i] = (mask >> i & 1) != 0;
    ways.push_back(way);
  }
  Way in_float;
  in_float.in_float = true;
  for (int mask = 0; mask < 8; ++mask) {
    for (int i = 0; i < 3; ++i) in_float.staged[i] = types[i] != DType::kF32 || (mask >> i & 1) != 0;
    ways.push_back(in_float);
  }
  return ways;
}

absl::Status CheckTypes(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 2, 1));
  for (const TensorSpec* tensor : {&spec.inputs[0], &spec.inputs[1], &spec.outputs[0]}) {
    if (tensor->dtype != DType::kF32 && tensor->dtype != DType::kBF16 && tensor->dtype != DType::kF16) {
      return absl::InvalidArgumentError(absl::StrCat("expected f32, bf16 or f16, got ", tensor->ToString()));
    }
  }
  if (spec.inputs[0].dtype != spec.inputs[1].dtype) {
    return absl::InvalidArgumentError(absl::StrCat("expected operands of one type, got ", spec.inputs[0].ToString(),
                                                   " and ", spec.inputs[1].ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateProduct(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckTypes(spec));
  WEFT_ASSIGN_OR_RETURN(std::string equation, spec.attributes.String("equation"));
  WEFT_ASSIGN_OR_RETURN(
      Contraction parsed,
      einsum::ParseContraction(equation, {spec.inputs[0].dims, spec.inputs[1].dims, spec.outputs[0].dims}));
  const Contraction contraction = einsum::Oriented(std::move(parsed));
  const TensorSpec& left = spec.inputs[contraction.swapped ? 1 : 0];
  const TensorSpec& right = spec.inputs[contraction.swapped ? 0 : 1];
  const DType types[3] = {left.dtype, right.dtype, spec.outputs[0].dtype};
  const int64_t elements[3] = {left.elements(), right.elements(), spec.outputs[0].elements()};
  absl::Status last;
  for (const Way& way : WaysInOrder(types, elements)) {
    absl::StatusOr<std::unique_ptr<Kernel>> kernel = TryWay(way, contraction, types, elements, spec);
    if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) return kernel;
    last = kernel.status();
  }
  return last;
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateEinsum(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(einsum::Epilogue epilogue, einsum::ParseEpilogue(spec));
  return epilogue.any() ? einsum::CreateWithEpilogue(spec, epilogue, &CreateProduct) : CreateProduct(spec);
}

}  // namespace

void RegisterEinsumKernels(KernelRegistry& registry) {
  registry.Register("einsum", CreateEinsum);
  registry.Register("grouped_matmul", einsum::CreateGroupedMatmul);
  registry.Register("grouped_outer", einsum::CreateGroupedOuter);
}

}  // namespace weft
