// Which blocks of a layout may not share bytes.
#ifndef WEFT_COMPILER_PASSES_MEMORY_CONFLICTS_H_
#define WEFT_COMPILER_PASSES_MEMORY_CONFLICTS_H_

#include "compiler/passes/memory/placement.h"

namespace weft::compiler {

/// Of some blocks, by their places in a list of their own.
class Conflicts {
public:
  Conflicts(llvm::ArrayRef<Block> blocks, llvm::ArrayRef<int32_t> members);

  bool between(int32_t a, int32_t b) const { return rows_[size_t(a) * words_ + b / 64] >> (b % 64) & 1; }
  /// A bit each member, 64 a word.
  llvm::ArrayRef<uint64_t> of(int32_t member) const {
    return llvm::ArrayRef(rows_).slice(size_t(member) * words_, words_);
  }

private:
  size_t words_ = 0; // of a row
  std::vector<uint64_t> rows_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_MEMORY_CONFLICTS_H_
