#include "tests/sharding/parsed_op.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "ops/register.h"

namespace weft::tests {
namespace {

std::string Join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string Tensor(const std::string& type) { return "tensor<" + type + ">"; }

// The case as a module: its inputs come from one foreign op.
std::string ModuleText(const OpCase& one) {
  std::vector<std::string> names, types, results;
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    names.push_back(std::string("%") + static_cast<char>('a' + i));
    types.push_back(one.results.empty() ? "!weft.any" : Tensor(one.inputs[i].type));
  }
  for (const std::string& type : one.results) results.push_back(Tensor(type));
  std::string text;
  if (!names.empty()) text = Join(names) + " = \"test.values\"() : () -> (" + Join(types) + ")\n";
  text += one.op;
  if (!results.empty()) text += " : (" + Join(types) + ") -> (" + Join(results) + ")";
  return text;
}

}  // namespace

std::unique_ptr<mlir::MLIRContext> MakeContext() {
  mlir::DialectRegistry registry;
  ir::registerWeftDialect(registry);
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->allowUnregisteredDialects();
  return context;
}

mlir::Type TensorType(mlir::MLIRContext& context, const std::string& text) {
  return mlir::parseType(Tensor(text), &context);
}

llvm::LogicalResult InferTypes(mlir::Block& block) {
  for (mlir::Operation& op : block) {
    auto interface = llvm::dyn_cast<ir::WeftOpInterface>(op);
    if (!interface) continue;
    llvm::SmallVector<mlir::RankedTensorType> types;
    if (failed(interface.inferTypes(types))) return mlir::failure();
    if (types.size() != op.getNumResults()) return op.emitOpError("expected another number of results");
    for (auto [result, type] : llvm::zip(op.getResults(), types)) result.setType(type);
  }
  return mlir::success();
}

ParsedOp Parse(mlir::MLIRContext& context, const OpCase& one) {
  ParsedOp parsed;
  parsed.module = mlir::parseSourceString<mlir::ModuleOp>(ModuleText(one), mlir::ParserConfig(&context));
  if (!parsed.module) return parsed;
  mlir::Block& body = *parsed.module->getBody();
  if (!one.inputs.empty()) {
    for (auto [value, input] : llvm::zip(body.front().getResults(), one.inputs)) {
      mlir::Type type = TensorType(context, input.type);
      if (!type) return parsed;
      value.setType(type);
    }
  }
  if (failed(InferTypes(body)) || failed(mlir::verify(*parsed.module))) return parsed;
  parsed.op = &body.back();
  return parsed;
}

}  // namespace weft::tests
