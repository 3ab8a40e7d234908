#include "compiler/analysis/machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace weft::compiler {
namespace {

constexpr double Machine::*kRates[] = {&Machine::contractionFlops, &Machine::otherFlops, &Machine::memoryBytes,
                                       &Machine::linkBytes,        &Machine::latency,    &Machine::launch};

} // namespace

std::string describe(const Machine &machine) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(kRates, os, [&](double Machine::*rate) { os << llvm::format("%.17g", machine.*rate); }, ":");
  return text;
}

std::optional<Machine> parseMachine(llvm::StringRef text) {
  Machine machine;
  if (text.empty()) {
    return machine;
  }
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  if (parts.size() != std::size(kRates)) {
    return std::nullopt;
  }
  for (auto [part, rate] : llvm::zip(parts, kRates)) {
    if (part.getAsDouble(machine.*rate) || machine.*rate < 0) {
      return std::nullopt;
    }
  }
  return machine;
}

} // namespace weft::compiler
