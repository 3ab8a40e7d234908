// Which groups of dimensions grow, and to how many units.
#ifndef WEFT_COMPILER_PASSES_PAD_PADDING_H_
#define WEFT_COMPILER_PASSES_PAD_PADDING_H_

#include "compiler/passes/pad/dimensions.h"
#include "llvm/ADT/DenseSet.h"

namespace weft::compiler {

class Padding {
public:
  /// `samples`: those of a step, if the last micro-batch has fewer than the `micro` of the others.
  Padding(const Dimensions &dimensions, std::optional<int64_t> samples, int64_t micro)
      : dimensions_(dimensions), samples_(samples), micro_(micro) {}

  /// A dimension of this group and extent is cut into so many parts.
  void demand(int group, int64_t extent, int64_t parts);
  /// The group is the samples of a micro-batch.
  void addBatch(int group) { batch_.insert(group); }
  /// After all demands: a group grows if one of them does not divide, to the least size that all of them divide.
  void decide();

  bool empty() const { return units_.empty() && (!samples_ || batch_.empty()); }
  size_t numGrown() const { return units_.size(); }
  /// Whether values of the group have anything beyond their extents.
  bool has(int group) const { return units_.contains(group) || isShort(group); }
  /// Whether the last micro-batch has fewer.
  bool isShort(int group) const { return samples_ && batch_.contains(group); }
  /// The samples of a step; of a group that isShort.
  int64_t samples() const { return *samples_; }
  int64_t micro() const { return micro_; }
  /// What the extents of a value grow to.
  llvm::SmallVector<int64_t> larger(mlir::Value original, llvm::ArrayRef<int64_t> shape) const;

private:
  struct Demand {
    int group;
    int64_t extent, parts;
  };
  const Dimensions &dimensions_;
  const std::optional<int64_t> samples_;
  const int64_t micro_;
  llvm::DenseSet<int> batch_;
  llvm::SmallVector<Demand> demands_;
  llvm::DenseMap<int, int64_t> units_; // of the groups that grow
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_PAD_PADDING_H_
