// When a rank computes what: the time in which buffers live.
#ifndef WEFT_COMPILER_PASSES_MEMORY_TIMELINE_H_
#define WEFT_COMPILER_PASSES_MEMORY_TIMELINE_H_

#include "compiler/passes/memory/order.h"

namespace weft::compiler {

/// Positions, both ends included.
struct Span {
  int64_t first = 0, last = 0;
};

/// A position of one act: what happens in it happens once a step. In order of time.
struct Moment {
  int64_t instance = 0; // 0: the begin section, then each unit of the program's order, then the step section
  int64_t position = 0;
  auto operator<=>(const Moment &) const = default;
};

/// Positions are the works of the compute stream and the gaps before, between and behind them: the begin section, each
/// unit that the program's order has as if it came once, the step section, each in program order. With `phases` a unit
/// is as many units, and micro-batch i of the phase i mod `phases`. Work on other streams may run at any time between
/// what certainly came before it and what certainly waits for it. Refers to the order.
class Timeline {
public:
  Timeline(task::ProgramOp program, const Order &order, size_t index, int64_t phases = 1);

  int64_t positions() const { return positions_; }
  /// "begin", "F", "B.1", ..., "step".
  struct Section {
    std::string name;
    Span span;                      // from its first gap to its last one
    std::vector<int64_t> instances; // in the order of the micro-batches
  };
  llvm::ArrayRef<Section> sections() const { return sections_; }
  bool computes(size_t actor) const { return instances_.computes(actor); }
  bool isMicro(size_t actor) const { return instances_.isMicro(actor); }
  /// Of a unit, its first phase.
  int64_t sectionOf(size_t actor) const { return actors_[actor].section; }
  bool isOnce(int64_t section) const { return section == 0 || section + 1 == int64_t(sections_.size()); }
  /// When an act for `microBatch` is at a position within its section.
  Moment momentOf(int64_t section, int64_t microBatch, int64_t position) const;
  /// Of work on the compute stream, within its section.
  int64_t positionOf(mlir::Operation *work) const { return positionOf_.lookup(work); }
  /// What an act of another stream may last, from and to: a STEP actor's `microBatch` is 0.
  std::pair<Moment, Moment> reachOf(Act act) const;

  /// Whether one act has certainly ended when another one starts.
  bool isBefore(Act early, Act late) const { return order_.isBefore(index_, early, late); }

  Moment beginning() const { return {0, 0}; }
  Moment end() const { return {instances_.count() - 1, positions_ - 1}; }

  /// Marks in `whole` the sections that lie, in one of their acts, between two moments wholly; adds the rest as spans.
  void cover(Moment from, Moment to, llvm::BitVector &whole, llvm::SmallVectorImpl<Span> &spans) const;
  /// Sorts, joins what touches, and adds whole sections.
  llvm::SmallVector<Span, 2> unite(const llvm::BitVector &whole, llvm::SmallVector<Span> spans) const;

private:
  struct Actor {
    int64_t section = 0;
    Span span; // of one that computes, within its section
  };
  void addSections(task::ProgramOp program);
  void addActors(task::ProgramOp program);
  Moment momentOf(Tick tick, int64_t position) const;

  const Instances &instances_;
  const Order &order_;
  size_t index_ = 0; // of the program, in the order
  std::vector<Section> sections_;
  std::vector<int64_t> sectionAt_; // of an instance
  std::vector<Actor> actors_;
  llvm::DenseMap<mlir::Operation *, int64_t> positionOf_;
  int64_t positions_ = 0, microBatches_ = 1, phases_ = 1;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_MEMORY_TIMELINE_H_
