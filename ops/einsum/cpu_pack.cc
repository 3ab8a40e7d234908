#include "ops/einsum/cpu_pack.h"

#include <algorithm>
#include <cstring>

#include "ops/abi/float_types.h"

namespace weft::einsum {
namespace {

constexpr int64_t kLanes = 8;
// Rows that are transposed at a time: what they read of a column is a cache line of bf16, or two of f32.
constexpr int64_t kBand = 32;

typedef float Lanes __attribute__((vector_size(4 * kLanes)));

template <typename T>
Lanes Load(const T* from) {
  float wide[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) wide[i] = Widen(from[i]);
  Lanes lanes;
  std::memcpy(&lanes, wide, sizeof(lanes));
  return lanes;
}

// Exchanges blocks of 1 x 1, of 2 x 2, then of 4 x 4.
void Transpose(Lanes (&it)[kLanes]) {
  Lanes a[kLanes], b[kLanes];
  for (int i : {0, 2, 4, 6}) {
    a[i] = __builtin_shufflevector(it[i], it[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[i + 1] = __builtin_shufflevector(it[i], it[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i : {0, 1, 4, 5}) {
    b[i] = __builtin_shufflevector(a[i], a[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    b[i + 2] = __builtin_shufflevector(a[i], a[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i : {0, 1, 2, 3}) {
    it[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    it[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

template <typename T>
void PackTransposed(const T* from, int64_t column_stride, int64_t rows, int64_t columns, float* to, int64_t stride) {
  for (int64_t band = 0; band < rows; band += kBand) {
    const int64_t band_end = std::min(rows, band + kBand);
    for (int64_t column = 0; column < columns; column += kLanes) {
      const int64_t column_end = std::min(columns, column + kLanes);
      for (int64_t row = band; row < band_end; row += kLanes) {
        if (row + kLanes <= band_end && column + kLanes <= columns) {
          Lanes block[kLanes];
          for (int64_t i = 0; i < kLanes; ++i) block[i] = Load(from + (column + i) * column_stride + row);
          Transpose(block);
          for (int64_t i = 0; i < kLanes; ++i) std::memcpy(to + (row + i) * stride + column, &block[i], sizeof(Lanes));
          continue;
        }
        for (int64_t i = row; i < std::min(band_end, row + kLanes); ++i) {
          for (int64_t j = column; j < column_end; ++j) to[i * stride + j] = Widen(from[j * column_stride + i]);
        }
      }
    }
  }
}

template <typename T>
void PackTyped(const PackedFrom& from, int64_t rows, int64_t columns, float* to, int64_t stride) {
  const T* const data = static_cast<const T*>(from.data);
  if (from.column_stride != 1) return PackTransposed(data, from.column_stride, rows, columns, to, stride);
  for (int64_t row = 0; row < rows; ++row) {
    const T* const source = data + row * from.row_stride;
    float* const target = to + row * stride;
    for (int64_t column = 0; column < columns; ++column) target[column] = Widen(source[column]);
  }
}

template <typename T>
void UnpackTyped(const float* from, int64_t from_stride, int64_t rows, int64_t columns, void* to, int64_t to_stride) {
  for (int64_t row = 0; row < rows; ++row) {
    const float* const source = from + row * from_stride;
    T* const target = static_cast<T*>(to) + row * to_stride;
    for (int64_t column = 0; column < columns; ++column) target[column] = Narrow<T>(source[column]);
  }
}

}  // namespace

PackedFrom At(const PackedFrom& from, int64_t row, int64_t column) {
  const int64_t element = row * from.row_stride + column * from.column_stride;
  return {static_cast<const char*>(from.data) + element * static_cast<int64_t>(SizeOf(from.type)), from.type,
          from.row_stride, from.column_stride};
}

void Pack(const PackedFrom& from, int64_t rows, int64_t columns, float* to, int64_t stride) {
  if (from.type == DType::kF32) return PackTyped<float>(from, rows, columns, to, stride);
  if (from.type == DType::kBF16) return PackTyped<BFloat16>(from, rows, columns, to, stride);
  PackTyped<Float16>(from, rows, columns, to, stride);
}

void Unpack(const float* from, int64_t from_stride, int64_t rows, int64_t columns, DType type, void* to,
            int64_t to_stride) {
  if (type == DType::kF32) return UnpackTyped<float>(from, from_stride, rows, columns, to, to_stride);
  if (type == DType::kBF16) return UnpackTyped<BFloat16>(from, from_stride, rows, columns, to, to_stride);
  UnpackTyped<Float16>(from, from_stride, rows, columns, to, to_stride);
}

void Add(const float* from, int64_t from_stride, int64_t rows, int64_t columns, float* to, int64_t to_stride) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column)
      to[row * to_stride + column] += from[row * from_stride + column];
  }
}

}  // namespace weft::einsum
