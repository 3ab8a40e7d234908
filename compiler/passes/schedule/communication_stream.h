// Gathers of parameters and reductions of gradients beside the computation, within the begin and the micro sections.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_COMMUNICATION_STREAM_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_COMMUNICATION_STREAM_H_

#include <set>

#include "compiler/dialect/task/task.h"

namespace weft::compiler {

/// What comes next in the order in which actors are made.
struct ActorWork {
  llvm::SmallVector<mlir::Operation *, 1> work; // one op, or collectives that are done as one operation
  llvm::StringRef name;                         // of the actor, instead of the layer's
  llvm::SmallVector<mlir::Value, 1> after;      // what the actor waits for besides what the work reads
  bool apart = false;                           // begins an actor, even if the one before could take it
};

/// What of a program moves shares over the mesh axes that ZeRO splits over, `data` or `shard`: gathers of what is made
/// once a step or never, and reductions of gradients. Such an axis, and every other one that a collective of the two
/// sections has in common with it, belongs to the communication stream: all collectives over it are there, since ranks
/// must issue them in one order.
///
/// - A unit's gathers are a bundle for each layer that reads them, and one for what lies between layers. A bundle is
///   issued when the unit comes to the readers of the bundle before it, one layer ahead of its own; two layers of
///   gathered parameters are held at most, and more only where units of a pipeline meet.
/// - A unit's reductions of gradients are bundles in the order in which the unit completes them: of a layer, or of
///   several up to kFirstBucketBytes, and of at most kBucketBytes; but one of less than kFirstBucketBytes takes the
///   next gradient, whatever that is. The computation goes on until the next bundle is complete; it then waits for this
///   one, so that the bytes of whole gradients are free again.
/// - Shifts of a unit, too, make their axis one of the stream. Those between two blocks of a ring are a bundle. It is
///   issued when the block before it is done, and waited for by the block behind.
/// - The begin section's gathers are such bundles in the order in which units read them.
///
/// That nothing blocks: everything on the communication stream has a place in the computation's order. It waits for
/// what lies before that place, what waits for it lies behind, and the stream has the order of the places.
class CommunicationStream {
public:
  /// `units` are those of one micro-batch in the order of what they read, `begin` the begin section.
  CommunicationStream(task::ProgramOp program, llvm::ArrayRef<mlir::Operation *> begin,
                      llvm::ArrayRef<llvm::ArrayRef<mlir::Operation *>> units);

  /// Whether there is anything of the kind.
  bool any() const { return !axes_.empty(); }
  /// Whether the op is a collective over an axis that belongs to the communication stream.
  bool has(mlir::Operation *op) const;

  /// The begin section in the order of actors.
  std::vector<ActorWork> begin(llvm::ArrayRef<mlir::Operation *> work) const;
  /// A unit in the order of actors. Its first bundle comes after `before`, if that is not null: what the unit that has
  /// always run right before it makes.
  std::vector<ActorWork> unit(llvm::ArrayRef<mlir::Operation *> work, mlir::Value before) const;
  /// What a backward whose forward has always run right before it need not gather again: the gathers of its first
  /// bundle, each with the one of the forward's last bundle that makes the same.
  llvm::SmallVector<std::pair<task::CollectiveOp, task::CollectiveOp>>
  keptFor(llvm::ArrayRef<mlir::Operation *> backward, llvm::ArrayRef<mlir::Operation *> forward) const;
  /// What a unit makes last before the readers of its last bundle, or at its end. Null if there is nothing.
  mlir::Value lastOf(llvm::ArrayRef<mlir::Operation *> work, bool atItsEnd) const;

private:
  class Planner;
  bool isGather(mlir::Operation *op) const;
  bool isReduction(mlir::Operation *op) const;
  void close(llvm::ArrayRef<mlir::Operation *> work);

  ir::PlacementAttr placement_;
  std::set<int64_t> axes_;
  llvm::DenseSet<mlir::Value> made_;               // roots that units write
  llvm::DenseMap<mlir::Value, int64_t> firstRead_; // of a root, in the order of the units
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_COMMUNICATION_STREAM_H_
