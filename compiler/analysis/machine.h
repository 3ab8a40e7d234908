// The rates that all costs are computed from: one cost model, in seconds and
// bytes, for inference, boxing and predictions. Its formulas are in
// runtime/plan/cost.h, which the simulator shares.
#ifndef WEFT_COMPILER_ANALYSIS_MACHINE_H_
#define WEFT_COMPILER_ANALYSIS_MACHINE_H_

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include "runtime/plan/cost.h"

namespace weft::compiler {

/// One rank and its links.
struct CostModel : plan::Machine {};

/// The attribute of a graph, and before `elaborate` of the module, that says the rates:
/// `weft.machine = {messages, node_bytes_s = 1.0e+06, node_ranks = 8}`. A rate that it does not name is that of
/// plan::Machine; without `messages`, nodes have rings.
/// Tables stand in it as rows of numbers, so that the graph alone says what the phases decide by:
/// `product.bf16 = array<f64: m, n, k, flops_s, ...>`, `product.attention.bf16` of those within a kernel,
/// `kernel.layer_norm = array<f64: bytes, bytes_s, flops_s, ...>`, `kernel.layer_norm.bf16` of one element type,
/// `collective.all_reduce = array<f64: on_node, nodes, bytes, seconds, ...>`,
/// `tier.disk = array<f64: read_bytes_s, write_bytes_s, latency_s, update_bytes_s>`,
/// `nccl = array<f64: nvlink, nvls_efficiency, net_overhead_s, ll_bytes_s on one node, on two, on more>`.
inline constexpr llvm::StringLiteral kMachineName("weft.machine");

/// The rates of a machine that are not those of plan::Machine; null if all are. The device is not part of it:
/// placements say it.
mlir::DictionaryAttr attributeOf(mlir::MLIRContext *context, const CostModel &machine);

/// Of the attribute of `op`. Emits an error there for what is no rate: another name, a negative number.
llvm::FailureOr<CostModel> machineOf(mlir::Operation *op);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_MACHINE_H_
