// A graph from text, for the tests of compiler/analysis.
#ifndef WEFT_TESTS_SUPPORT_ANALYSIS_FIXTURE_H_
#define WEFT_TESTS_SUPPORT_ANALYSIS_FIXTURE_H_

#include <string>

#include "mlir/IR/Diagnostics.h"
#include "tests/support/graph_fixture.h"

namespace weft::compiler {

class AnalysisTest : public ir::GraphFixture {
 protected:
  AnalysisTest()
      : handler(&context, [this](mlir::Diagnostic& diagnostic) {
          said += diagnostic.str();
          return mlir::success();
        }) {}

  // `header` is all between "weft.graph" and the body; the test ends if the text is no valid graph.
  ir::GraphOp graph(const std::string& header, const std::string& body) {
    module = mlir::parseSourceString<mlir::ModuleOp>("weft.graph " + header + " {\n" + body + "\n}", &context);
    EXPECT_TRUE(bool(module)) << said;
    return *module->getBody()->getOps<ir::GraphOp>().begin();
  }

  // The op whose attribute `scope` is this, else that whose result is the parameter of this name.
  mlir::Operation* named(llvm::StringRef name) {
    mlir::Operation* found = nullptr;
    module->walk([&](mlir::Operation* op) {
      auto scope = op->getAttrOfType<mlir::StringAttr>("scope");
      auto parameter = llvm::dyn_cast<ir::ParameterOp>(op);
      if ((scope && scope.getValue() == name) || (parameter && parameter.getName() == name)) {
        found = op;
      }
    });
    EXPECT_NE(found, nullptr) << name.str();
    return found;
  }

  static std::string text(llvm::ArrayRef<ir::SbpState> states) {
    std::string out;
    llvm::raw_string_ostream os(out);
    llvm::interleaveComma(states, os);
    return out;
  }

  std::string said;  // every diagnostic
  mlir::ScopedDiagnosticHandler handler;
};

}  // namespace weft::compiler

#endif  // WEFT_TESTS_SUPPORT_ANALYSIS_FIXTURE_H_
