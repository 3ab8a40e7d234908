// Matrix instructions of one warp (compute capability 8.0 and up): products of small matrices of
// bf16 or f16 whose elements are spread over the lanes, loads of them from shared memory, and
// copies to shared memory that go on beside the threads. On the host all 32 lanes meet, and what the
// instruction does to their registers is done as its description says (PTX ISA, "Matrix
// multiply-accumulate operation using mma instruction", "ldmatrix", "cp.async").
//
// All 32 lanes call together, of one warp.
#ifndef WEFT_OPS_CUDA_MATRIX_H_
#define WEFT_OPS_CUDA_MATRIX_H_

#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"

namespace weft::gpu {

// With g = lane / 4 and t = lane % 4; pairs of neighbouring elements of a row are a word, the left one in the
// lower half.
//
// 16 rows x 16 columns: words are (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8).
struct MatrixA {
  uint32_t words[4];
};
// 16 rows x 8 columns; pairs are of a column: words are (2t, g), (2t + 8, g).
struct MatrixB {
  uint32_t words[2];
};
// 16 rows x 8 columns: values are (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
struct MatrixC {
  float values[4];
};

// c += a b. Products are exact; the order of the 17 summands is the hardware's own.
template <typename T>
WEFT_DEVICE void MultiplyAdd(MatrixC& c, const MatrixA& a, const MatrixB& b, int line = __builtin_LINE());

// Four 8 x 8 matrices from shared memory: lane l gives the address of row l % 8 of matrix l / 8, which is
// 16 bytes, aligned; it gets of matrix i the word (l / 4, 2 (l % 4)).
WEFT_DEVICE void LoadMatrices(uint32_t (&words)[4], const void* row, int line = __builtin_LINE());
// The same of the transposed matrices.
WEFT_DEVICE void LoadTransposed(uint32_t (&words)[4], const void* row, int line = __builtin_LINE());

// Starts to copy kBytes (4 or 16), aligned to that, to shared memory; zeros if not `inside`, `from`
// being unread then. Of this thread alone.
template <int kBytes>
WEFT_DEVICE void CopyAsync(void* to, const void* from, bool inside);
// Ends a group of copies. What the threads copied may be read after each has waited and a barrier.
WEFT_DEVICE void CommitCopies();
// Waits for all groups but the last kGroups.
template <int kGroups>
WEFT_DEVICE void WaitCopies();

// Two floats as a word, `low` in its lower half.
template <typename T>
WEFT_DEVICE uint32_t PackWord(float low, float high);

// 2^x, to 2 units in the last place; results below 2^-126 are 0.
WEFT_DEVICE float FastExp2(float x);

#if defined(__CUDACC__)

template <>
WEFT_DEVICE void MultiplyAdd<BF16>(MatrixC& c, const MatrixA& a, const MatrixB& b, int) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c.values[0]), "+f"(c.values[1]), "+f"(c.values[2]), "+f"(c.values[3])
      : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.words[0]), "r"(b.words[1]));
}
template <>
WEFT_DEVICE void MultiplyAdd<F16>(MatrixC& c, const MatrixA& a, const MatrixB& b, int) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c.values[0]), "+f"(c.values[1]), "+f"(c.values[2]), "+f"(c.values[3])
      : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.words[0]), "r"(b.words[1]));
}

WEFT_DEVICE uint32_t SharedAddress(const void* at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

WEFT_DEVICE void LoadMatrices(uint32_t (&words)[4], const void* row, int) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(SharedAddress(row))
               : "memory");
}
WEFT_DEVICE void LoadTransposed(uint32_t (&words)[4], const void* row, int) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(SharedAddress(row))
               : "memory");
}

template <int kBytes>
WEFT_DEVICE void CopyAsync(void* to, const void* from, bool inside) {
  static_assert(kBytes == 4 || kBytes == 16);
  const int bytes = inside ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(SharedAddress(to)), "l"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(SharedAddress(to)), "l"(from), "r"(bytes)
                 : "memory");
  }
}
WEFT_DEVICE void CommitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kGroups>
WEFT_DEVICE void WaitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

template <>
WEFT_DEVICE uint32_t PackWord<BF16>(float low, float high) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
template <>
WEFT_DEVICE uint32_t PackWord<F16>(float low, float high) {
  uint32_t word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}

WEFT_DEVICE float FastExp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

#else

namespace matrix_internal {

// What a lane brings.
struct Multiplication {
  MatrixC* c;
  const MatrixA* a;
  const MatrixB* b;
};

template <typename T>
float Half(uint32_t word, int which) {
  return Widen(T{static_cast<uint16_t>(word >> (16 * which))});
}

// Takes the matrices apart by the description of their lanes, and multiplies them as matrices.
template <typename T>
void MultiplyAddTogether(void* const* lanes) {
  float a[16][16], b[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    const auto& mine = *static_cast<const Multiplication*>(lanes[lane]);
    const int g = lane / 4, t = lane % 4;
    for (int half = 0; half < 2; ++half) {
      for (int w = 0; w < 4; ++w) a[g + w % 2 * 8][2 * t + w / 2 * 8 + half] = Half<T>(mine.a->words[w], half);
      for (int w = 0; w < 2; ++w) b[2 * t + w * 8 + half][g] = Half<T>(mine.b->words[w], half);
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    const auto& mine = *static_cast<const Multiplication*>(lanes[lane]);
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      float sum = mine.c->values[i];
      for (int k = 0; k < 16; ++k) sum += a[row][k] * b[k][column];
      mine.c->values[i] = sum;
    }
  }
}

struct Load {
  uint32_t* words;
  const uint16_t* row;
  bool transposed;
};

inline void LoadTogether(void* const* lanes) {
  for (int lane = 0; lane < 32; ++lane) {
    const auto& mine = *static_cast<const Load*>(lanes[lane]);
    for (int i = 0; i < 4; ++i) {
      uint16_t halves[2];
      for (int h = 0; h < 2; ++h) {
        const int row = mine.transposed ? lane % 4 * 2 + h : lane / 4;
        const int column = mine.transposed ? lane / 4 : lane % 4 * 2 + h;
        halves[h] = static_cast<const Load*>(lanes[8 * i + row])->row[column];
      }
      mine.words[i] = static_cast<uint32_t>(halves[1]) << 16 | halves[0];
    }
  }
}

}  // namespace matrix_internal

template <typename T>
void MultiplyAdd(MatrixC& c, const MatrixA& a, const MatrixB& b, int line) {
  matrix_internal::Multiplication mine = {&c, &a, &b};
  simt::WarpTogether(&matrix_internal::MultiplyAddTogether<T>, &mine, line);
}

inline void LoadMatrices(uint32_t (&words)[4], const void* row, int line) {
  simt::CheckShared(row, 16, 16, line);
  matrix_internal::Load mine = {words, static_cast<const uint16_t*>(row), false};
  simt::WarpTogether(&matrix_internal::LoadTogether, &mine, line);
}
inline void LoadTransposed(uint32_t (&words)[4], const void* row, int line) {
  simt::CheckShared(row, 16, 16, line);
  matrix_internal::Load mine = {words, static_cast<const uint16_t*>(row), true};
  simt::WarpTogether(&matrix_internal::LoadTogether, &mine, line);
}

template <int kBytes>
void CopyAsync(void* to, const void* from, bool inside) {
  static_assert(kBytes == 4 || kBytes == 16);
  simt::CopyAsync(to, from, kBytes, inside);
}
inline void CommitCopies() { simt::CommitCopies(); }
template <int kGroups>
void WaitCopies() {
  simt::WaitCopies(kGroups);
}

template <typename T>
uint32_t PackWord(float low, float high) {
  return static_cast<uint32_t>(Narrow<T>(high).bits) << 16 | Narrow<T>(low).bits;
}

inline float FastExp2(float x) {
  const float y = std::exp2(x);
  return y < 0x1p-126f ? 0.0f : y;  // as it flushes
}

#endif

}  // namespace weft::gpu

#endif  // WEFT_OPS_CUDA_MATRIX_H_
