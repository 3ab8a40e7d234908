#include "ops/einsum/cpu_packed_product.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "ops/abi/parallel.h"
#include "ops/abi/status_macros.h"
#include "ops/einsum/cpu_float_product.h"
#include "ops/einsum/cpu_microkernel.h"
#include "ops/einsum/cpu_pack.h"

namespace weft::einsum {
namespace {

// Rows and terms of the left operand that stay in the second-level cache while tiles of the right one go by: 1 MiB.
constexpr int64_t kBlockRows = 256, kMostTerms = 1024;
// What is packed at a time: 8 MiB of each operand. With less, the other one would be packed too often.
constexpr int64_t kMostRows = 2048, kMostColumns = 2048;
constexpr int64_t kTileFloats = kBlockRows * kTileColumns;
constexpr int64_t kPackedRows = 64;    // by a thread at a time: as much as a tile
constexpr int64_t kStoredColumns = 8;  // that are transposed at a time, on their way to a turned result
// Rows of a power of two would lie in the same places of a cache.
constexpr int64_t kGap = 16;
// How often a copied element of the right operand has to be used, so that the copy pays: float32 could be multiplied
// where it lies (64 rows: 117 GFLOP/s beside 93 packed, 256 rows: 138 beside 139, 1,024 rows: 143 beside 157).
constexpr int64_t kFewestRows = 256, kFewestNarrowRows = 64;
constexpr int64_t kFewestColumns = kTileColumns, kFewestInner = 32;
// Of a turned product it is the rows that fill tiles. 64 rows: 160 to 180 GFLOP/s beside 90 to 130 where they lie; 96,
// of which a quarter of the tiles is empty: no difference.
constexpr double kMostEmpty = 0.25;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Sides {
  int64_t rows, columns, inner;
};

// The strides of the two dims of an operand; for a missing one whatever makes it dense.
struct Strides {
  int64_t outer, inner;
};

Axis OnlyOf(const std::vector<Axis>& axes) { return axes.empty() ? Axis{1, {1, 1, 1}} : axes[0]; }

// Whether the transposed product copies less: the larger operand is its left one, of which float32 is read where it
// lies, and other types are copied as they lie.
bool IsBetterTurned(const Contraction& contraction) {
  return OnlyOf(contraction.inner).stride[kRight] == 1 &&
         OnlyOf(contraction.columns).extent > OnlyOf(contraction.rows).extent;
}

bool HasTooFewRows(int64_t rows, const DType (&types)[3], bool turned) {
  const int64_t tiled = CeilDiv(rows, kTileColumns) * kTileColumns;
  if (turned && static_cast<double>(tiled - rows) <= kMostEmpty * static_cast<double>(tiled)) return rows == 0;
  const bool narrow = types[kLeft] != DType::kF32 || types[kRight] != DType::kF32;
  return rows < (narrow ? kFewestNarrowRows : kFewestRows);
}

// Of the transposed product: its left operand is the right one, and the result's rows its columns.
Contraction Turned(Contraction contraction) {
  std::swap(contraction.rows, contraction.columns);
  for (std::vector<Axis>* axes : {&contraction.batch, &contraction.rows, &contraction.columns, &contraction.inner}) {
    for (Axis& axis : *axes) std::swap(axis.stride[kLeft], axis.stride[kRight]);
  }
  return contraction;
}

class PackedProduct : public Product {
 public:
  // `turned`: the contraction and the types are; Run() takes the operands in the order that they had before.
  PackedProduct(const Contraction& contraction, const DType (&types)[3], int threads, bool turned)
      : batch_(contraction.batch),
        types_{types[0], types[1], types[2]},
        threads_(std::max(threads, 1)),
        turned_(turned) {
    const Axis rows = OnlyOf(contraction.rows), columns = OnlyOf(contraction.columns);
    const Axis inner = OnlyOf(contraction.inner);
    sides_ = {rows.extent, columns.extent, inner.extent};
    left_ = {rows.stride[kLeft], inner.stride[kLeft]};
    right_ = {inner.stride[kRight], columns.stride[kRight]};
    result_stride_ = turned ? columns.stride[kResult] : rows.stride[kResult];
    for (const Axis& axis : batch_) batches_ *= axis.extent;
    const int64_t parts = CeilDiv(sides_.inner, kMostTerms);
    most_ = {std::min(kMostRows, sides_.rows),
             std::min(kMostColumns, CeilDiv(sides_.columns, kTileColumns) * kTileColumns),
             CeilDiv(sides_.inner, parts)};
    in_place_ = types_[kLeft] == DType::kF32 && left_.inner == 1;
    row_stride_ = in_place_ ? left_.outer : most_.inner + kGap;
  }

  absl::Status Init() {
    for (int64_t number : {sides_.rows, sides_.columns, sides_.inner, row_stride_, result_stride_}) {
      if (number > std::numeric_limits<int>::max()) {
        return absl::UnimplementedError("expected extents below 2^31, got a longer one");
      }
    }
    for (int i = 0; i < 8; ++i) {
      const bool fewer_rows = i & 1, fewer_terms = i & 2, in_tile = i & 4;
      const int64_t rows = fewer_rows ? sides_.rows % kBlockRows : std::min(kBlockRows, sides_.rows);
      const int64_t terms = fewer_terms ? sides_.inner % most_.inner : most_.inner;
      if (rows == 0 || terms == 0 || (!in_tile && Apart())) continue;
      const int64_t stride = in_tile ? kTileColumns : result_stride_;
      WEFT_ASSIGN_OR_RETURN(kernels_[fewer_rows][fewer_terms][in_tile],
                            Microkernel::Create(static_cast<int>(rows), static_cast<int>(terms),
                                                static_cast<int>(row_stride_), static_cast<int>(stride), !in_tile));
    }
    return absl::OkStatus();
  }

  size_t workspace_bytes() const override {
    return (left_floats() + right_floats() + tiles_floats() + sums_floats()) * sizeof(float);
  }

  absl::Status Run(const void* left, const void* right, void* result, void* workspace) override {
    if (turned_) std::swap(left, right);
    float* const packed_left = static_cast<float*>(workspace);
    float* const packed_right = packed_left + left_floats();
    float* const tiles = packed_right + right_floats();
    float* const sums = tiles + tiles_floats();
    for (int64_t batch = 0; batch < batches_; ++batch) {
      const Work of_batch = WorkOf(batch, left, right, result);
      for (int64_t row = 0; row < sides_.rows; row += most_.rows) {
        for (int64_t column = 0; column < sides_.columns; column += most_.columns) {
          for (int64_t term = 0; term < sides_.inner; term += most_.inner) {
            Work work = of_batch;
            work.sides = {std::min(most_.rows, sides_.rows - row), std::min(most_.columns, sides_.columns - column),
                          std::min(most_.inner, sides_.inner - term)};
            work.begins = term == 0;
            work.ends = term + most_.inner >= sides_.inner;
            work.left = At(of_batch.left, row, term);
            work.right = At(of_batch.right, term, column);
            work.result = ResultAt(of_batch.result, row, column);
            work.rows = in_place_ ? static_cast<const float*>(work.left.data) : packed_left;
            work.tiles = packed_right;
            PackBoth(work, !in_place_ && (column == 0 || !OnePart()), packed_left, packed_right);
            Multiply(work, tiles, sums);
          }
        }
      }
    }
    return absl::OkStatus();
  }

 private:
  // What is made of operands that are packed at one time.
  struct Work {
    PackedFrom left, right;
    char* result;
    Sides sides = {};
    bool begins = false, ends = false;              // with the first, or the last, part of `inner`
    const float *rows = nullptr, *tiles = nullptr;  // of the left and the right operand, as the kernels read them
  };

  bool OnePart() const { return most_.inner == sides_.inner; }
  bool Narrow() const { return types_[kResult] != DType::kF32; }
  // Whether the result is not as the microkernels make it: they make tiles, which are then stored.
  bool Apart() const { return Narrow() || turned_; }

  size_t left_floats() const { return in_place_ ? 0 : static_cast<size_t>(most_.rows * row_stride_); }
  size_t right_floats() const { return static_cast<size_t>(most_.columns * most_.inner); }
  size_t tiles_floats() const { return static_cast<size_t>(threads_ * kTileFloats); }  // one of a block for each thread
  // All of them, where the result cannot keep the sums of some terms until those of the others come.
  size_t sums_floats() const {
    if (OnePart() || !Apart()) return 0;
    return static_cast<size_t>(CeilDiv(most_.rows, kBlockRows) * (most_.columns / kTileColumns) * kTileFloats);
  }

  Work WorkOf(int64_t batch, const void* left, const void* right, void* result) const {
    int64_t at[3] = {0, 0, 0};
    for (auto axis = batch_.rbegin(); axis != batch_.rend(); ++axis) {
      for (int operand = 0; operand < 3; ++operand) at[operand] += batch % axis->extent * axis->stride[operand];
      batch /= axis->extent;
    }
    for (int operand = 0; operand < 3; ++operand) at[operand] *= static_cast<int64_t>(SizeOf(types_[operand]));
    return {.left = {static_cast<const char*>(left) + at[kLeft], types_[kLeft], left_.outer, left_.inner},
            .right = {static_cast<const char*>(right) + at[kRight], types_[kRight], right_.outer, right_.inner},
            .result = static_cast<char*>(result) + at[kResult]};
  }

  void PackBoth(const Work& work, bool left_too, float* packed_left, float* packed_right) const {
    const int64_t tiles = CeilDiv(work.sides.columns, kTileColumns), inner = work.sides.inner;
    const int64_t pieces = left_too ? CeilDiv(work.sides.rows, kPackedRows) : 0;
    ParallelFor(threads_, tiles + pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (i >= tiles) {
          const int64_t row = (i - tiles) * kPackedRows;
          Pack(At(work.left, row, 0), std::min(kPackedRows, work.sides.rows - row), inner,
               packed_left + row * row_stride_, row_stride_);
          continue;
        }
        const int64_t column = i * kTileColumns;
        const int64_t columns = std::min<int64_t>(kTileColumns, work.sides.columns - column);
        float* const tile = packed_right + column * inner;
        // What is made of the columns beyond is not kept, but denormal numbers would be slow.
        if (columns < kTileColumns) std::fill_n(tile, kTileColumns * inner, 0.0f);
        Pack(At(work.right, 0, column), inner, columns, tile, kTileColumns);
      }
    });
  }

  void Multiply(const Work& work, float* tiles, float* sums) const {
    const int64_t across = CeilDiv(work.sides.columns, kTileColumns);
    const int64_t units = across * CeilDiv(work.sides.rows, kBlockRows);
    ParallelFor(threads_, threads_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t worker = begin; worker < end; ++worker) {
        for (int64_t unit = units * worker / threads_; unit < units * (worker + 1) / threads_; ++unit) {
          MultiplyTile(work, unit / across * kBlockRows, unit % across * kTileColumns, tiles + worker * kTileFloats,
                       sums + unit * kTileFloats);
        }
      }
    });
  }

  // The rows of a block and the columns of a tile. Each part of `inner` is summed by itself, so that long sums err
  // less.
  void MultiplyTile(const Work& work, int64_t row, int64_t column, float* tile, float* sums) const {
    const int64_t rows = std::min(kBlockRows, work.sides.rows - row);
    const int64_t columns = std::min<int64_t>(kTileColumns, work.sides.columns - column);
    char* const result = ResultAt(work.result, row, column);
    float* const kept = Apart() ? sums : reinterpret_cast<float*>(result);  // between parts
    const int64_t kept_stride = Apart() ? kTileColumns : result_stride_;
    const bool kept_whole = Apart() ? !OnePart() : columns == kTileColumns, in_place = work.begins && kept_whole;
    const auto& kernels = kernels_[rows < std::min(kBlockRows, sides_.rows)][work.sides.inner < most_.inner];
    kernels[Apart() || !in_place](work.rows + row * row_stride_, work.tiles + column * work.sides.inner,
                                  in_place ? kept : tile);
    if (!work.begins) Add(tile, kTileColumns, rows, columns, kept, kept_stride);
    if (Apart() ? work.ends : work.begins && !in_place)
      Store(Apart() && !OnePart() ? kept : tile, rows, columns, result);
  }

  char* ResultAt(char* result, int64_t row, int64_t column) const {
    const int64_t element = turned_ ? column * result_stride_ + row : row * result_stride_ + column;
    return result + element * static_cast<int64_t>(SizeOf(types_[kResult]));
  }

  void Store(const float* tile, int64_t rows, int64_t columns, char* result) const {
    if (!turned_) return Unpack(tile, kTileColumns, rows, columns, types_[kResult], result, result_stride_);
    float stored[kStoredColumns * kBlockRows];
    for (int64_t column = 0; column < columns; column += kStoredColumns) {
      const int64_t count = std::min(kStoredColumns, columns - column);
      Pack({tile + column, DType::kF32, 1, kTileColumns}, count, rows, stored, kBlockRows);
      Unpack(stored, kBlockRows, count, rows, types_[kResult], ResultAt(result, 0, column), result_stride_);
    }
  }

  const std::vector<Axis> batch_;
  const DType types_[3];
  const int64_t threads_;
  const bool turned_;
  int64_t batches_ = 1;
  Sides sides_, most_;  // of a product, and of what is packed at a time
  Strides left_, right_;
  int64_t row_stride_;            // of the left operand as the kernels read it
  int64_t result_stride_;         // of the dim whose elements do not lie next to each other
  bool in_place_;                 // that is where it lies
  Microkernel kernels_[2][2][2];  // of fewer rows, of fewer terms, to a tile
};

}  // namespace

absl::StatusOr<std::unique_ptr<Product>> CreatePackedProduct(const Contraction& contraction, const DType (&types)[3],
                                                             int threads) {
  const Axis rows = OnlyOf(contraction.rows), columns = OnlyOf(contraction.columns);
  const Axis inner = OnlyOf(contraction.inner);
  const bool turned = IsBetterTurned(contraction);
  if (HasTooFewRows(rows.extent, types, turned) || columns.extent < kFewestColumns || inner.extent < kFewestInner) {
    return absl::UnimplementedError("expected matrices of some size, got small ones");
  }
  if ((inner.stride[kLeft] != 1 && rows.stride[kLeft] != 1) ||
      (columns.stride[kRight] != 1 && inner.stride[kRight] != 1)) {
    return absl::UnimplementedError("expected matrices with rows or columns next to each other, got others");
  }
  const double work = static_cast<double>(rows.extent) * static_cast<double>(columns.extent) *
                      static_cast<double>(inner.extent) / kWorkOfThread;
  const int of_threads = static_cast<int>(std::min<double>(std::max(work, 1.0), std::max(threads, 1)));
  const DType turned_types[3] = {types[kRight], types[kLeft], types[kResult]};
  auto product = turned ? std::make_unique<PackedProduct>(Turned(contraction), turned_types, of_threads, true)
                        : std::make_unique<PackedProduct>(contraction, types, of_threads, false);
  WEFT_RETURN_IF_ERROR(product->Init());
  return product;
}

}  // namespace weft::einsum
