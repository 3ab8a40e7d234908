#include "compiler/analysis/machine.h"

#include <cmath>

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

namespace weft::compiler {
namespace {

struct Rate {
  llvm::StringLiteral name;
  double &(*of)(CostModel &);
};

constexpr Rate kRates[] = {
    {"contraction_flops", [](CostModel &m) -> double & { return m.contraction_flops; }},
    {"other_flops", [](CostModel &m) -> double & { return m.other_flops; }},
    {"memory_bytes_s", [](CostModel &m) -> double & { return m.memory_bytes_s; }},
    {"launch_s", [](CostModel &m) -> double & { return m.launch_s; }},
    {"node_bytes_s", [](CostModel &m) -> double & { return m.node.bytes_s; }},
    {"node_latency_s", [](CostModel &m) -> double & { return m.node.latency_s; }},
    {"network_bytes_s", [](CostModel &m) -> double & { return m.network.bytes_s; }},
    {"network_latency_s", [](CostModel &m) -> double & { return m.network.latency_s; }},
};
constexpr llvm::StringLiteral kNodeRanks("node_ranks");

// False for what is no rate.
bool setRate(mlir::NamedAttribute attribute, CostModel &machine) {
  if (attribute.getName() == kNodeRanks) {
    auto ranks = llvm::dyn_cast<mlir::IntegerAttr>(attribute.getValue());
    machine.node_ranks = ranks ? ranks.getInt() : 0;
    return machine.node_ranks > 0;
  }
  const Rate *rate = llvm::find_if(kRates, [&](const Rate &known) { return attribute.getName() == known.name; });
  auto number = llvm::dyn_cast<mlir::FloatAttr>(attribute.getValue());
  if (rate == std::end(kRates) || !number) {
    return false;
  }
  rate->of(machine) = number.getValueAsDouble();
  return rate->of(machine) >= 0 && std::isfinite(rate->of(machine));
}

} // namespace

plan::KernelWork workOf(const ir::Cost &cost) {
  return {cost.contraction ? cost.flops : 0, cost.contraction ? 0 : cost.flops, cost.bytes};
}

double CostModel::seconds(const ir::Cost &cost) const { return plan::KernelSeconds(*this, workOf(cost)); }

mlir::DictionaryAttr attributeOf(mlir::MLIRContext *context, const CostModel &machine) {
  mlir::Builder builder(context);
  mlir::NamedAttrList rates;
  CostModel defaults, own = machine;
  for (const Rate &rate : kRates) {
    if (rate.of(own) != rate.of(defaults)) {
      rates.append(rate.name, builder.getF64FloatAttr(rate.of(own)));
    }
  }
  if (own.node_ranks != defaults.node_ranks) {
    rates.append(kNodeRanks, builder.getI64IntegerAttr(own.node_ranks));
  }
  return rates.empty() ? mlir::DictionaryAttr() : rates.getDictionary(context);
}

llvm::FailureOr<CostModel> machineOf(mlir::Operation *op) {
  CostModel machine;
  mlir::Attribute attribute = op->getAttr(kMachineName);
  if (!attribute) {
    return machine;
  }
  auto rates = llvm::dyn_cast<mlir::DictionaryAttr>(attribute);
  if (!rates) {
    return op->emitOpError() << kMachineName << ": expected a dictionary of rates, got " << attribute;
  }
  for (mlir::NamedAttribute rate : rates) {
    if (!setRate(rate, machine)) {
      mlir::InFlightDiagnostic error = op->emitOpError() << kMachineName << ": expected rates of 0 or more, of";
      for (const Rate &known : kRates) {
        error << " " << known.name << ",";
      }
      return error << " or " << kNodeRanks << " of 1 or more, got " << rate.getName().getValue() << " = "
                   << rate.getValue();
    }
  }
  return machine;
}

} // namespace weft::compiler
