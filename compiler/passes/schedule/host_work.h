// Updates that the host does in the memory of a tier.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_HOST_WORK_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_HOST_WORK_H_

#include "compiler/dialect/task/task.h"

namespace weft::compiler {

/// Which kernels of the begin and the step section the host is to run, where the state lies that they touch:
/// - what touches state in a tier, such as an update, or a cast of parameters to a narrow type; in the begin section
/// not
///   what reads something that the device makes;
/// - in the step section what reads a gradient in a tier, or what such kernels make;
/// - there also what reads nothing and is read by them, such as a learning rate;
/// - but no products, which are the device's.
/// State is updated by the host if all that writes it can be such a kernel, and if the device does not read it in the
/// step section. Example: the momentum of Muon is read by products, and so it comes to the device for its update.
class HostWork {
public:
  explicit HostWork(task::ProgramOp program);

  bool has(mlir::Operation *op) const { return work_.contains(op); }
  /// The roots that these kernels touch.
  llvm::ArrayRef<mlir::Value> touched() const { return touched_; }

private:
  bool find();
  bool mayRun(task::KernelOp kernel) const;
  bool isWanted(task::KernelOp kernel) const;
  bool isReadByWork(task::KernelOp kernel) const;
  void add(task::KernelOp kernel);

  llvm::SmallVector<task::KernelOp> kernels_; // those of the two sections, in order
  llvm::DenseSet<mlir::Value> held_;          // state that the host updates
  llvm::DenseSet<mlir::Operation *> work_, refused_;
  llvm::DenseSet<mlir::Value> made_; // by the work
  llvm::SmallVector<mlir::Value> touched_;
};

/// An attribute of a copy that is done once a step, for a kernel of the host or of what it makes: it is no part of
/// state that comes and goes (tier_stream.h).
inline constexpr llvm::StringLiteral kOnceName("once");
bool servesHost(mlir::Operation *op);

/// The work of a step section in the order in which what it reads is there: what reads what `micro`, the last
/// micro-batch in order, makes first, before what reads what it makes later; then what the device computes behind it,
/// and what reads that. Otherwise as it was.
llvm::SmallVector<mlir::Operation *> byArrival(llvm::ArrayRef<mlir::Operation *> step,
                                               llvm::ArrayRef<mlir::Operation *> micro);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_HOST_WORK_H_
