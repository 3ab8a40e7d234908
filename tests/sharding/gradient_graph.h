// A graph that minimizes the weighted sum of an op's first result, and its differentiated twin.
#ifndef WEFT_TESTS_SHARDING_GRADIENT_GRAPH_H_
#define WEFT_TESTS_SHARDING_GRADIENT_GRAPH_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "ops/abi/registry.h"
#include "tests/sharding/op_case.h"

namespace weft::tests {

// Floating-point inputs are float32 parameters named a, b, ..., cast where the op takes bfloat16; integer ones are
// inputs of the graph. The weights are drawn by the graph. Not thread-safe.
class GradientGraph {
 public:
  // `context` and `registry` must outlive it.
  GradientGraph(mlir::MLIRContext& context, const KernelRegistry& registry) : context_(context), registry_(registry) {}

  // Builds both graphs; composite ops are decomposed in both, after weft-autodiff has built the gradients of the
  // second. Fails where the passes do.
  absl::Status Build(const OpCase& one);

  // The terms of the loss: the elements of the op's first result, each times its weight. The loss is their sum, which
  // the caller takes in double precision.
  absl::StatusOr<Values> Terms(const std::map<std::string, Values>& inputs) const;

  // What arrives at the update of every parameter; none for a parameter that the loss does not depend on smoothly.
  absl::StatusOr<std::map<std::string, Values>> Gradients(const std::map<std::string, Values>& inputs) const;

 private:
  mlir::MLIRContext& context_;
  const KernelRegistry& registry_;
  mlir::OwningOpRef<mlir::ModuleOp> forward_, both_;
};

}  // namespace weft::tests

#endif  // WEFT_TESTS_SHARDING_GRADIENT_GRAPH_H_
