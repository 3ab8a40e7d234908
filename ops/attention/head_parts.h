// What attention of one head is made of, forward and backward. Part of head.cc.
#ifndef WEFT_OPS_ATTENTION_HEAD_PARTS_H_
#define WEFT_OPS_ATTENTION_HEAD_PARTS_H_

#include "ops/attention/head.h"
#include "ops/math/tile_gemm.h"

namespace weft::attention::WEFT_LEVEL {
namespace {

constexpr int64_t kQueryBlock = 48;  // a multiple of kRows
constexpr int64_t kKeyBlock = 128;
constexpr int64_t kPanel = 64;  // columns of a panel of packed k^T; divides kKeyBlock
// Scores are read by columns in the backward pass: rows must not lie a power of two apart.
constexpr int64_t kScoreStride = kKeyBlock + 16;

int64_t Smaller(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t Larger(int64_t a, int64_t b) { return a > b ? a : b; }
int64_t RoundUp(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
int64_t PaddedDepth(const HeadShape& shape) { return RoundUp(shape.depth, kWidth); }
int64_t PackedKeys(const HeadShape& shape) { return RoundUp(shape.keys, kPanel); }

// Hands out pieces of scratch, each aligned to 64 bytes.
class Pieces {
 public:
  explicit Pieces(float* next) : next_(next) {}
  float* Take(int64_t floats) {
    float* piece = next_;
    next_ += RoundUp(floats, 16);
    return piece;
  }

 private:
  float* next_;
};

// `rows` rows, times `factor`, padded with zeros to `padded` columns.
void CopyRows(ConstRows from, int64_t rows, int64_t depth, int64_t padded, float factor, float* __restrict to) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* __restrict source = from.data + i * from.stride;
    for (int64_t c = 0; c < depth; ++c) to[i * padded + c] = factor * source[c];
    for (int64_t c = depth; c < padded; ++c) to[i * padded + c] = 0;
  }
}

// The transpose of `rows` x `depth`, in panels [rows / kPanel][depth][kPanel], padded with zeros.
void PackTransposed(ConstRows from, int64_t rows, int64_t depth, float* to) {
  for (int64_t first = 0; first < rows; first += kPanel, to += depth * kPanel) {
    for (int64_t strip = 0; strip < kPanel; strip += kWidth) {
      const int64_t here = Larger(0, Smaller(kWidth, rows - first - strip));
      TransposeStrip(from.data + (first + strip) * from.stride, from.stride, here, depth, to + strip, kPanel);
    }
  }
}

float Dot(const float* __restrict a, const float* __restrict b, int64_t n) {
#pragma clang fp reassociate(on)
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

float Sum(const float* a, int64_t n) {
#pragma clang fp reassociate(on)
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i];
  return sum;
}

// Halves the lanes until one is left: one by one they would wait for each other.
float LargestLane(Vector lanes) {
  for (int half = kWidth / 2; half > 0; half /= 2) {
    Vector other = lanes;
    for (int lane = 0; lane < half; ++lane) other[lane] = lanes[lane + half];
    lanes = other > lanes ? other : lanes;
  }
  return lanes[0];
}

// n > 0, a multiple of kWidth.
float Maximum(const float* a, int64_t n) {
  Vector largest = Load(a);
  for (int64_t j = kWidth; j < n; j += kWidth) {
    const Vector next = Load(a + j);
    largest = next > largest ? next : largest;
  }
  return LargestLane(largest);
}

// scores[rows x columns] = left[rows x depth] packed^T for the keys from `key`; whole vectors.
void Scores(int rows, int64_t columns, int64_t depth, const float* left, int64_t left_stride, const float* packed,
            int64_t key, float* scores) {
  for (int64_t j = 0; j < columns; j += kPanel) {
    const float* panel = packed + (key + j) * depth;
    RowProduct(rows, RoundUp(Smaller(kPanel, columns - j), kWidth), depth, {left, left_stride, 1}, panel, kPanel,
               scores + j, kScoreStride, false);
  }
}

// Adds the bias to `valid` scores of row `row` from key `key` on. Keys that the row does not see, as they lie before
// its first one or the mask says so, get -infinity.
template <typename Head>
void AdjustScores(const HeadShape& shape, const Head& head, int64_t row, int64_t key, int64_t valid,
                  float* __restrict scores) {
  constexpr float kHidden = -__builtin_inff();
  if (head.bias.data != nullptr) {
    const float* __restrict bias = head.bias.data + row * head.bias.row + key * head.bias.key;
    for (int64_t j = 0; j < valid; ++j) scores[j] += bias[j * head.bias.key];
  }
  if (head.mask.data != nullptr) {
    const uint8_t* __restrict mask = head.mask.data + row * head.mask.row + key * head.mask.key;
    for (int64_t j = 0; j < valid; ++j) scores[j] = mask[j * head.mask.key] != 0 ? scores[j] : kHidden;
  }
  const int64_t before = Smaller(valid, shape.Begin(row) - key);
  for (int64_t j = 0; j < before; ++j) scores[j] = kHidden;
}

// The first block of keys that rows from `row` see any of.
int64_t FirstBlock(const HeadShape& shape, int64_t row) { return shape.Begin(row) / kKeyBlock * kKeyBlock; }

// How many keys of the block from `key`, up to the last one, any of `count` rows from `row` sees.
int64_t SeenOfBlock(const HeadShape& shape, int64_t row, int count, int64_t key) {
  if (shape.Begin(row) >= key + kKeyBlock) return 0;
  return Larger(0, Smaller(kKeyBlock, shape.Limit(row + count - 1) - key));
}

}  // namespace
}  // namespace weft::attention::WEFT_LEVEL

#endif  // WEFT_OPS_ATTENTION_HEAD_PARTS_H_
