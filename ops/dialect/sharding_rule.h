// The one statement of how an op may be split: its dimensions, by name.
#ifndef WEFT_OPS_DIALECT_SHARDING_RULE_H_
#define WEFT_OPS_DIALECT_SHARDING_RULE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace weft::ir {

/// How a tensor lies over one mesh axis.
struct SbpState {
  enum Kind : uint8_t { Broadcast, Split, PartialSum, PartialMax };
  Kind kind = Broadcast;
  int64_t dim = 0; // of the tensor, if Split

  static SbpState broadcast() { return {}; }
  static SbpState split(int64_t dim) { return {Split, dim}; }
  static SbpState partialSum() { return {PartialSum, 0}; }
  static SbpState partialMax() { return {PartialMax, 0}; }
  bool isSplit() const { return kind == Split; }
  bool isPartial() const { return kind == PartialSum || kind == PartialMax; }
  bool operator==(const SbpState &o) const { return kind == o.kind && dim == o.dim; }
  bool operator!=(const SbpState &o) const { return !(*this == o); }
  bool operator<(const SbpState &o) const { return kind != o.kind ? kind < o.kind : dim < o.dim; }
};
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, SbpState state);
inline llvm::hash_code hash_value(SbpState s) { return llvm::hash_combine(int(s.kind), s.dim); }

/// An op as named dimensions ("factors"), einsum-like. A factor may be split
/// over mesh axes: operands and results that have it are then `S`, operands
/// without it `B`, results without it a pending reduction `P`. A whole factor
/// is never split.
struct ShardingRule {
  struct Factor {
    int64_t size = 1;
    bool whole = false;
  };
  /// The factors that make up one dimension, outermost first. They are split in this order: an inner one only by axes
  /// behind those that have cut all before it to single units. Empty for a dimension of size 1 that broadcasts.
  using Dim = llvm::SmallVector<int, 2>;
  using Tensor = llvm::SmallVector<Dim, 4>;

  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<Tensor> operands;
  llvm::SmallVector<Tensor> results;
  /// What a result that lacks a split factor is: a pending sum or maximum.
  SbpState::Kind reduction = SbpState::PartialSum;
  /// Sets of operands in which the op is jointly linear: if just these are
  /// pending sums (and the others B), every result is a pending sum. `add` has
  /// {{0, 1}}, `mul` has {{0}, {1}}.
  llvm::SmallVector<llvm::SmallVector<int>> linear;
  /// Operands whose pending maximum passes through: if just this one is P(max),
  /// so is every result. True of ops that keep the order of elements' values.
  llvm::SmallVector<int> monotone;
  /// A number that adds nothing to results: where an operand has it at every index of a factor that results lack, they
  /// are what they are without that index. `sum_exp` has {0, kLowest}. What is linear in an operand need not say 0.
  struct Neutral {
    int operand;
    double number;
  };
  llvm::SmallVector<Neutral> neutral;
  /// Below every number that a model computes with: its exponential is 0. Finite in bfloat16 too.
  static constexpr double kLowest = -3e38;

  /// Builds a rule from text and shapes: "bsi,io->bso". A lower-case letter is
  /// a factor that may be split, an upper-case letter a whole one; "(hd)" is
  /// a dimension made of two factors, "." an ellipsis of leading factors that
  /// has as many dimensions as fit, "1" a dimension without factor. Sizes
  /// come from dimensions that have one factor; `sizes` gives the others
  /// (those of compound dimensions), as ("h", 12) pairs. Aborts on a text
  /// that does not fit the shapes: a programming error in a family.
  static ShardingRule parse(llvm::StringRef text, llvm::ArrayRef<llvm::ArrayRef<int64_t>> operandShapes,
                            llvm::ArrayRef<llvm::ArrayRef<int64_t>> resultShapes,
                            llvm::ArrayRef<std::pair<char, int64_t>> sizes = {});

  /// Every tensor has the same shape and every dimension may be split. An
  /// operand of lower rank or with dimensions of size 1 is broadcast to
  /// `shape`, aligned at the last dimension.
  static ShardingRule pointwise(llvm::ArrayRef<llvm::ArrayRef<int64_t>> operandShapes, llvm::ArrayRef<int64_t> shape,
                                unsigned numResults = 1);

  /// All operands and results whole: the op runs the same everywhere.
  static ShardingRule replicated(llvm::ArrayRef<llvm::ArrayRef<int64_t>> operandShapes,
                                 llvm::ArrayRef<llvm::ArrayRef<int64_t>> resultShapes);

  ShardingRule &&withLinear(llvm::ArrayRef<llvm::SmallVector<int>> groups) && {
    linear.assign(groups.begin(), groups.end());
    return std::move(*this);
  }
  ShardingRule &&withMonotone(llvm::ArrayRef<int> operands) && {
    monotone.assign(operands.begin(), operands.end());
    return std::move(*this);
  }
  ShardingRule &&withNeutral(int operand, double number) && {
    neutral.push_back({operand, number});
    return std::move(*this);
  }
  ShardingRule &&withReduction(SbpState::Kind kind) && {
    reduction = kind;
    return std::move(*this);
  }
  /// What lets one axis split `rows` and `keys` together: every rank has a part of the tensors listed here, which are
  /// split along `keys` and go round, so that each rank's rows meet each of the parts, one after the other. Other
  /// tensors with `rows` are split along it, all else is B.
  struct Ring {
    int rows, keys;
    llvm::SmallVector<int> operands, results;
    int64_t reach; // a row sees at most so many keys before it, its own included
    /// What `weft.zigzag` exchanges in front of the op and behind it, where later rows see more keys than earlier ones
    /// and nothing but their places says which. The op is told with the attribute `zigzag`.
    struct Zigzag {
      llvm::SmallVector<int> operands, results;
    };
    std::optional<Zigzag> zigzag;

    /// How many parts the ranks' rows see anything of, where a part has so many keys and there are `parts` of them.
    int64_t blocks(int64_t partKeys, int64_t parts) const;
  };
  std::optional<Ring> ring;
  void print(llvm::raw_ostream &os) const;
};

/// SBP of all operands and results over ONE mesh axis.
struct Signature {
  llvm::SmallVector<SbpState> operands;
  llvm::SmallVector<SbpState> results;
  int factor = -1;   // the factor that is split, or -1
  bool ring = false; // whether it is the rule's ring, of which `factor` has the rows
  bool operator==(const Signature &o) const { return operands == o.operands && results == o.results; }
};

/// All signatures of `rule` over one axis: all B first, then one a splittable
/// factor, one a linear group, one a monotone operand, and the ring. Divisibility is not
/// looked at.
llvm::SmallVector<Signature> enumerateSignatures(const ShardingRule &rule);

/// True if the choice of one signature an axis (outermost first) cuts every
/// factor evenly, given the axis sizes. At most one axis is a ring, the first one that splits its rows.
bool divides(const ShardingRule &rule, llvm::ArrayRef<const Signature *> perAxis, llvm::ArrayRef<int64_t> axisSizes);

} // namespace weft::ir

#endif // WEFT_OPS_DIALECT_SHARDING_RULE_H_
