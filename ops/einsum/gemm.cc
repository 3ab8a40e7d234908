// Compiled once a level of x86-64: WEFT_LEVEL is v3 or v4. Uses no function of
// the standard library and only internal ones of its own (see tile_gemm.h).
//
// The blocking is that of Goto and van de Geijn, "Anatomy of high-performance
// matrix multiplication" (2008), with the roles of the caches changed: a block
// of the right operand stays in the second-level cache and streams past rows of
// the left one, six at a time, which stay in the first.
#include "ops/einsum/gemm.h"

#include "ops/math/tile_gemm.h"

namespace weft::einsum::WEFT_LEVEL {
namespace {

constexpr int64_t kPanel = kGemmColumns;     // columns of a packed panel of the right operand
constexpr int64_t kInnerBlock = 384;         // of `inner`: six rows of it stay in the first-level cache
constexpr int64_t kRightBlock = 96 * 1024;   // floats of the right operand that are packed at a time
constexpr int64_t kRowBlock = 192 * kRows;   // rows for which they are used
constexpr int64_t kLeftBlock = 1280 * 1024;  // floats of the left operand up to which it is packed once
constexpr int64_t kLeftRows = 8 * kRows;     // rows of it that are otherwise packed at a time
static_assert(kGemmRows == kRows && kPanel % (kVectors * kWidth) == 0);

int64_t Smaller(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t RoundUp(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// The size of equal blocks of `n`, none larger than `most`, in units.
int64_t EqualBlocks(int64_t n, int64_t most, int64_t unit) {
  const int64_t blocks = (n + most - 1) / most;
  return blocks == 0 ? unit : RoundUp((n + blocks - 1) / blocks, unit);
}

int64_t InnerBlock(const GemmShape& shape) { return EqualBlocks(shape.inner, kInnerBlock, 1); }
int64_t ColumnBlock(const GemmShape& shape, int64_t columns) {
  return EqualBlocks(columns, kRightBlock / InnerBlock(shape) / kPanel * kPanel, kPanel);
}

// Rows are read in place where `inner` is contiguous in them.
bool PacksLeft(const GemmShape& shape) { return shape.left_inner != 1; }

// Packs all of `inner` once for a block of rows, rather than again for every block of columns.
bool PacksLeftOnce(const GemmShape& shape) {
  return Smaller(kRowBlock, RoundUp(shape.rows, kRows)) * shape.inner <= kLeftBlock;
}

int64_t LeftScratch(const GemmShape& shape) {
  if (!PacksLeft(shape)) return 0;
  if (!PacksLeftOnce(shape)) return RoundUp(kLeftRows * InnerBlock(shape), 16);
  return RoundUp(Smaller(kRowBlock, RoundUp(shape.rows, kRows)) * shape.inner, 16);
}

int64_t GemmScratch(const GemmShape& shape) {
  const int64_t most = kRightBlock / InnerBlock(shape) / kPanel * kPanel;
  const int64_t columns = Smaller(most, RoundUp(shape.columns, kPanel));
  return kRows * kPanel + LeftScratch(shape) + columns * InnerBlock(shape);
}

// Groups of kRows rows, each [k][kRows].
void PackLeft(const GemmShape& shape, const float* left, int64_t rows, int64_t k, float* to) {
  for (int64_t row = 0; row < rows; row += kRows) {
    const int64_t count = Smaller(kRows, rows - row);
    const float* from = left + row * shape.left_row;
    float* group = to + row * k;
    if (count == kRows && shape.left_row == 1) {
      for (int64_t p = 0; p < k; ++p) {
        for (int64_t r = 0; r < kRows; ++r) group[p * kRows + r] = from[p * shape.left_inner + r];
      }
      continue;
    }
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t r = 0; r < count; ++r) group[p * kRows + r] = from[p * shape.left_inner + r * shape.left_row];
    }
  }
}

// Panels of kPanel columns, each [k][kPanel], the last padded with zeros.
void PackRight(const GemmShape& shape, const float* right, int64_t k, int64_t columns, float* to) {
  for (int64_t column = 0; column < columns; column += kPanel, to += k * kPanel) {
    const int64_t count = Smaller(kPanel, columns - column);
    const float* from = right + column * shape.right_column;
    if (shape.right_inner == 1 && shape.right_column != 1) {
      for (int64_t strip = 0; strip < kPanel; strip += kWidth) {
        const int64_t rows = count < strip ? 0 : Smaller(kWidth, count - strip);
        TransposeStrip(from + strip * shape.right_column, shape.right_column, rows, k, to + strip, kPanel);
      }
      continue;
    }
    for (int64_t p = 0; p < k; ++p) {
      const float* source = from + p * shape.right_inner;
      float* target = to + p * kPanel;
      if (count == kPanel && shape.right_column == 1) {
        for (int64_t j = 0; j < kPanel; j += kWidth) Store(target + j, Load(source + j));
        continue;
      }
      for (int64_t j = 0; j < count; ++j) target[j] = source[j * shape.right_column];
      for (int64_t j = count; j < kPanel; ++j) target[j] = 0;
    }
  }
}

// One group of rows times one panel. A panel that is not whole goes through `tile`.
void Tile(int rows, int64_t columns, int64_t k, LeftMatrix left, const float* panel, float* result, int64_t result_row,
          bool accumulate, float* tile) {
  const int64_t whole = columns / kWidth * kWidth;
  if (whole > 0) RowProduct(rows, whole, k, left, panel, kPanel, result, result_row, accumulate);
  if (whole == columns) return;
  RowProduct(rows, kWidth, k, left, panel + whole, kPanel, tile, kPanel, false);
  for (int r = 0; r < rows; ++r) {
    float* to = result + r * result_row;
    for (int64_t j = whole; j < columns; ++j) to[j] = (accumulate ? to[j] : 0.0f) + tile[r * kPanel + j - whole];
  }
}

struct Block {
  int64_t row, rows, column, columns, inner, k;
  bool first_columns;  // of these rows
};

struct Buffers {
  float* tile;    // [kRows][kPanel]
  float* left;    // packed rows
  float* panels;  // the packed right operand
};

// The six rows from `row` of the block, which it packs where that is due.
LeftMatrix LeftGroup(const GemmShape& shape, const Block& block, const Buffers& buffers, const float* left,
                     int64_t row) {
  const float* from = left + (block.row + row) * shape.left_row + block.inner * shape.left_inner;
  if (!PacksLeft(shape)) return {from, shape.left_row, 1};
  if (PacksLeftOnce(shape)) {
    float* group = buffers.left + RoundUp(block.rows, kRows) * block.inner + row * block.k;
    if (block.first_columns) PackLeft(shape, from, Smaller(kRows, block.rows - row), block.k, group);
    return {group, 1, kRows};
  }
  const int64_t place = row % kLeftRows;
  if (place == 0) PackLeft(shape, from, Smaller(kLeftRows, block.rows - row), block.k, buffers.left);
  return {buffers.left + place * block.k, 1, kRows};
}

// All rows of the block times the packed panels.
void MultiplyBlock(const GemmShape& shape, const Block& block, const float* left, const Buffers& buffers,
                   float* result) {
  for (int64_t row = 0; row < block.rows; row += kRows) {
    const LeftMatrix group = LeftGroup(shape, block, buffers, left, row);
    float* to = result + (block.row + row) * shape.result_row + block.column;
    for (int64_t column = 0; column < block.columns; column += kPanel) {
      Tile(static_cast<int>(Smaller(kRows, block.rows - row)), Smaller(kPanel, block.columns - column), block.k, group,
           buffers.panels + column * block.k, to + column, shape.result_row, block.inner > 0, buffers.tile);
    }
  }
}

void Gemm(const GemmShape& shape, const GemmPart& part, const float* left, const float* right, float* result,
          float* scratch) {
  const int64_t inner_block = InnerBlock(shape);
  const int64_t row_block = EqualBlocks(part.row_end - part.row, kRowBlock, kRows);
  const int64_t column_block = ColumnBlock(shape, part.column_end - part.column);
  float* const left_buffer = scratch + kRows * kPanel;
  const Buffers buffers = {scratch, left_buffer, left_buffer + LeftScratch(shape)};
  for (int64_t row = part.row; row < part.row_end; row += row_block) {
    for (int64_t column = part.column; column < part.column_end; column += column_block) {
      for (int64_t inner = 0; inner < shape.inner; inner += inner_block) {
        const Block block = {row,
                             Smaller(row_block, part.row_end - row),
                             column,
                             Smaller(column_block, part.column_end - column),
                             inner,
                             Smaller(inner_block, shape.inner - inner),
                             column == part.column};
        PackRight(shape, right + inner * shape.right_inner + column * shape.right_column, block.k, block.columns,
                  buffers.panels);
        MultiplyBlock(shape, block, left, buffers, result);
      }
    }
  }
}

#define WEFT_STRING(x) #x
#define WEFT_NAME(x) WEFT_STRING(x)
constexpr GemmFunctions kFunctions = {WEFT_NAME(WEFT_LEVEL), GemmScratch, Gemm};

}  // namespace

const GemmFunctions& Functions() { return kFunctions; }

}  // namespace weft::einsum::WEFT_LEVEL
