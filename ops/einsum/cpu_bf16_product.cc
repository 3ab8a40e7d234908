// Products of bf16 operands by oneDNN, each cut into pieces for threads.
#include <algorithm>
#include <utility>
#include <vector>

#include "ops/abi/parallel.h"
#include "ops/abi/status_macros.h"
#include "ops/einsum/cpu_float_product.h"
#include "ops/einsum/cpu_matmul.h"
#include "ops/einsum/cpu_product.h"

namespace weft::einsum {
namespace {

constexpr int64_t kMostBatchPieces = 8;  // as many as a large product has

int64_t ExtentOf(const std::vector<Axis>& axes) {
  int64_t extent = 1;
  for (const Axis& axis : axes) extent *= axis.extent;
  return extent;
}

class Bf16Product : public Product {
 public:
  explicit Bf16Product(int workers) : workers_(workers) {}

  absl::Status Add(const Contraction& contraction, const DType (&types)[3], const int64_t (&elements)[3]) {
    WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Matmul> product, Matmul::Create(contraction, types));
    Piece piece{.product = std::move(product), .workspace = workspace_bytes_};
    for (int i = 0; i < 3; ++i) piece.offset[i] = elements[i] * static_cast<int64_t>(SizeOf(types[i]));
    workspace_bytes_ += (piece.product->workspace_bytes() + 63) / 64 * 64;
    pieces_.push_back(std::move(piece));
    return absl::OkStatus();
  }

  size_t workspace_bytes() const override { return workspace_bytes_; }

  absl::Status Run(const void* left, const void* right, void* result, void* workspace) override {
    ParallelFor(workers_, static_cast<int64_t>(pieces_.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Piece& it = pieces_[i];
        it.status = it.product->Run(
            static_cast<const char*>(left) + it.offset[kLeft], static_cast<const char*>(right) + it.offset[kRight],
            static_cast<char*>(result) + it.offset[kResult], static_cast<char*>(workspace) + it.workspace);
      }
    });
    for (const Piece& piece : pieces_) {
      if (!piece.status.ok()) return piece.status;
    }
    return absl::OkStatus();
  }

 private:
  struct Piece {
    std::unique_ptr<Matmul> product;
    int64_t offset[3] = {};  // in bytes
    size_t workspace = 0;
    absl::Status status;  // of its last run
  };

  const int workers_;
  std::vector<Piece> pieces_;
  size_t workspace_bytes_ = 0;
};

// One axis that is cut into parts of `step`; a contraction that lacks it has one part.
struct CutAxis {
  std::vector<Axis> Contraction::* list;
  int64_t step;

  int64_t extent(const Contraction& of) const { return (of.*list).empty() ? 1 : (of.*list)[0].extent; }
  // Leaves the part at `begin` of it, and moves where each operand begins.
  void Apply(int64_t begin, Contraction& of, int64_t (&elements)[3]) const {
    if ((of.*list).empty()) return;
    Axis& axis = (of.*list)[0];
    axis.extent = std::min(step, axis.extent - begin);
    for (int i = 0; i < 3; ++i) elements[i] += begin * axis.stride[i];
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Product>> CreateOneDnnProduct(const Contraction& contraction, const DType (&types)[3],
                                                             int threads) {
  const int64_t batches = ExtentOf(contraction.batch), rows = ExtentOf(contraction.rows);
  const int64_t columns = ExtentOf(contraction.columns), inner = ExtentOf(contraction.inner);
  const double work = static_cast<double>(batches) * static_cast<double>(rows) * static_cast<double>(columns) *
                      static_cast<double>(inner);
  const auto useful = static_cast<int64_t>(std::clamp(work / kWorkOfThread, 1.0, 1e6));
  const Cut cut = CutFor(rows, columns, inner, std::max<int64_t>(batches, 1));
  const int64_t outer = contraction.batch.empty() ? 1 : contraction.batch[0].extent;
  const int64_t parts = std::min(useful, kMostBatchPieces);
  const CutAxis by_batch = {&Contraction::batch, std::max<int64_t>((outer + parts - 1) / parts, 1)};
  const CutAxis by_rows = {&Contraction::rows, std::max<int64_t>(cut.rows, 1)};
  const CutAxis by_columns = {&Contraction::columns, std::max<int64_t>(cut.columns, 1)};
  auto product = std::make_unique<Bf16Product>(static_cast<int>(std::min<int64_t>(std::max(threads, 1), useful)));
  for (int64_t b = 0; b < by_batch.extent(contraction); b += by_batch.step) {
    for (int64_t i = 0; i < by_rows.extent(contraction); i += by_rows.step) {
      for (int64_t j = 0; j < by_columns.extent(contraction); j += by_columns.step) {
        Contraction piece = contraction;
        int64_t elements[3] = {};
        by_batch.Apply(b, piece, elements);
        by_rows.Apply(i, piece, elements);
        by_columns.Apply(j, piece, elements);
        WEFT_RETURN_IF_ERROR(product->Add(piece, types, elements));
      }
    }
  }
  return product;
}

}  // namespace weft::einsum
