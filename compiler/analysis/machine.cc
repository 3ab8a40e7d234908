#include "compiler/analysis/machine.h"

#include <cmath>
#include <map>

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
    {"graph_launch_s", [](CostModel &m) -> double & { return m.graph_launch_s; }},
    {"node_bytes_s", [](CostModel &m) -> double & { return m.node.bytes_s; }},
    {"node_latency_s", [](CostModel &m) -> double & { return m.node.latency_s; }},
    {"network_bytes_s", [](CostModel &m) -> double & { return m.network.bytes_s; }},
    {"network_latency_s", [](CostModel &m) -> double & { return m.network.latency_s; }},
};
constexpr llvm::StringLiteral kNodeRanks("node_ranks"), kMessages("messages");
constexpr llvm::StringLiteral kProduct("product"), kKernel("kernel"), kCollective("collective"), kNccl("nccl"),
    kTier("tier");

// False for what is no rate.
bool setRate(mlir::NamedAttribute attribute, CostModel &machine) {
  if (attribute.getName() == kNodeRanks) {
    auto ranks = llvm::dyn_cast<mlir::IntegerAttr>(attribute.getValue());
    machine.node_ranks = ranks ? ranks.getInt() : 0;
    return machine.node_ranks > 0;
  }
  if (attribute.getName() == kMessages) {
    machine.messages = llvm::isa<mlir::UnitAttr>(attribute.getValue());
    return machine.messages;
  }
  const Rate *rate = llvm::find_if(kRates, [&](const Rate &known) { return attribute.getName() == known.name; });
  auto number = llvm::dyn_cast<mlir::FloatAttr>(attribute.getValue());
  if (rate == std::end(kRates) || !number) {
    return false;
  }
  rate->of(machine) = number.getValueAsDouble();
  return rate->of(machine) >= 0 && std::isfinite(rate->of(machine));
}

// The tables while the attribute is read.
struct Entries {
  std::vector<plan::ProductRate> products;
  std::vector<plan::KernelRate> kernels;
  std::vector<plan::CollectiveTime> collectives;
};

// `nccl = array<f64: nvlink, nvls_efficiency, net_overhead_s, ll_bytes_s...>`; false for what is something else.
bool setNccl(mlir::NamedAttribute attribute, CostModel &machine) {
  auto numbers = llvm::dyn_cast<mlir::DenseF64ArrayAttr>(attribute.getValue());
  if (attribute.getName() != kNccl || !numbers || numbers.size() != 6) {
    return false;
  }
  llvm::ArrayRef<double> row = numbers;
  machine.nccl = plan::Nccl{row[0] != 0, row[1], row[2], {row[3], row[4], row[5]}};
  return llvm::all_of(row, [](double it) { return it >= 0 && std::isfinite(it); }) &&
         llvm::all_of(row.drop_front(3), [](double it) { return it > 0; });
}

// `tier.disk = array<f64: read_bytes_s, write_bytes_s, latency_s, update_bytes_s>`; false for what is something else.
bool addTier(mlir::NamedAttribute attribute, CostModel &machine) {
  auto [table, of] = attribute.getName().getValue().split('.');
  auto numbers = llvm::dyn_cast<mlir::DenseF64ArrayAttr>(attribute.getValue());
  if (table != kTier || of.empty() || !numbers || numbers.size() != 4) {
    return false;
  }
  llvm::ArrayRef<double> row = numbers;
  machine.tiers.push_back({of.str(), row[0], row[1], row[2], row[3]});
  return llvm::all_of(row, [](double it) { return it >= 0 && std::isfinite(it); }) && row[0] > 0 && row[1] > 0;
}

// False for what is no row of a table.
bool addRows(mlir::NamedAttribute attribute, Entries &entries) {
  auto [table, of] = attribute.getName().getValue().split('.');
  auto numbers = llvm::dyn_cast<mlir::DenseF64ArrayAttr>(attribute.getValue());
  size_t width = table == kKernel ? 3 : 4;
  if (!numbers || of.empty() || numbers.size() % width != 0) {
    return false;
  }
  for (llvm::ArrayRef<double> row = numbers; !row.empty(); row = row.drop_front(width)) {
    auto [kernel, type] = of.split('.');
    if (table == kProduct) {
      bool isWithin = !type.empty();
      entries.products.push_back(
          {(isWithin ? type : kernel).str(), row[0], row[1], row[2], row[3], isWithin ? kernel.str() : ""});
    } else if (table == kKernel) {
      entries.kernels.push_back({kernel.str(), row[0], row[1], row[2], type.str()});
    } else if (table == kCollective) {
      const CollectiveFacts *facts = llvm::find_if(kCollectiveFacts, [&](const auto &it) { return it.name == of; });
      if (facts == std::end(kCollectiveFacts) || !(row[0] >= 1 && row[0] < 1e9) || !(row[1] >= 1 && row[1] < 1e9)) {
        return false;
      }
      entries.collectives.push_back(
          {CollectiveKind(facts - kCollectiveFacts), int64_t(row[0]), int64_t(row[1]), row[2], row[3]});
    } else {
      return false;
    }
  }
  return true;
}

void addTables(const plan::RateTables &tables, mlir::Builder &builder, mlir::NamedAttrList &rates) {
  std::map<std::string, std::vector<double>> rows;
  auto add = [&](llvm::StringRef table, llvm::Twine of, std::initializer_list<double> row) {
    std::vector<double> &all = rows[(table + "." + of).str()];
    all.insert(all.end(), row);
  };
  for (const plan::ProductRate &it : tables.products()) {
    add(kProduct, it.within.empty() ? it.type : it.within + "." + it.type, {it.m, it.n, it.k, it.flops_s});
  }
  for (const plan::KernelRate &it : tables.kernels()) {
    add(kKernel, it.type.empty() ? it.family : it.family + "." + it.type, {it.bytes, it.bytes_s, it.flops_s});
  }
  for (const plan::CollectiveTime &it : tables.collectives()) {
    add(kCollective, NameOf(it.kind), {double(it.on_node), double(it.nodes), it.bytes, it.seconds});
  }
  for (const auto &[name, numbers] : rows) {
    rates.append(name, builder.getDenseF64ArrayAttr(numbers));
  }
}

} // namespace

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
  if (own.messages) {
    rates.append(kMessages, builder.getUnitAttr());
  }
  if (own.nccl) {
    const plan::Nccl &it = *own.nccl;
    rates.append(kNccl, builder.getDenseF64ArrayAttr({double(it.nvlink), it.nvls_efficiency, it.net_overhead_s,
                                                      it.ll_bytes_s[0], it.ll_bytes_s[1], it.ll_bytes_s[2]}));
  }
  for (const plan::TierRates &tier : own.tiers) {
    rates.append((kTier + "." + tier.name).str(), builder.getDenseF64ArrayAttr({tier.read_bytes_s, tier.write_bytes_s,
                                                                                tier.latency_s, tier.update_bytes_s}));
  }
  if (own.tables) {
    addTables(*own.tables, builder, rates);
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
  Entries entries;
  for (mlir::NamedAttribute rate : rates) {
    if (!addRows(rate, entries) && !addTier(rate, machine) && !setNccl(rate, machine) && !setRate(rate, machine)) {
      mlir::InFlightDiagnostic error = op->emitOpError() << kMachineName << ": expected rates of 0 or more, of";
      for (const Rate &known : kRates) {
        error << " " << known.name << ",";
      }
      return error << " or " << kNodeRanks << " of 1 or more, got " << rate.getName().getValue() << " = "
                   << rate.getValue();
    }
  }
  absl::StatusOr<plan::RateTables> tables =
      plan::RateTables::Of(std::move(entries.products), std::move(entries.kernels), std::move(entries.collectives));
  if (!tables.ok()) {
    return op->emitOpError() << kMachineName << ": " << std::string(tables.status().message());
  }
  if (!tables->empty()) {
    machine.tables = std::make_shared<const plan::RateTables>(*std::move(tables));
  }
  return machine;
}

} // namespace weft::compiler
