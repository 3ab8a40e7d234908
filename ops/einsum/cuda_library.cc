#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_matmul.h"
#include "ops/einsum/cuda_product.h"

namespace weft::einsum {
namespace {

// The library takes one batch axis; what is left over is a product of its own each time.
constexpr int64_t kMostProducts = 64;

// Takes the axis of `axes` that `first` is before all others; an axis of extent 1 if there is none.
template <typename Before>
Axis Take(std::vector<Axis>& axes, Before first) {
  if (axes.empty()) return {1, {0, 0, 0}};
  const auto it = std::min_element(axes.begin(), axes.end(), first);
  const Axis axis = *it;
  axes.erase(it);
  return axis;
}

bool Longer(const Axis& a, const Axis& b) { return a.extent > b.extent; }
// A row of the result has to be one stretch of memory.
bool Denser(const Axis& a, const Axis& b) { return a.stride[kResult] < b.stride[kResult]; }

// A product of matrices, over and over at offsets.
struct Split {
  GpuMatmulSpec spec;
  std::vector<Axis> outer;
};

// The bytes that every address of `operand` is a multiple of, tensors being aligned to 64.
int64_t AlignmentOf(const std::vector<Axis>& outer, Operand operand, DType type) {
  int64_t alignment = 64;
  for (const Axis& axis : outer) {
    alignment = std::gcd(alignment, axis.stride[operand] * static_cast<int64_t>(SizeOf(type)));
  }
  return alignment;
}

// Asks for the epilogue; kUnimplemented where the library has none like it.
absl::Status SetEpilogue(const KernelSpec& spec, const Epilogue& epilogue, bool swapped, Split& split) {
  if (epilogue.add) split.spec.beta = 1;
  if (!epilogue.any() || epilogue.add) return absl::OkStatus();
  const int64_t columns = split.spec.columns;
  const bool along = (!epilogue.bias || spec.inputs[2].elements() == columns) &&
                     (!epilogue.sums || spec.outputs[1].elements() == columns);
  if (!split.outer.empty() || split.spec.batch > 1 || !along) {
    return absl::UnimplementedError("expected one matrix whose columns are the epilogue's");
  }
  if (epilogue.sums && (epilogue.summed == kLeft) != swapped) {
    return absl::UnimplementedError("expected sums of the operand with columns");
  }
  split.spec.bias = epilogue.bias;
  split.spec.gelu = epilogue.gelu;
  split.spec.keep = epilogue.keep;
  split.spec.bias_gradient = epilogue.sums;
  return absl::OkStatus();
}

absl::StatusOr<Split> SplitProduct(const KernelSpec& spec, Contraction contraction, const Epilogue& epilogue) {
  if (contraction.inner.size() > 1) return absl::UnimplementedError("expected the inner axes to merge");
  const Axis rows = Take(contraction.rows, Longer), columns = Take(contraction.columns, Denser);
  const Axis inner = Take(contraction.inner, Longer);
  std::vector<Axis> outer = std::move(contraction.batch);
  outer.insert(outer.end(), contraction.rows.begin(), contraction.rows.end());
  outer.insert(outer.end(), contraction.columns.begin(), contraction.columns.end());
  const Axis batch = Take(outer, Longer);
  int64_t products = 1;
  for (const Axis& axis : outer) products *= axis.extent;
  if (products > kMostProducts) return absl::UnimplementedError(absl::StrCat("expected few products, got ", products));
  Split split{.outer = std::move(outer)};
  const auto matrix = [&](Operand operand, DType type, const Axis& row, const Axis& column) {
    return GpuMatrix{.type = type,
                     .batch_stride = batch.stride[operand],
                     .row_stride = row.stride[operand],
                     .column_stride = column.stride[operand],
                     .alignment = AlignmentOf(split.outer, operand, type)};
  };
  split.spec = {.rows = rows.extent,
                .columns = columns.extent,
                .inner = inner.extent,
                .batch = batch.extent,
                .left = matrix(kLeft, spec.inputs[0].dtype, rows, inner),
                .right = matrix(kRight, spec.inputs[0].dtype, inner, columns),
                .result = matrix(kResult, spec.outputs[0].dtype, rows, columns),
                .tf32 = spec.attributes.Has("tf32")};
  WEFT_RETURN_IF_ERROR(SetEpilogue(spec, epilogue, contraction.swapped, split));
  return split;
}

// Byte offsets of the products.
struct Offset {
  int64_t of[3];
};

std::vector<Offset> OffsetsOf(const std::vector<Axis>& outer, const GpuMatmulSpec& spec) {
  const int64_t bytes[3] = {static_cast<int64_t>(SizeOf(spec.left.type)), static_cast<int64_t>(SizeOf(spec.right.type)),
                            static_cast<int64_t>(SizeOf(spec.result.type))};
  std::vector<Offset> offsets = {{{0, 0, 0}}};
  for (const Axis& axis : outer) {
    std::vector<Offset> longer;
    for (const Offset& offset : offsets) {
      for (int64_t i = 0; i < axis.extent; ++i) {
        Offset next = offset;
        for (int o = 0; o < 3; ++o) next.of[o] += i * axis.stride[o] * bytes[o];
        longer.push_back(next);
      }
    }
    offsets = std::move(longer);
  }
  return offsets;
}

class LibraryProduct : public Kernel {
 public:
  LibraryProduct(std::unique_ptr<GpuMatmul> matmul, std::vector<Offset> offsets, bool swapped, const Epilogue& epilogue,
                 std::shared_ptr<GpuWorkspace> workspace)
      : matmul_(std::move(matmul)),
        offsets_(std::move(offsets)),
        swapped_(swapped),
        epilogue_(epilogue),
        workspace_(std::move(workspace)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    void* const workspace = matmul_->workspace_bytes() > 0 ? workspace_->data<void>() : nullptr;
    for (const Offset& offset : offsets_) {
      GpuMatmulAddresses addresses = {.left = static_cast<const char*>(inputs[swapped_ ? 1 : 0]) + offset.of[kLeft],
                                      .right = static_cast<const char*>(inputs[swapped_ ? 0 : 1]) + offset.of[kRight],
                                      .result = static_cast<char*>(outputs[0]) + offset.of[kResult]};
      if (epilogue_.add) addresses.added = static_cast<const char*>(inputs[2]) + offset.of[kResult];
      if (epilogue_.bias) addresses.bias = inputs[2];
      if (epilogue_.keep) addresses.kept = outputs[1];
      if (epilogue_.sums) addresses.bias_gradient = outputs[1];
      WEFT_RETURN_IF_ERROR(matmul_->Run(addresses, workspace, context.stream));
    }
    return absl::OkStatus();
  }

 private:
  const std::unique_ptr<GpuMatmul> matmul_;
  const std::vector<Offset> offsets_;
  const bool swapped_;
  const Epilogue epilogue_;
  const std::shared_ptr<GpuWorkspace> workspace_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateLibraryProduct(const KernelSpec& spec, const Contraction& contraction,
                                                             const Epilogue& epilogue, bool adds) {
  GpuMatmuls* const matmuls = spec.gpu->matmuls();
  if (matmuls == nullptr) return absl::UnimplementedError("expected a library of matrix products");
  WEFT_ASSIGN_OR_RETURN(Split split, SplitProduct(spec, contraction, epilogue));
  if (adds) split.spec.beta = 1;
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<GpuMatmul> matmul, matmuls->Create(split.spec));
  const std::shared_ptr<GpuWorkspace> workspace =
      spec.gpu_workspace != nullptr ? spec.gpu_workspace : std::make_shared<GpuWorkspace>();
  WEFT_RETURN_IF_ERROR(workspace->Reserve(spec.gpu, matmul->workspace_bytes()));
  return std::make_unique<LibraryProduct>(std::move(matmul), OffsetsOf(split.outer, split.spec), contraction.swapped,
                                          epilogue, workspace);
}

}  // namespace weft::einsum
