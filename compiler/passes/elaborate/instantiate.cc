// --weft-elaborate-instantiate: puts layers in the place of calls.
#include "compiler/analysis/layer.h"
#include "compiler/analysis/repeats.h"
#include "compiler/passes/elaborate/expression.h"
#include "compiler/passes/elaborate/passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/xxhash.h"
#include "mlir/IR/IRMapping.h"
#include "ops/dialect/assembly.h"
#include "ops/elementwise/ops.h"

namespace weft::compiler {

#define GEN_PASS_DEF_ELABORATEINSTANTIATE
#include "compiler/passes/elaborate/Passes.h.inc"

namespace {

using mlir::Location;

using Values = llvm::MapVector<StringRef, Attribute>;

// Ops, calls and turns of repeats in one graph; a wrong number would otherwise fill the memory before anyone sees it.
constexpr int64_t kMostPlaced = int64_t(1) << 20;

// What the parameters of a `model.repeat` call its turn, from 0; there it hides other names.
constexpr llvm::StringLiteral kIndex("index");

// A call whose parameters are moving averages of others.
struct Averages {
  std::string own, of;  // scopes: "momentum_encoder", "base_encoder"
  Value momentum, rest; // m, and 1 - m where it has been needed
  bool isUsed = false;
};

// One layer, or the graph, put in one place.
struct Frame : Names {
  explicit Frame(const Values &config) : config(config) {}

  std::optional<Attribute> find(StringRef name) override {
    for (const Values *values : {&std::as_const(parameters), &config}) {
      if (auto it = values->find(name); it != values->end()) {
        return it->second;
      }
    }
    return std::nullopt;
  }

  SmallVector<StringRef> all() override {
    llvm::SetVector<StringRef> names; // a parameter may hide a config of its name
    for (const Values *values : {&std::as_const(parameters), &config}) {
      for (StringRef name : llvm::make_first_range(*values)) {
        names.insert(name);
      }
    }
    return SmallVector<StringRef>(names.getArrayRef());
  }

  // The name of something called `name` in here.
  std::string full(StringRef name) const { return scope.empty() ? name.str() : scope + "." + name.str(); }

  // Where `op` stands, seen from the graph.
  Location at(mlir::Operation *op) const {
    return caller ? mlir::CallSiteLoc::get(op->getLoc(), *caller) : op->getLoc();
  }

  const Values &config;
  Values parameters;
  std::string scope; // "h.0.attn"
  std::optional<Location> caller;
  Averages *averages = nullptr; // of the call that this is in
};

class Instantiator {
public:
  explicit Instantiator(mlir::ModuleOp module) : module(module), builder(module.getContext()) {}

  LogicalResult run(StringRef name) {
    model::GraphOp graph = choose(name);
    if (!graph || failed(readConfig())) {
      return failure();
    }
    Frame frame(config);
    if (failed(evaluateAttributes(graph, frame, graph.getLoc()))) {
      return failure();
    }
    mlir::Block &body = graph.getBody().front();
    SmallVector<mlir::Operation *> written = llvm::map_to_vector(body, [](mlir::Operation &op) { return &op; });
    mlir::IRMapping values;
    for (mlir::BlockArgument argument : body.getArguments()) {
      values.map(argument, argument);
    }
    builder.setInsertionPointToEnd(&body);
    if (failed(place(written, frame, values))) {
      return failure();
    }
    for (mlir::Operation *op : llvm::reverse(written)) {
      op->dropAllUses();
      op->erase();
    }
    for (mlir::Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      if (&op != graph) {
        op.erase();
      }
    }
    return success();
  }

private:
  model::GraphOp choose(StringRef name) {
    SmallVector<model::GraphOp> graphs = llvm::to_vector(module.getOps<model::GraphOp>());
    if (name.empty() && graphs.size() == 1) {
      return graphs.front();
    }
    for (model::GraphOp graph : graphs) {
      if (graph.getSymName() == name) {
        return graph;
      }
    }
    SmallVector<StringRef> names = llvm::map_to_vector(graphs, [](model::GraphOp graph) { return graph.getSymName(); });
    mlir::emitError(module.getLoc()) << "graph: expected "
                                     << (names.empty() ? "a model.graph in the file" : listOf(names)) << ", got "
                                     << (name.empty() ? "none" : name);
    return {};
  }

  LogicalResult readConfig() {
    for (model::ConfigOp op : module.getOps<model::ConfigOp>()) {
      auto expression = llvm::dyn_cast<ir::ExprAttr>(op.getValue());
      if (expression && !ir::parseState(expression.getText())) {
        return mlir::emitError(op.getLoc()) << "config @" << op.getSymName() << ": expected a value, got an expression";
      }
      config.insert({op.getSymName(), op.getValue()});
    }
    return success();
  }

  // Evaluates every expression that `op` holds.
  LogicalResult evaluateAttributes(mlir::Operation *op, Frame &frame, Location loc) {
    for (mlir::StringAttr name : op->getName().getAttributeNames()) {
      Attribute value = op->getAttr(name);
      if (!value) {
        continue;
      }
      auto error = [&] { return mlir::emitError(loc) << "'" << op->getName() << "' op " << name.getValue() << ": "; };
      // All other lists are of extents and dimensions.
      const bool fractions = name == "values";
      Attribute result =
          name == "shapes" ? evaluateShapes(value, frame, error) : evaluateAll(value, frame, error, fractions);
      if (!result) {
        return failure();
      }
      op->setAttr(name, result);
    }
    return success();
  }

  Attribute evaluateShapes(Attribute shapes, Frame &frame, EmitError error) {
    SmallVector<Attribute> results;
    for (Attribute shape : llvm::cast<mlir::ArrayAttr>(shapes)) {
      results.push_back(evaluateAll(shape, frame, error));
      if (!results.back()) {
        return {};
      }
    }
    return builder.getArrayAttr(results);
  }

  // Counts one more op, call or turn that is placed for `op`.
  LogicalResult countPlaced(mlir::Operation *op, Frame &frame) {
    if (++numPlaced <= kMostPlaced) {
      return success();
    }
    return mlir::emitError(frame.at(op)) << "expected at most " << kMostPlaced << " ops and calls in a graph, got more";
  }

  // Puts `ops` at the end of the graph. `values` maps what they use, and then what they yield.
  LogicalResult place(llvm::ArrayRef<mlir::Operation *> ops, Frame &frame, mlir::IRMapping &values) {
    for (mlir::Operation *op : ops) {
      LogicalResult placed = llvm::isa<model::CallOp>(op) ? placeCall(llvm::cast<model::CallOp>(op), frame, values)
                             : llvm::isa<model::RepeatOp>(op)
                                 ? placeRepeat(llvm::cast<model::RepeatOp>(op), frame, values)
                             : llvm::isa<model::StageOp>(op) ? beginStage(llvm::cast<model::StageOp>(op), frame)
                                                             : placeOp(op, frame, values);
      if (failed(placed)) {
        return failure();
      }
    }
    return success();
  }

  LogicalResult placeOp(mlir::Operation *op, Frame &frame, mlir::IRMapping &values) {
    Location loc = frame.at(op);
    if (!llvm::isa_and_nonnull<ir::WeftDialect>(op->getDialect()) || op->getNumRegions()) {
      return mlir::emitError(loc) << "expected an operator of the weft dialect, got " << op->getName();
    }
    if (failed(countPlaced(op, frame))) {
      return failure();
    }
    mlir::Operation *clone = builder.clone(*op, values);
    clone->setLoc(loc);
    if (failed(evaluateAttributes(clone, frame, loc))) {
      return failure();
    }
    if (!frame.scope.empty()) {
      clone->setAttr("scope", builder.getStringAttr(frame.scope));
    }
    if (stage > 0) {
      clone->setAttr("chunk", builder.getI64IntegerAttr(stage));
    }
    if (auto parameter = llvm::dyn_cast<ir::ParameterOp>(clone)) {
      return placeParameter(parameter, op->getResult(0), frame, values);
    }
    setSeed(clone, frame);
    return success();
  }

  // `written` is what the layer calls it.
  LogicalResult placeParameter(ir::ParameterOp parameter, Value written, Frame &frame, mlir::IRMapping &values) {
    if (failed(nameParameter(parameter, frame))) {
      return failure();
    }
    if (parameter.getState()) {
      parameter->setAttr(ir::kOfModelName, builder.getUnitAttr());
      return success();
    }
    return frame.averages ? average(parameter, written, frame, values) : success();
  }

  // Makes a parameter the moving average of that of its name elsewhere, and gives the layer the next one.
  LogicalResult average(ir::ParameterOp parameter, Value written, Frame &frame, mlir::IRMapping &values) {
    Averages &averages = *frame.averages;
    StringRef name = parameter.getName().drop_front(averages.own.size() + 1);
    const std::string of = averages.of.empty() ? name.str() : averages.of + "." + name.str();
    auto known = parameters.find(of);
    if (known == parameters.end()) {
      return mlir::emitError(parameter.getLoc()) << "averages: parameter \"" << parameter.getName() << "\": expected \""
                                                 << of << "\" before it, which it averages, found none";
    }
    ir::ParameterOp source = known->second;
    if (source.getState() || source.getShape() != parameter.getShape()) {
      mlir::InFlightDiagnostic error = mlir::emitError(parameter.getLoc())
                                       << "averages: parameter \"" << parameter.getName() << "\": expected \"" << of
                                       << "\" to be "
                                       << (source.getState() ? "trained, got state" : "of the same shape, got ");
      if (!source.getState()) {
        error << source.getShape() << " for " << parameter.getShape();
      }
      error.attachNote(source.getLoc()) << "what it averages";
      return error;
    }
    parameter.setState(true);
    parameter->setAttr(ir::kOfModelName, builder.getUnitAttr());
    parameter.setSeedAttr(source.getSeedAttr()); // it begins as that does
    parameter.setInitAttr(source.getInit());
    Location loc = parameter.getLoc();
    auto place = [&](auto op) {
      op->setAttr("scope", builder.getStringAttr(frame.scope));
      if (stage > 0) {
        op->setAttr("chunk", builder.getI64IntegerAttr(stage));
      }
      return op;
    };
    mlir::Type any = ir::AnyType::get(builder.getContext());
    auto mul = [&](Value a, Value b) -> Value { return place(builder.create<ir::MulOp>(loc, any, a, b)); };
    if (!averages.rest) {
      Value negated = place(builder.create<ir::NegOp>(loc, any, averages.momentum));
      averages.rest = place(builder.create<ir::AddScalarOp>(loc, any, negated, builder.getF64FloatAttr(1.0)));
    }
    Value still = place(builder.create<ir::StopGradientOp>(loc, any, source.getResult()));
    Value kept = mul(parameter.getResult(), averages.momentum), added = mul(still, averages.rest);
    Value next = place(builder.create<ir::AddOp>(loc, any, kept, added));
    place(builder.create<ir::AssignOp>(loc, parameter.getResult(), next));
    values.map(written, next);
    averages.isUsed = true;
    return success();
  }

  LogicalResult beginStage(model::StageOp op, Frame &frame) {
    auto error = [&] { return mlir::emitError(op.getLoc()) << "stage: "; };
    Attribute value = evaluateAll(op.getNumber(), frame, error);
    if (!value) {
      return failure();
    }
    auto number = llvm::dyn_cast<mlir::IntegerAttr>(value);
    if (!number || number.getInt() != stage + 1) {
      mlir::InFlightDiagnostic wrong = error() << "expected " << stage + 1 << ", the next, got ";
      return number ? wrong << number.getInt() : wrong << value;
    }
    ++stage;
    return success();
  }

  LogicalResult nameParameter(ir::ParameterOp parameter, Frame &frame) {
    std::string name = frame.full(parameter.getName());
    auto [it, isNew] = parameters.try_emplace(name, parameter);
    if (!isNew) {
      mlir::InFlightDiagnostic error = mlir::emitError(parameter.getLoc())
                                       << "parameter \"" << name
                                       << "\": expected distinct names, got it twice; give each "
                                       << "call a scope of its own";
      error.attachNote(it->second.getLoc()) << "the first one";
      return error;
    }
    parameter.setName(name);
    if (!parameter.getSeed()) {
      parameter.setSeed(seedOf("parameter " + name));
    }
    return success();
  }

  // An op that draws random numbers has an attribute `seed`, 0 while it is unset.
  void setSeed(mlir::Operation *op, Frame &frame) {
    mlir::RegisteredOperationName name = *op->getRegisteredInfo();
    if (!llvm::any_of(name.getAttributeNames(), [](mlir::StringAttr attribute) { return attribute == "seed"; })) {
      return;
    }
    std::string key = frame.scope + " " + name.getStringRef().str();
    int64_t index = draws[key]++;
    auto seed = op->getAttrOfType<mlir::IntegerAttr>("seed");
    if (!seed || seed.getInt() == 0) {
      op->setAttr("seed", builder.getI64IntegerAttr(seedOf(key + " " + std::to_string(index))));
    }
  }

  // Above 0, for 0 is unset.
  static int64_t seedOf(StringRef text) {
    return int64_t(llvm::xxh3_64bits(text) & uint64_t(std::numeric_limits<int64_t>::max())) | 1;
  }

  LogicalResult placeCall(model::CallOp call, Frame &frame, mlir::IRMapping &values) {
    SmallVector<Value> operands = llvm::map_to_vector(call.getInputs(), [&](Value v) { return values.lookup(v); });
    if (failed(countPlaced(call, frame))) {
      return failure();
    }
    SmallVector<Value> results;
    std::string scope = call.getScope().value_or("").empty() ? frame.scope : frame.full(*call.getScope());
    Averages averages;
    Averages *const around = frame.averages;
    if (call.getAverages()) {
      if (frame.averages) {
        return mlir::emitError(frame.at(call))
               << "averages: expected none inside averages, got those of \"" << *call.getAverages() << "\"";
      }
      averages = {scope, call.getAverages()->str(), values.lookup(call.getMomentum()), Value(), false};
      frame.averages = &averages;
    }
    LogicalResult placed = instantiate(call, call.getCallee(), call.getParameters(), operands, scope, frame, results);
    frame.averages = around;
    if (failed(placed)) {
      return failure();
    }
    if (call.getAverages() && !averages.isUsed) {
      return mlir::emitError(frame.at(call))
             << "averages: expected a layer with parameters, got none in @" << call.getCallee();
    }
    values.map(call.getResults(), results);
    return success();
  }

  // How often a repeat is placed that the model has `count` times: all of them, unless the module says the most
  // (kMostRepeatsName). Then it is told what was left out. Repeats in layers that repeat are whole.
  int64_t placedOf(model::RepeatOp repeat, const Frame &frame, int64_t count) {
    auto most = module->getAttrOfType<mlir::IntegerAttr>(kMostRepeatsName);
    if (!most || !layerOf(frame.scope).empty() || count <= most.getInt()) {
      return count;
    }
    mlir::NamedAttrList counts(module->getAttrOfType<mlir::DictionaryAttr>(kRepeatsName));
    counts.set(frame.full(repeat.getScope()), builder.getI64IntegerAttr(count));
    module->setAttr(kRepeatsName, counts.getDictionary(module.getContext()));
    return most.getInt();
  }

  LogicalResult placeRepeat(model::RepeatOp repeat, Frame &frame, mlir::IRMapping &values) {
    auto error = [&] { return mlir::emitError(frame.at(repeat)) << "repeat: count: "; };
    Attribute value = evaluateAll(repeat.getCount(), frame, error);
    if (!value) {
      return failure();
    }
    auto count = llvm::dyn_cast<mlir::IntegerAttr>(value);
    if (!count || count.getInt() < 0) {
      return error() << "expected a whole number of 0 or more, got " << value;
    }
    SmallVector<Value> carried = llvm::map_to_vector(repeat.getOperands(), [&](Value v) { return values.lookup(v); });
    Frame turn = frame;
    for (int64_t i = 0, placed = placedOf(repeat, frame, count.getInt()); i < placed; ++i) {
      SmallVector<Value> results;
      turn.parameters[kIndex] = builder.getI64IntegerAttr(i);
      std::string scope = frame.full(repeat.getScope()) + "." + std::to_string(i);
      if (failed(countPlaced(repeat, frame)) ||
          failed(instantiate(repeat, repeat.getCallee(), repeat.getParameters(), carried, scope, turn, results))) {
        return failure();
      }
      llvm::copy(results, carried.begin());
    }
    values.map(repeat.getResults(), llvm::ArrayRef(carried).take_front(repeat.getNumResults()));
    return success();
  }

  // Puts the layer `name` in the place of `call`.
  LogicalResult instantiate(mlir::Operation *call, StringRef name, mlir::ArrayAttr parameters,
                            llvm::ArrayRef<Value> operands, std::string scope, Frame &outer,
                            SmallVector<Value> &results) {
    Location loc = outer.at(call);
    // A parameter that is a layer hides layers of its name.
    if (auto it = outer.parameters.find(name); it != outer.parameters.end()) {
      if (auto given = llvm::dyn_cast<mlir::FlatSymbolRefAttr>(it->second)) {
        name = given.getValue();
      }
    }
    model::LayerOp layer = findLayer(name, loc);
    if (!layer) {
      return failure();
    }
    Frame frame(config);
    frame.scope = std::move(scope);
    frame.caller = loc;
    frame.averages = outer.averages;
    if (failed(checkCall(call, layer, operands.size(), loc)) ||
        failed(bindParameters(layer, parameters, outer, frame, loc))) {
      return failure();
    }
    mlir::IRMapping values;
    mlir::Block &body = layer.getBody().front();
    values.map(body.getArguments(), operands);
    SmallVector<mlir::Operation *> ops =
        llvm::map_to_vector(body.without_terminator(), [](mlir::Operation &op) { return &op; });
    open.push_back(name);
    LogicalResult placed = place(ops, frame, values);
    open.pop_back();
    results = llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value v) { return values.lookupOrNull(v); });
    return placed;
  }

  model::LayerOp findLayer(StringRef name, Location loc) {
    auto layer = symbols.lookupSymbolIn<model::LayerOp>(module, builder.getStringAttr(name));
    if (!layer) {
      SmallVector<StringRef> names;
      for (model::LayerOp known : module.getOps<model::LayerOp>()) {
        names.push_back(known.getSymName());
      }
      mlir::InFlightDiagnostic error = mlir::emitError(loc) << "unknown layer @" << name;
      if (!names.empty()) {
        error << ": expected " << listOf(names);
      }
      return {};
    }
    if (auto first = llvm::find(open, name); first != open.end()) {
      mlir::InFlightDiagnostic error = mlir::emitError(loc) << "layer @" << name << ": expected no recursion, got ";
      for (auto it = first; it != open.end(); ++it) {
        error << *it << " calls ";
      }
      error << name;
      return {};
    }
    if (int(open.size()) == ir::kMaxDepth) {
      mlir::emitError(loc) << "layer @" << name << ": expected at most " << ir::kMaxDepth
                           << " layers that call one another in a row, got more";
      return {};
    }
    return layer;
  }

  LogicalResult checkCall(mlir::Operation *call, model::LayerOp layer, size_t operands, Location loc) {
    auto mismatch = [&](StringRef what, size_t expected, size_t got) {
      mlir::InFlightDiagnostic error = mlir::emitError(loc) << "layer @" << layer.getSymName() << ": " << what
                                                            << ": expected " << expected << ", got " << got;
      error.attachNote(layer.getLoc()) << "the layer";
      return failure();
    };
    if (operands != layer.getInputs().size()) {
      return mismatch("values", layer.getInputs().size(), operands);
    }
    size_t yields = layer.getBody().front().getTerminator()->getNumOperands();
    return yields == call->getNumResults() ? success() : mismatch("results", yields, call->getNumResults());
  }

  LogicalResult bindParameters(model::LayerOp layer, mlir::ArrayAttr given, Frame &outer, Frame &frame, Location loc) {
    SmallVector<StringRef> names = llvm::map_to_vector(layer.getParameters().getAsRange<mlir::StringAttr>(),
                                                       [](mlir::StringAttr name) { return name.getValue(); });
    size_t required = names.size() - layer.getDefaults().size();
    if (given.size() < required || given.size() > names.size()) {
      mlir::InFlightDiagnostic error = mlir::emitError(loc)
                                       << "layer @" << layer.getSymName() << ": parameters: expected ";
      if (required < names.size()) {
        error << required << " to ";
      }
      error << names.size() << (names.empty() ? "" : " (" + llvm::join(names, ", ") + ")") << ", got " << given.size();
      error.attachNote(layer.getLoc()) << "the layer";
      return failure();
    }
    for (auto [i, name] : llvm::enumerate(names)) {
      bool isGiven = i < given.size();
      Location at = isGiven ? loc : mlir::CallSiteLoc::get(layer.getLoc(), loc);
      auto error = [&] { return mlir::emitError(at) << "layer @" << layer.getSymName() << ": " << name << ": "; };
      Attribute value = isGiven ? given[i] : layer.getDefaults()[i - required];
      if (auto expression = llvm::dyn_cast<ir::ExprAttr>(value)) {
        value = evaluate(builder.getContext(), expression.getText(), isGiven ? outer : frame, error);
      }
      if (!value) {
        return failure();
      }
      frame.parameters.insert({name, value});
    }
    return success();
  }

  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  mlir::SymbolTableCollection symbols;
  Values config;
  SmallVector<StringRef> open;                 // layers being instantiated, outermost first
  llvm::StringMap<ir::ParameterOp> parameters; // by their full names
  llvm::StringMap<int64_t> draws;              // random ops seen, by scope and kind
  int64_t numPlaced = 0;                       // see countPlaced
  int64_t stage = 0;                           // that of the last model.stage
};

struct ElaborateInstantiate : impl::ElaborateInstantiateBase<ElaborateInstantiate> {
  using ElaborateInstantiateBase::ElaborateInstantiateBase;

  void runOnOperation() override {
    if (failed(Instantiator(getOperation()).run(graph))) {
      return signalPassFailure();
    }
  }
};

} // namespace
} // namespace weft::compiler
