#include "compiler/analysis/machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Diagnostics.h"

namespace weft::compiler {
namespace {

// The rates in the order of their text.
std::array<double *, 8> ratesOf(Machine &m) {
  return {&m.contraction_flops, &m.other_flops,    &m.memory_bytes_s,  &m.launch_s,
          &m.node.bytes_s,      &m.node.latency_s, &m.network.bytes_s, &m.network.latency_s};
}

} // namespace

plan::KernelWork workOf(const ir::Cost &cost) {
  return {cost.contraction ? cost.flops : 0, cost.contraction ? 0 : cost.flops, cost.bytes};
}

double Machine::seconds(const ir::Cost &cost) const { return plan::KernelSeconds(*this, workOf(cost)); }

std::string describe(const Machine &machine) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Machine copy = machine;
  for (double *rate : ratesOf(copy)) {
    os << llvm::format("%.17g:", *rate);
  }
  os << machine.node_ranks;
  return text;
}

std::optional<Machine> parseMachine(llvm::StringRef text) {
  Machine machine;
  if (text.empty()) {
    return machine;
  }
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  std::array<double *, 8> rates = ratesOf(machine);
  if (parts.size() != rates.size() + 1 || parts.back().getAsInteger(10, machine.node_ranks) || machine.node_ranks < 1) {
    return std::nullopt;
  }
  for (auto [part, rate] : llvm::zip(parts, rates)) {
    if (part.getAsDouble(*rate) || *rate < 0) {
      return std::nullopt;
    }
  }
  return machine;
}

llvm::FailureOr<Machine> machineOf(mlir::Operation *op, llvm::StringRef text) {
  if (std::optional<Machine> machine = parseMachine(text)) {
    return *machine;
  }
  return op->emitOpError() << "machine: expected rates, got " << text;
}

} // namespace weft::compiler
