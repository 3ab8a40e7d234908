// The `task` dialect in C++.
#ifndef WEFT_COMPILER_DIALECT_TASK_TASK_H_
#define WEFT_COMPILER_DIALECT_TASK_TASK_H_

#include "compiler/schedule/schedule.h"
#include "ops/dialect/weft.h"
#include "runtime/plan/collective_kind.h"

#include "compiler/dialect/task/dialect.h.inc"
#include "compiler/dialect/task/enums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/task/types.h.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/task/ops.h.inc"

namespace weft::task {

// The dialect's kinds of collective are those of the table.
#define WEFT_ROW(name, ...) static_assert(int(CollectiveKind::name) == int(weft::CollectiveKind::k##name));
WEFT_COLLECTIVE_KINDS(WEFT_ROW)
#undef WEFT_ROW
static_assert(getMaxEnumValForCollectiveKind() + 1 == kCollectiveKinds);

inline weft::CollectiveKind kindOf(CollectiveKind kind) { return static_cast<weft::CollectiveKind>(kind); }
inline CollectiveKind kindOf(weft::CollectiveKind kind) { return static_cast<CollectiveKind>(kind); }

/// The global tensor, with SBP, of which a buffer holds a tile.
inline mlir::RankedTensorType tensorOf(mlir::Value buffer) {
  return llvm::cast<BufferType>(buffer.getType()).getTensor();
}

/// The shape and bytes of one rank's tile on a mesh.
llvm::SmallVector<int64_t> localShapeOf(mlir::RankedTensorType tensor, ir::PlacementAttr placement);
int64_t localBytesOf(mlir::RankedTensorType tensor, ir::PlacementAttr placement);

/// Kernels that the compiler and the runtime know by what they do: views of `task.kernel` that llvm::isa and dyn_cast
/// take, as ops of their own would be. The verifier of `task.kernel` has checked their operands.

/// Adds the term of a micro-batch to a sum, which stays over all of them: ins (term, sum), outs (sum).
class AccumulateKernel : public KernelOp {
public:
  static constexpr llvm::StringLiteral kName = "accumulate";
  using KernelOp::KernelOp;
  static bool classof(mlir::Operation *op);
  mlir::Value getTerm() { return getInputs()[0]; }
  mlir::Value getSum() { return getOutputs()[0]; }
};

/// The same with a product as the term, which is nowhere else: ins (left, right, sum), outs (sum).
class AccumulateEinsumKernel : public KernelOp {
public:
  static constexpr llvm::StringLiteral kName = "accumulate_einsum";
  using KernelOp::KernelOp;
  static bool classof(mlir::Operation *op);
};

/// The same with the sums of rows by id as the term: ins (ids, gradient, sum), outs (sum).
class AccumulateEmbeddingGradKernel : public KernelOp {
public:
  static constexpr llvm::StringLiteral kName = "accumulate_embedding_grad";
  using KernelOp::KernelOp;
  static bool classof(mlir::Operation *op);
};

/// One of these three.
class SumKernel : public KernelOp {
public:
  using KernelOp::KernelOp;
  static bool classof(mlir::Operation *op);
  mlir::Value getSum() { return getOutputs()[0]; }
};

/// Takes the part of an input of the graph that a micro-batch reads: no ins, outs (buffer).
class InputKernel : public KernelOp {
public:
  static constexpr llvm::StringLiteral kName = "input";
  using KernelOp::KernelOp;
  static bool classof(mlir::Operation *op);
};

/// Copies between the device and a tier: ins (buffer), outs (buffer), of which `fetch` reads the tier's and `store`
/// writes it. A fetch of a sum over the micro-batches, with the constant kSum, does nothing for the first of them.
class MoveKernel : public KernelOp {
public:
  static constexpr llvm::StringLiteral kFetch = "fetch", kStore = "store", kSum = "sum";
  using KernelOp::KernelOp;
  static bool classof(mlir::Operation *op);
  bool fetches() { return getName() == kFetch; }
  bool fetchesSum() { return fetches() && getConstants().contains(kSum); }
  /// The buffer of the tier, and that of the device or a view of it.
  mlir::Value getInTier() { return fetches() ? getInputs()[0] : getOutputs()[0]; }
  mlir::Value getOnDevice() { return fetches() ? getOutputs()[0] : getInputs()[0]; }
};

/// An attribute of a parameter's buffer in a function that is evaluated between the steps of a training: it lies where
/// that one has it, which no pass changes.
inline constexpr llvm::StringLiteral kHeldName("held");

/// An attribute of the initial value of a narrow copy: the parameter's name.
inline constexpr llvm::StringLiteral kOfName("of");

/// The tier in which a buffer lies; empty: on the device.
llvm::StringRef tierOf(mlir::Value buffer);

/// Whether an op is a kernel that the host runs on what lies in a tier: all that it touches does.
bool worksBelow(mlir::Operation *op);

/// Gives a result of the graph to the host: ins (buffer), no outs.
class OutputKernel : public KernelOp {
public:
  static constexpr llvm::StringLiteral kName = "output";
};

/// How often work happens: what the op says. `work` is a kernel, a collective or an end of a transfer.
Section sectionOf(mlir::Operation *work);

/// The buffer whose bytes this is a view of: itself if it is no alias.
mlir::Value rootOf(mlir::Value buffer);

/// The units of a program in order.
std::vector<schedule::Unit> unitsOf(ProgramOp program);

} // namespace weft::task

#endif // WEFT_COMPILER_DIALECT_TASK_TASK_H_
