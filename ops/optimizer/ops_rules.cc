// What jobs call the optimizer's rules, and how their ops are built.
#include "ops/optimizer/ops.h"

namespace weft::ir {
namespace {

// One row an op. A job's rule may have several: the first that takes every number which is not 0.
const UpdateRule kRules[] = {
    {.name = "sgd", .op = SgdOp::getOperationName(), .state = {}},
    {.name = "sgd", .op = SgdMomentumOp::getOperationName(), .state = {"momentum"}},
    {.name = "adam", .op = AdamOp::getOperationName(), .state = {"adam_m", "adam_v"}},
    {.name = "adamw",
     .op = AdamOp::getOperationName(),
     .state = {"adam_m", "adam_v"},
     .flag = "decoupled",
     .sparesVectors = true},
};

// A rule whose op is no update cannot be built: that stops here, and not in what it would train.
const UpdateOpInterface::Concept &interfaceOf(const UpdateRule &rule, mlir::MLIRContext *context) {
  auto *found = mlir::OperationName(rule.op, context).getInterface<UpdateOpInterface>();
  if (!found) {
    llvm::report_fatal_error(llvm::Twine(rule.op) + ": expected an op that implements UpdateOpInterface");
  }
  return *found;
}

bool takes(const UpdateRule &rule, mlir::MLIRContext *context, const llvm::StringMap<double> &numbers) {
  auto names = interfaceOf(rule, context).getNumberNames();
  return llvm::all_of(
      numbers, [&](const auto &number) { return number.second == 0 || llvm::is_contained(names, number.first()); });
}

} // namespace

llvm::ArrayRef<UpdateRule> updateRules() { return kRules; }

const UpdateRule *findUpdateRule(mlir::MLIRContext *context, StringRef name, const llvm::StringMap<double> &numbers) {
  const UpdateRule *found =
      llvm::find_if(kRules, [&](const UpdateRule &rule) { return rule.name == name && takes(rule, context, numbers); });
  return found == std::end(kRules) ? nullptr : found;
}

llvm::FailureOr<UpdateOpInterface> buildUpdate(mlir::OpBuilder &builder, mlir::Location loc, const UpdateRule &rule,
                                               const llvm::StringMap<double> &numbers, mlir::ValueRange operands) {
  mlir::OperationState state(loc, rule.op);
  state.addOperands(operands);
  state.types.assign(1 + rule.state.size(), AnyType::get(builder.getContext()));
  if (!rule.flag.empty()) {
    state.addAttribute(rule.flag, builder.getUnitAttr());
  }
  for (StringRef name : interfaceOf(rule, builder.getContext()).getNumberNames()) {
    state.addAttribute(name, builder.getF64FloatAttr(numbers.lookup(name)));
  }
  auto update = llvm::cast<UpdateOpInterface>(builder.create(state));
  llvm::SmallVector<mlir::RankedTensorType> types;
  if (failed(llvm::cast<WeftOpInterface>(update.getOperation()).inferTypes(types))) {
    return mlir::failure();
  }
  for (auto [result, type] : llvm::zip(update->getResults(), types)) {
    result.setType(type);
  }
  return update;
}

} // namespace weft::ir
