// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_LAYOUT_CUDA_ARGUMENTS_H_
#define WEFT_OPS_LAYOUT_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::layout {

inline constexpr int kThreads = 256;
inline constexpr int kMaxDims = 8;
inline constexpr int kTile = 32;  // of a transpose, by kTile x kThreads / kTile threads

// A dim of what is written: its indices [begin, end) come from the input, `from`
// words apart; they are `to` words apart in the output.
struct BoxDim {
  int64_t extent, begin, end;
  int64_t from, to;
};

// Writes `words` words of the output: where all indices come from the input, its
// word; else 0. Dims are innermost first; `from` and `to` are the words of index
// (0, ..., 0), which need not exist in the input.
struct BoxArguments {
  const void* x;
  void* y;
  int64_t words;
  int64_t from, to;
  int32_t dims;
  BoxDim dim[kMaxDims];
};

// A plane of `rows` neighbours in the input, `columns` neighbours in the output, turned; for each index of the
// outer dims, outermost first.
struct TransposeArguments {
  const void* x;
  void* y;
  int64_t rows, columns;
  int64_t row_to, column_from;  // strides
  int64_t planes;
  int32_t dims;
  int64_t extent[kMaxDims], from[kMaxDims], to[kMaxDims];
};

}  // namespace weft::layout

#endif  // WEFT_OPS_LAYOUT_CUDA_ARGUMENTS_H_
