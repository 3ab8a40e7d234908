// A graph from text, for unit tests of what single ops build.
#ifndef WEFT_TESTS_SUPPORT_GRAPH_FIXTURE_H_
#define WEFT_TESTS_SUPPORT_GRAPH_FIXTURE_H_

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "ops/dialect/weft.h"
#include "ops/register.h"

namespace weft::ir {

/// Owns a context with the whole dialect and one module.
class GraphFixture : public ::testing::Test {
 protected:
  GraphFixture() : context(registry()) {}

  /// Parses `graph @g(inputs)` on one rank; the test ends if it is not valid.
  void parse(const std::string& inputs, const std::string& body) {
    std::string text =
        "weft.graph @g(" + inputs + ") placements [#weft.placement<\"cpu\", [], [0]>] {\n" + body + "\n}";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(bool(module)) << text;
  }

  mlir::Block& body() { return (*module->getBody()->getOps<GraphOp>().begin()).getBody().front(); }
  mlir::Value input(unsigned index) { return body().getArgument(index); }

  /// All ops of one kind, in order.
  template <typename Op>
  std::vector<Op> all() {
    return {body().getOps<Op>().begin(), body().getOps<Op>().end()};
  }
  /// The first of them.
  template <typename Op>
  Op first() {
    return *body().getOps<Op>().begin();
  }

  static std::vector<mlir::Value> operandsOf(mlir::Operation* op) { return {op->operand_begin(), op->operand_end()}; }

  /// The ops of the graph in order, without "weft.".
  std::vector<std::string> names() {
    std::vector<std::string> list;
    for (mlir::Operation& op : body()) {
      list.push_back(op.getName().stripDialect().str());
    }
    return list;
  }

  /// Builds the gradient of `op` at the end of the graph.
  llvm::LogicalResult gradient(DifferentiableOpInterface op, llvm::ArrayRef<mlir::Value> results) {
    mlir::IRRewriter rewriter(&context);
    rewriter.setInsertionPointToEnd(&body());
    operandGradients.clear();
    return op.buildGradient(rewriter, results, operandGradients);
  }

  bool valid() { return succeeded(mlir::verify(*module)); }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<mlir::Value> operandGradients;  // of the last gradient()

 private:
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    registerWeftDialect(registry);
    return registry;
  }
};

}  // namespace weft::ir

#endif  // WEFT_TESTS_SUPPORT_GRAPH_FIXTURE_H_
