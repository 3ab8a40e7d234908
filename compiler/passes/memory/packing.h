// First fit of blocks in an order, fast enough to try thousands of orders.
#ifndef WEFT_COMPILER_PASSES_MEMORY_PACKING_H_
#define WEFT_COMPILER_PASSES_MEMORY_PACKING_H_

#include "compiler/passes/memory/conflicts.h"

namespace weft::compiler {

/// Some blocks of a layout, by their places in a list of their own.
class Packing {
public:
  /// Of the blocks `members`, above `bottom`. Refers to the blocks.
  Packing(llvm::ArrayRef<Block> blocks, llvm::ArrayRef<int32_t> members, int64_t bottom);

  int32_t size() const { return int32_t(members_.size()); }
  const Block &block(int32_t member) const { return blocks_[members_[member]]; }
  /// Whether two members may not share bytes.
  bool conflict(int32_t a, int32_t b) const { return conflicts_.between(a, b); }

  /// Puts one member after another at the lowest offset where it fits, and returns the bytes that they need with those
  /// at the bottom. Nothing, if these are more than `limit`: then all is left as it was. The first `same` members are
  /// those of the order that was packed last, which saves time.
  std::optional<int64_t> pack(llvm::ArrayRef<int32_t> order, int64_t limit, size_t same = 0);
  /// Where a member has been put.
  int64_t offset(int32_t member) const { return packed_.offsets[member]; }
  int64_t end(int32_t member) const { return offset(member) + bytes_[member]; }

  /// How many pairs of blocks have been looked at by pack: a measure of time that is the same everywhere.
  int64_t work() const { return work_; }

private:
  struct Placed {
    int64_t offset = 0, end = 0;
    int32_t member = 0;
  };
  struct Packed {
    std::vector<int64_t> offsets; // a member each
    std::vector<Placed> placed;   // by offset
  };
  int64_t place(int32_t member);
  // What is packed of the first members of the last order; returns the bytes.
  int64_t keepFirst(size_t count);

  llvm::ArrayRef<Block> blocks_;
  std::vector<int32_t> members_;
  std::vector<int64_t> bytes_; // a member each
  int64_t bottom_ = 0, work_ = 0;
  Conflicts conflicts_;
  Packed packed_, next_;
  std::vector<size_t> rank_; // a member each: its place in the order
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_MEMORY_PACKING_H_
