// What of a step certainly comes before what, over all stages.
#ifndef WEFT_COMPILER_PASSES_MEMORY_ORDER_H_
#define WEFT_COMPILER_PASSES_MEMORY_ORDER_H_

#include "compiler/dialect/task/registers.h"
#include "llvm/ADT/StringMap.h"

namespace weft::compiler {

/// One firing of an actor, by its place in its program; of micro-batch 0 if it fires once a step.
struct Act {
  size_t actor = 0;
  int64_t microBatch = 0;
};

/// Where an act stands among those of a program that compute. In order of time.
struct Tick {
  int64_t instance = 0; // 0: the begin section, then each unit of the program's order, then the step section
  size_t actor = 0;
  auto operator<=>(const Tick &) const = default;
};

/// When the acts of a program come.
class Instances {
public:
  explicit Instances(task::ProgramOp program);

  int64_t count() const { return count_; }
  bool isMicro(size_t actor) const { return actors_[actor].micro; }
  bool computes(size_t actor) const { return actors_[actor].computes; }
  size_t actors() const { return actors_.size(); }
  int64_t actsOf(size_t actor) const { return isMicro(actor) ? microBatches_ : 1; }
  Tick tickOf(Act act) const;

private:
  struct Actor {
    bool computes = false, micro = false, begins = false;
    size_t unit = 0;
  };
  std::vector<Actor> actors_;
  std::vector<std::vector<int64_t>> units_; // of each unit and micro-batch the instance
  int64_t count_ = 0, microBatches_ = 1;
};

struct Passing;

/// The order that the verifier proves with (runtime/semantics/execution.h): the acts of a stream in turn, a register's
/// writer before its readers, these before what reuses its slot, a send before its receive if the ranks of both are
/// paired one by one. It is the order of any one rank of each program. Of what waits for itself, in programs that
/// cannot run, it says nothing. Holds no reference.
class Order {
public:
  /// Whether what fills a slot may have to wait for it, or finds one for each micro-batch.
  enum class Slots { kReused, kAmple };
  /// Of programs that exchange transfers, such as those of a module.
  Order(llvm::ArrayRef<task::ProgramOp> programs, Slots slots);

  /// What the compute stream of an act's program has certainly ended when the act starts, if anything, and what it
  /// certainly starts when the act has ended.
  struct Reach {
    std::optional<Tick> after, before;
  };
  /// Of an act of another stream.
  const Reach &reachOf(size_t program, Act act) const { return otherOf(program, act).reach; }
  /// Whether one act of a program has certainly ended when another one starts.
  bool isBefore(size_t program, Act early, Act late) const;
  /// Whether nobody ever waits for a free slot of a root, since what fills it comes late enough anyway: more slots
  /// would change nothing.
  bool isAmple(mlir::Value root) const { return !scarce_.contains(root); }
  bool isAmple() const { return scarce_.empty(); }

  const Instances &instances(size_t program) const { return programs_[program].instances; }

private:
  friend class Clocks;
  struct Other {
    Reach reach;
    size_t stream = 0; // of those of the program
    int32_t position = 0;
    llvm::SmallVector<int32_t, 4> ended; // a stream of the program each: how many acts, when this one starts
  };
  struct Program {
    Instances instances;
    std::vector<size_t> first; // an actor each: its first act
    std::vector<Other> others; // acts of other streams than that which computes
  };
  const Other &otherOf(size_t program, Act act) const {
    return programs_[program].others[programs_[program].first[act.actor] + act.microBatch];
  }
  // Of those between acts of a program the ones whose writer may find a slot that is not free yet.
  std::vector<Passing> waitsOf(size_t program, llvm::ArrayRef<Passing> passings) const;
  void insertFew(const Instances &its, llvm::ArrayRef<Passing> waits);

  std::vector<Program> programs_;
  llvm::DenseSet<mlir::Value> scarce_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_MEMORY_ORDER_H_
