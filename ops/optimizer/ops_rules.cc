// What jobs call the optimizer's rules, and how their ops are built.
#include "ops/optimizer/ops.h"

namespace weft::ir {
namespace {

// An op is a rule of its own name, whose state is called `<name>_<state>`. What else jobs name is a row; one without a
// flag stands for its op's own name.
const UpdateRule kRows[] = {
    {.name = "sgd", .op = SgdMomentumOp::getOperationName(), .state = {"momentum"}},
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

llvm::SmallVector<UpdateRule> updateRules(mlir::MLIRContext *context) {
  llvm::SmallVector<UpdateRule> rules;
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations()) {
    StringRef name = op.stripDialect();
    auto *update = op.getInterface<UpdateOpInterface>();
    if (!update ||
        llvm::any_of(kRows, [&](const UpdateRule &row) { return row.op == op.getStringRef() && row.flag.empty(); })) {
      continue;
    }
    rules.push_back({.name = name, .op = op.getStringRef()});
    for (StringRef kept : update->getStateNames()) {
      rules.back().state.push_back((name + "_" + kept).str());
    }
  }
  rules.append(std::begin(kRows), std::end(kRows));
  return rules;
}

// The first that takes every number which is not 0: of sgd, that without momentum where that does.
std::optional<UpdateRule> findUpdateRule(mlir::MLIRContext *context, StringRef name,
                                         const llvm::StringMap<double> &numbers) {
  for (UpdateRule &rule : updateRules(context)) {
    if (rule.name == name && takes(rule, context, numbers)) {
      return std::move(rule);
    }
  }
  return std::nullopt;
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
