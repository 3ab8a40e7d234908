// Evaluates a graph on one rank, op by op, with the kernels of a registry: no plan, no memory planning.
#ifndef WEFT_TESTS_SHARDING_INTERPRETER_H_
#define WEFT_TESTS_SHARDING_INTERPRETER_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "llvm/ADT/DenseMap.h"
#include "ops/dialect/weft.h"
#include "tests/support/kernel_testing.h"

namespace weft::tests {

using testing::Values;

// One run of a graph of one micro-batch. Not thread-safe.
class Interpreter {
 public:
  // `registry` must outlive it.
  explicit Interpreter(const KernelRegistry& registry) : registry_(registry) {}

  // Runs every op in order. `named` gives parameters and graph inputs by name. Fails on a name that is missing, an op
  // without kernel, and on what kernels say.
  absl::Status Run(ir::GraphOp graph, const std::map<std::string, Values>& named);

  // What a value of the graph was; it must be one.
  const Values& Of(mlir::Value value) const { return values_.find(value)->second; }

 private:
  absl::Status RunOp(mlir::Operation& op, const std::map<std::string, Values>& named);
  absl::Status RunKernelOf(mlir::Operation& op);
  absl::Status Bind(mlir::Value value, const std::string& name, const std::map<std::string, Values>& named);

  const KernelRegistry& registry_;
  llvm::DenseMap<mlir::Value, Values> values_;
};

}  // namespace weft::tests

#endif  // WEFT_TESTS_SHARDING_INTERPRETER_H_
