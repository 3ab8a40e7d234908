// The rates that all costs are computed from: one cost model, in seconds and
// bytes, for inference, boxing and predictions.
#ifndef WEFT_COMPILER_ANALYSIS_MACHINE_H_
#define WEFT_COMPILER_ANALYSIS_MACHINE_H_

#include <optional>
#include <string>

#include "ops/dialect/cost.h"

namespace weft::compiler {

/// One rank and its links. The defaults are one core of a current x86 server
/// and ranks that share its memory.
struct Machine {
  double contractionFlops = 100e9; // FLOP/s of matrix products
  double otherFlops = 4e9;         // FLOP/s of everything else
  double memoryBytes = 10e9;       // bytes/s of a rank's memory
  double linkBytes = 3e9;          // bytes/s that a rank sends to others
  double latency = 10e-6;          // seconds to begin a collective or transfer
  double launch = 1e-6;            // seconds to begin a kernel

  /// Seconds one run of an op takes: the slower of computing and moving.
  double seconds(const ir::Cost &cost) const {
    double compute = cost.flops / (cost.contraction ? contractionFlops : otherFlops);
    double memory = cost.bytes / memoryBytes;
    return launch + (compute > memory ? compute : memory);
  }
};

/// The rates as text, "100000000000:4000000000:...", for the option of a pass, and back; nothing
/// if the text is no machine. Empty text is the default machine.
std::string describe(const Machine &machine);
std::optional<Machine> parseMachine(llvm::StringRef text);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_MACHINE_H_
