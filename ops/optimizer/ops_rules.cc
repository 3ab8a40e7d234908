// What jobs call the optimizer's rules, and how their ops are built.
#include "ops/optimizer/ops.h"

namespace weft::ir {
namespace {

// An op is a rule of its own name, whose state is called `<name>_<state>`. What else jobs name is a row; one without a
// flag stands for its op's own name.
const UpdateRule kAdamW = {.name = "adamw",
                           .op = AdamOp::getOperationName(),
                           .state = {"adam_m", "adam_v"},
                           .flag = "decoupled",
                           .sparesVectors = true};
const UpdateRule kLarsOfVectors = {.op = SgdMomentumOp::getOperationName(), .state = {"lars_v"}, .sparesVectors = true};
const UpdateRule kAdafactorOfVectors = {
    .op = AdafactorVectorOp::getOperationName(), .state = {"adafactor_v"}, .sparesVectors = true};

const UpdateRule kRows[] = {
    {.name = "sgd", .op = SgdMomentumOp::getOperationName(), .state = {"momentum"}},
    kAdamW,
    {.name = "lion", .op = LionOp::getOperationName(), .state = {"lion_m"}, .sparesVectors = true},
    {.name = "lamb", .op = LambOp::getOperationName(), .state = {"lamb_m", "lamb_v"}, .sparesVectors = true},
    {.name = "lars", .op = LarsOp::getOperationName(), .state = {"lars_v"}, .ofVectors = &kLarsOfVectors},
    {.name = "adafactor",
     .op = AdafactorOp::getOperationName(),
     .state = {"adafactor_r", "adafactor_c"},
     .ofVectors = &kAdafactorOfVectors},
    {.name = "muon", .op = MuonOp::getOperationName(), .state = {"muon_m"}, .ofVectors = &kAdamW},
};

// Whether a row, or what it has for vectors, says what jobs call the op.
bool isNamed(StringRef op) {
  return llvm::any_of(kRows, [&](const UpdateRule &row) {
    return (row.op == op && row.flag.empty()) ||
           (row.ofVectors && row.ofVectors->op == op && row.ofVectors->flag.empty());
  });
}

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
  if (rule.ofVectors) {
    llvm::append_range(names, interfaceOf(*rule.ofVectors, context).getNumberNames());
  }
  return llvm::all_of(
      numbers, [&](const auto &number) { return number.second == 0 || llvm::is_contained(names, number.first()); });
}

} // namespace

llvm::SmallVector<UpdateRule> updateRules(mlir::MLIRContext *context) {
  llvm::SmallVector<UpdateRule> rules;
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations()) {
    StringRef name = op.stripDialect();
    auto *update = op.getInterface<UpdateOpInterface>();
    if (!update || isNamed(op.getStringRef())) {
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

bool countsSteps(UpdateOpInterface update) { return llvm::isa<AdamOp>(update.getOperation()); }

MatrixView matrixViewOf(ParameterOp parameter) {
  const int64_t batch = parameter.getName().contains('*') ? 1 : 0;
  ArrayRef<int64_t> shape = shapeOf(parameter.getResult());
  SmallVector<int64_t> own = unpaddedShapeOf(parameter.getResult());
  SmallVector<int64_t> stored = parameter.getStored() ? intsOf(*parameter.getStored()) : own;
  if (int64_t(stored.size()) - batch < 2) {
    return {batch, 0};
  }
  // Dimensions that are one row in files; a matrix has one of columns too.
  int64_t rows = 1, extent = own[size_t(batch)];
  while (extent < stored[size_t(batch)] && batch + rows + 1 < int64_t(shape.size())) {
    extent *= own[size_t(batch + rows)];
    ++rows;
  }
  return batch + rows < int64_t(shape.size()) ? MatrixView{batch, rows} : MatrixView{batch, 0};
}

llvm::SmallVector<llvm::SmallVector<int64_t>> stateShapes(const UpdateRule &rule, ParameterOp parameter) {
  const MatrixView view = matrixViewOf(parameter);
  return interfaceOf(rule, parameter.getContext())
      .getStateShapes(shapeOf(parameter.getResult()), view.batch, view.rows);
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
  if (auto parameter = operands[0].getDefiningOp<ParameterOp>()) {
    const MatrixView view = matrixViewOf(parameter);
    for (auto [name, count] : {std::pair<StringRef, int64_t>("batch", view.batch), {"rows", view.rows}}) {
      if (llvm::any_of(state.name.getAttributeNames(), [&](mlir::StringAttr has) { return has == name; })) {
        state.addAttribute(name, builder.getI64IntegerAttr(count));
      }
    }
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

llvm::FailureOr<LearningRateOp> buildLearningRate(mlir::OpBuilder &builder, mlir::Location loc, double lr,
                                                  StringRef schedule, const llvm::StringMap<std::string> &numbers) {
  mlir::OperationState state(loc, LearningRateOp::getOperationName());
  state.addTypes(RankedTensorType::get({}, builder.getF32Type()));
  state.addAttribute("lr", builder.getF64FloatAttr(lr));
  state.addAttribute("schedule", builder.getStringAttr(schedule));
  for (const auto &entry : numbers) {
    StringRef name = entry.first(), text = entry.second;
    SmallVector<StringRef> parts;
    text.split(parts, ';');
    SmallVector<int64_t> integers(parts.size());
    double number = 0;
    if (name == "min_ratio" || name == "power" || name == "factor") {
      if (text.getAsDouble(number)) {
        return mlir::emitError(loc) << name << ": expected a number, got " << text;
      }
      state.addAttribute(name, builder.getF64FloatAttr(number));
      continue;
    }
    for (auto [part, integer] : llvm::zip(parts, integers)) {
      if (part.getAsInteger(10, integer)) {
        return mlir::emitError(loc) << name << ": expected an integer, got " << text;
      }
    }
    if (name == "milestones") {
      state.addAttribute(name, builder.getDenseI64ArrayAttr(integers));
    } else if (integers[0] != 0 || name == "warmup" || name == "total") {
      state.addAttribute(name, builder.getI64IntegerAttr(integers[0]));
    }
  }
  auto rate = llvm::cast<LearningRateOp>(builder.create(state));
  llvm::SmallVector<mlir::RankedTensorType> types;
  return failed(rate.inferTypes(types)) ? llvm::FailureOr<LearningRateOp>(mlir::failure()) : rate;
}

} // namespace weft::ir
