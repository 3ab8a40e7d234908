#include "tests/sharding/gradient_graph.h"

#include <mutex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/pipeline/phases.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "tests/sharding/interpreter.h"
#include "tests/sharding/kernel_call.h"
#include "tests/sharding/parsed_op.h"

namespace weft::tests {
namespace {

std::string Shape(mlir::RankedTensorType type) {
  std::string text;
  for (int64_t extent : type.getShape()) absl::StrAppend(&text, text.empty() ? "" : ", ", extent);
  return "[" + text + "]";
}

bool IsParameter(mlir::RankedTensorType type) { return llvm::isa<mlir::FloatType>(type.getElementType()); }

// The graph without types: `op` as parsed tells the shapes.
std::string GraphText(const OpCase& one, mlir::Operation* op) {
  std::string inputs, body;
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    const auto type = llvm::cast<mlir::RankedTensorType>(op->getOperand(static_cast<unsigned>(i)).getType());
    if (IsParameter(type)) {
      const bool narrow = !type.getElementType().isF32();
      absl::StrAppend(&body, "%", name, narrow ? "_wide" : "", " = weft.parameter \"", name, "\" ", Shape(type),
                      " init(zeros)\n");
      if (narrow) absl::StrAppend(&body, "%", name, " = weft.cast %", name, "_wide to bf16\n");
    } else {
      absl::StrAppend(&inputs, inputs.empty() ? "" : ", ", "\"", name, "\" %", name, ": !weft.any");
    }
  }
  const auto result = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  std::string all;
  for (int64_t d = 0; d < result.getRank(); ++d) absl::StrAppend(&all, d == 0 ? "" : ", ", d);
  absl::StrAppend(&body, "%y:", op->getNumResults(), " = ", one.op, "\n");
  const bool narrow = !result.getElementType().isF32();
  if (narrow) absl::StrAppend(&body, "%f = weft.cast %y#0 to f32\n");
  absl::StrAppend(&body, "%w = weft.random_uniform ", Shape(result), " low(0.5) high(1.5) seed(3)\n");
  absl::StrAppend(&body, "%m = weft.mul ", narrow ? "%f" : "%y#0", ", %w\n%l = weft.reduce sum %m over [", all,
                  "]\nweft.minimize %l\n");
  return absl::StrCat("weft.graph @g(", inputs, ") placements [#weft.placement<\"cpu\", [], [0]>] {\n", body, "}\n");
}

ir::GraphOp GraphOf(mlir::ModuleOp module) { return *module.getOps<ir::GraphOp>().begin(); }

absl::Status RunPasses(mlir::ModuleOp module, const std::string& passes) {
  static std::once_flag registered;
  std::call_once(registered, compiler::registerPasses);
  mlir::PassManager manager(module.getContext());
  if (failed(mlir::parsePassPipeline("weft.graph(" + passes + ")", manager))) {
    return absl::InternalError(absl::StrCat(passes, ": not known"));
  }
  manager.addNestedPass<ir::GraphOp>(mlir::createCSEPass());
  return failed(manager.run(module)) ? absl::InternalError(absl::StrCat(passes, ": failed")) : absl::OkStatus();
}

}  // namespace

absl::Status GradientGraph::Build(const OpCase& one) {
  const ParsedOp parsed = Parse(context_, one);
  if (!parsed.op) return absl::InternalError("the op does not parse");
  // Inputs get their types below, so that nothing is verified before.
  const std::string text = GraphText(one, parsed.op);
  forward_ = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context_, /*verifyAfterParse=*/false));
  if (!forward_) return absl::InternalError(absl::StrCat("the graph does not parse: ", text));
  mlir::Block& body = GraphOf(*forward_).getBody().front();
  unsigned input = 0;
  for (mlir::Value operand : parsed.op->getOperands()) {
    if (!IsParameter(ir::tensorOf(operand))) body.getArgument(input++).setType(operand.getType());
  }
  if (failed(InferTypes(body)) || failed(mlir::verify(*forward_))) return absl::InternalError("the types do not fit");
  both_ = forward_->clone();
  absl::Status decomposed = RunPasses(*forward_, "weft-autodiff-decompose");
  return decomposed.ok() ? RunPasses(*both_, "weft-autodiff,weft-autodiff-decompose") : decomposed;
}

absl::StatusOr<Values> GradientGraph::Terms(const std::map<std::string, Values>& inputs) const {
  Interpreter interpreter(registry_);
  ir::GraphOp graph = GraphOf(*forward_);
  if (absl::Status status = interpreter.Run(graph, inputs); !status.ok()) return status;
  ir::MinimizeOp minimize = *graph.getBody().getOps<ir::MinimizeOp>().begin();
  return interpreter.Of(minimize.getLoss().getDefiningOp()->getOperand(0));
}

absl::StatusOr<std::map<std::string, Values>> GradientGraph::Gradients(
    const std::map<std::string, Values>& inputs) const {
  Interpreter interpreter(registry_);
  ir::GraphOp graph = GraphOf(*both_);
  if (absl::Status status = interpreter.Run(graph, inputs); !status.ok()) return status;
  std::map<std::string, Values> gradients;
  for (ir::UpdateOp update : graph.getBody().getOps<ir::UpdateOp>()) {
    auto parameter = update.getParameter().getDefiningOp<ir::ParameterOp>();
    gradients[parameter.getName().str()] = interpreter.Of(update.getGradient());
  }
  return gradients;
}

}  // namespace weft::tests
