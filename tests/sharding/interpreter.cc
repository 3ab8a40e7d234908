#include "tests/sharding/interpreter.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/sharding/kernel_call.h"

namespace weft::tests {

absl::Status Interpreter::Run(ir::GraphOp graph, const std::map<std::string, Values>& named) {
  values_.clear();
  for (auto [name, argument] : llvm::zip(graph.getInputs(), graph.getBody().getArguments())) {
    absl::Status bound = Bind(argument, llvm::cast<mlir::StringAttr>(name).getValue().str(), named);
    if (!bound.ok()) return bound;
  }
  for (mlir::Operation& op : graph.getBody().front()) {
    absl::Status status = RunOp(op, named);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Interpreter::RunOp(mlir::Operation& op, const std::map<std::string, Values>& named) {
  if (auto parameter = llvm::dyn_cast<ir::ParameterOp>(op)) {
    return Bind(parameter.getResult(), parameter.getName().str(), named);
  }
  // The sum over one micro-batch, and a value that lies somewhere, are the value.
  if (llvm::isa<ir::AccumulateOp, ir::ToGlobalOp>(op)) {
    Values copy = Of(op.getOperand(0));
    values_[op.getResult(0)] = std::move(copy);
    return absl::OkStatus();
  }
  if (llvm::isa<ir::MinimizeOp, ir::UpdateOp, ir::OutputOp, ir::AssignOp>(op)) return absl::OkStatus();
  return RunKernelOf(op);
}

absl::Status Interpreter::RunKernelOf(mlir::Operation& op) {
  if (!llvm::isa<ir::WeftOpInterface>(op)) {
    return absl::UnimplementedError(absl::StrCat("no kernel for ", op.getName().getStringRef().str()));
  }
  std::vector<TensorSpec> inputs, outputs;
  std::vector<Values> operands;
  for (mlir::Value operand : op.getOperands()) {
    inputs.push_back(WholeSpec(operand.getType()));
    operands.push_back(Of(operand));
  }
  for (mlir::Type type : op.getResultTypes()) outputs.push_back(WholeSpec(type));
  absl::StatusOr<KernelSpec> spec = SpecOf(&op, std::move(inputs), std::move(outputs), {});
  if (!spec.ok()) return spec.status();
  absl::StatusOr<std::vector<Values>> results = testing::RunKernel(registry_, *spec, operands, {.seed = 11});
  if (!results.ok()) return results.status();
  for (auto [value, result] : llvm::zip(op.getResults(), *results)) values_[value] = std::move(result);
  return absl::OkStatus();
}

absl::Status Interpreter::Bind(mlir::Value value, const std::string& name, const std::map<std::string, Values>& named) {
  const auto it = named.find(name);
  if (it == named.end()) return absl::NotFoundError(absl::StrCat("no values for ", name));
  values_[value] = it->second;
  return absl::OkStatus();
}

}  // namespace weft::tests
