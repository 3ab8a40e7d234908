// A value with this or that number beyond its extents.
#ifndef WEFT_COMPILER_PASSES_PAD_VERSIONS_H_
#define WEFT_COMPILER_PASSES_PAD_VERSIONS_H_

#include <map>
#include <set>

#include "compiler/passes/pad/padding.h"

namespace weft::compiler {

/// What a value is beyond its extents, by group; unknown of the others.
using Numbers = std::map<int, double>;

/// The versions of every value: the first is what all read that do not care.
class Versions {
public:
  Versions(const Padding &padding, const Dimensions &dimensions) : padding_(padding), dimensions_(dimensions) {}

  /// A value of the graph, of which the extents are `unpadded`.
  void add(mlir::Value original, llvm::ArrayRef<int64_t> unpadded, Numbers numbers);
  /// From now on `value` is what all read.
  void replace(mlir::Value original, mlir::Value value, const Numbers &numbers);

  /// What `value` is a version of.
  mlir::Value original(mlir::Value value) const { return originals_.at(value); }
  llvm::ArrayRef<int64_t> unpadded(mlir::Value original) const { return unpadded_.find(original)->second; }
  /// Whether a version is 0 there. From now on it stays so.
  bool isZero(mlir::Value value, int group);
  /// Whether a version has some number there.
  bool isKnown(mlir::Value value, int group) const;

  /// Sets an operand to a version of it that has these numbers: one that there is, or the first one with more of its
  /// padding set, which all others may read as well where nobody counts on what it was, or else one of its own.
  void give(mlir::Operation *op, unsigned operand, const Numbers &wanted);

  /// Notes at what makes `value`, another version of `original`, where it belongs and what it stands for.
  void describe(mlir::Value value, mlir::Value original, mlir::Operation *like);

  int64_t numSet() const { return numSet_; }

private:
  struct Version {
    mlir::Value value;
    Numbers numbers;
    std::set<int> fixed = {}; // groups whose number somebody counts on

    bool holds(const Numbers &wanted) const;
    // Whether nothing has to change but what nobody counts on.
    bool mayHold(const Numbers &wanted) const;
    void fix(const Numbers &wanted);
  };
  mlir::Value set(mlir::OpBuilder &b, mlir::Value value, mlir::Value original, const Numbers &numbers,
                  mlir::Operation *like);
  void extend(Version &version, mlir::Value original, const Numbers &wanted);

  const Padding &padding_;
  const Dimensions &dimensions_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Version, 1>> versions_; // of originals
  llvm::DenseMap<mlir::Value, mlir::Value> originals_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> unpadded_; // of originals
  int64_t numSet_ = 0;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_PAD_VERSIONS_H_
