// The rates that all costs are computed from: one cost model, in seconds and
// bytes, for inference, boxing and predictions. Its formulas are in
// runtime/plan/cost.h, which the simulator shares.
#ifndef WEFT_COMPILER_ANALYSIS_MACHINE_H_
#define WEFT_COMPILER_ANALYSIS_MACHINE_H_

#include <optional>
#include <string>

#include "mlir/IR/Operation.h"

#include "ops/dialect/cost.h"
#include "runtime/plan/cost.h"

namespace weft::compiler {

/// One rank and its links.
struct Machine : plan::Machine {
  /// Seconds one run of an op takes.
  double seconds(const ir::Cost &cost) const;
};

/// What one run of an op is to the cost model.
plan::KernelWork workOf(const ir::Cost &cost);

/// The rates as text, "100000000000:4000000000:...", in the order of plan::Machine, for the option of a pass, and
/// back; nothing if the text is no machine. Empty text is the default machine; the device is not part of it.
std::string describe(const Machine &machine);
std::optional<Machine> parseMachine(llvm::StringRef text);

/// Likewise, of a pass's option `machine`; an error at the op that the pass runs on if the text is no machine.
llvm::FailureOr<Machine> machineOf(mlir::Operation *op, llvm::StringRef text);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_MACHINE_H_
