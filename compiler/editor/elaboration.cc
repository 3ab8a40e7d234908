#include "compiler/editor/elaboration.h"

#include <filesystem>

#include "compiler/analysis/machine.h"
#include "compiler/dialect/model/model.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/diagnostics.h"
#include "compiler/pipeline/model_source.h"
#include "compiler/pipeline/phases.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/IR/Location.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/read_file.h"

namespace weft::editor {
namespace {

using compiler::Phase;
using llvm::StringRef;

// The attribute of a note: the number of the value that it is of.
constexpr llvm::StringLiteral kNoteName("note");

std::string realPath(const std::string &path) {
  std::error_code none;
  return std::filesystem::weakly_canonical(path, none).string();
}

Place placeOf(mlir::FileLineColLoc loc) { return {realPath(loc.getFilename().str()), loc.getLine(), loc.getColumn()}; }

// The places that a location leads through, innermost first.
void addPlaces(mlir::Location loc, std::vector<Place> &places) {
  if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(loc)) {
    places.push_back(placeOf(file));
  } else if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(loc)) {
    addPlaces(call.getCallee(), places);
    addPlaces(call.getCaller(), places);
  } else if (auto name = llvm::dyn_cast<mlir::NameLoc>(loc)) {
    addPlaces(name.getChildLoc(), places);
  } else if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(loc)) {
    addPlaces(fused.getLocations().front(), places);
  }
}

std::vector<Place> placesOf(mlir::Location loc) {
  std::vector<Place> places;
  addPlaces(loc, places);
  return places;
}

std::string textOf(llvm::ArrayRef<int64_t> extents) {
  return "[" + llvm::join(llvm::map_range(extents, [](int64_t n) { return std::to_string(n); }), ",") + "]";
}

// "f32[4,64]"; empty while it is unknown.
std::string textOf(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor) {
    return "";
  }
  std::string element;
  llvm::raw_string_ostream os(element);
  tensor.getElementType().print(os);
  return (element == "i8" ? "u8" : element) + textOf(tensor.getShape());
}

std::string textOf(mlir::Attribute value) {
  if (auto expression = llvm::dyn_cast<ir::ExprAttr>(value)) {
    return expression.getText().str();
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  value.print(os, /*elideType=*/true);
  return text;
}

// "tensor = S(2), data = B".
std::string textOf(mlir::DictionaryAttr pins) {
  return llvm::join(
      llvm::map_range(pins ? pins.getValue() : llvm::ArrayRef<mlir::NamedAttribute>(),
                      [](mlir::NamedAttribute pin) { return pin.getName().str() + " = " + textOf(pin.getValue()); }),
      ", ");
}

// Puts a note behind every value of layers and graphs. A note is an output: an op of no results that nothing but
// inference looks at, which goes with the layer wherever that is put.
void addNotes(mlir::ModuleOp module) {
  mlir::OpBuilder builder(module.getContext());
  auto note = [&](mlir::Value value, unsigned number) {
    auto op = builder.create<ir::OutputOp>(value.getLoc(), builder.getStringAttr(""), mlir::UnitAttr(), value);
    op->setAttr(kNoteName, builder.getI64IntegerAttr(number));
  };
  for (mlir::Operation &symbol : *module.getBody()) {
    if (!llvm::isa<model::LayerOp, model::GraphOp>(symbol)) {
      continue;
    }
    mlir::Block &body = symbol.getRegion(0).front();
    for (mlir::Operation &op : llvm::make_early_inc_range(body)) {
      builder.setInsertionPointAfter(&op);
      for (mlir::OpResult result : op.getResults()) {
        note(result, result.getResultNumber());
      }
    }
    builder.setInsertionPointToStart(&body);
    for (mlir::BlockArgument argument : body.getArguments()) {
      note(argument, argument.getArgNumber());
    }
  }
}

// The value that an instance is, found again in later phases: the op that yields it, or an input, and which result.
struct Origin {
  std::vector<Place> places;
  std::string op;
  unsigned number;

  auto operator<=>(const Origin &) const = default;
};

Origin originOf(mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  const unsigned number =
      op ? llvm::cast<mlir::OpResult>(value).getResultNumber() : llvm::cast<mlir::BlockArgument>(value).getArgNumber();
  return {placesOf(value.getLoc()), op ? op->getName().getStringRef().str() : "input", number};
}

// Each instance that was read, and what it is.
struct Traced {
  ValueAt at;
  size_t index;
  Origin origin;
};

// Reads the notes and takes them out.
class Notes {
public:
  Notes(mlir::ModuleOp module, const std::string &graph, Elaboration &into, std::vector<Traced> &traced)
      : module(module), graph(graph), into(into), traced(traced) {}

  void read() {
    module.walk([&](mlir::Operation *op) {
      if (auto parameter = llvm::dyn_cast<ir::ParameterOp>(op)) {
        add(parameter);
      } else if (op->hasAttr(kNoteName)) {
        add(llvm::cast<ir::OutputOp>(op));
      }
    });
    for (ir::OutputOp note : notes) {
      note.erase();
    }
  }

private:
  Instance instanceOf(mlir::Operation *op) const {
    auto scope = op->getAttrOfType<mlir::StringAttr>("scope");
    return {graph, scope ? scope.str() : "", "", "", "", "", ""};
  }

  // What a parameter has beside its type; the type is that of its note, which knows what became of it.
  void add(ir::ParameterOp op) {
    Instance instance = instanceOf(op);
    instance.parameter = op.getName().str();
    if (op.getStored()) {
      instance.stored = textOf(ir::intsOf(*op.getStored()));
    }
    instance.sbp = textOf(op.getPinsAttr());
    parameters[{placesOf(op->getLoc()), instance.scope}] = instance;
  }

  void add(ir::OutputOp op) {
    notes.push_back(op);
    const std::vector<Place> places = placesOf(op->getLoc());
    Instance instance = instanceOf(op);
    if (auto it = parameters.find({places, instance.scope}); it != parameters.end()) {
      instance = it->second;
    }
    instance.type = textOf(op.getValue().getType());
    if (!places.empty() && !instance.type.empty()) {
      const int number = int(op->getAttrOfType<mlir::IntegerAttr>(kNoteName).getInt());
      const ValueAt at{places.front(), number};
      std::vector<Instance> &instances = into.values[at];
      traced.push_back({at, instances.size(), originOf(op.getValue())});
      instances.push_back(instance);
    }
  }

  mlir::ModuleOp module;
  const std::string graph;
  Elaboration &into;
  std::vector<Traced> &traced;
  std::map<std::pair<std::vector<Place>, std::string>, Instance> parameters;
  std::vector<ir::OutputOp> notes;
};

// Looks at the module between the passes of elaborate.
class Watch : public mlir::PassInstrumentation {
public:
  Watch(std::string graph, Elaboration &into, std::vector<Traced> &traced)
      : graph(std::move(graph)), into(into), traced(traced) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    auto module = llvm::dyn_cast<mlir::ModuleOp>(op);
    if (!module) {
      return;
    }
    if (pass->getArgument() == "weft-elaborate-imports") {
      addNotes(module);
    } else if (pass->getArgument() == "weft-elaborate-config") {
      for (model::ConfigOp config : module.getOps<model::ConfigOp>()) {
        into.configuration[config.getSymName().str()] = textOf(config.getValue());
      }
    } else if (pass->getArgument() == "weft-elaborate-infer") {
      Notes(module, graph, into, traced).read();
    }
  }

  // What was inferred before the op that is wrong.
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *op) override {
    if (pass->getArgument() == "weft-elaborate-infer") {
      Notes(llvm::cast<mlir::ModuleOp>(op), graph, into, traced).read();
    }
  }

private:
  const std::string graph;
  Elaboration &into;
  std::vector<Traced> &traced;
};

// How the values of the forward lie over the mesh, behind `shard`.
std::map<Origin, std::string> layoutsOf(mlir::ModuleOp module) {
  std::map<Origin, std::string> layouts;
  for (ir::GraphOp graph : module.getOps<ir::GraphOp>()) {
    auto add = [&](mlir::Value value) {
      const ir::SbpAttr sbp = ir::sbpOf(value.getType());
      if (!sbp) {
        return;
      }
      std::string layout;
      llvm::raw_string_ostream os(layout);
      llvm::interleave(
          llvm::zip(graph.getPlacement(ir::stageOf(value)).getAxes(), sbp.getStates()), os,
          [&](auto axis) { os << std::get<0>(axis).getValue() << " = " << std::get<1>(axis); }, ", ");
      layouts.try_emplace(originOf(value), layout);
    };
    llvm::for_each(graph.getBody().getArguments(), add);
    for (mlir::Operation &op : graph.getBody().front()) {
      if (ir::phaseOf(&op) == ir::OpPhase::Forward) {
        llvm::for_each(op.getResults(), add);
      }
    }
  }
  return layouts;
}

class Elaborator {
public:
  Elaborator(const Job &job, const Unsaved &unsaved)
      : job(job), unsaved(unsaved), context(compiler::makeModelContext()), file(realPath(job.model().file())),
        handler(context.get(), [this](mlir::Diagnostic &diagnostic) { return take(diagnostic); }) {}

  Elaboration run() {
    const absl::StatusOr<std::string> text = textOfFile(file);
    if (!text.ok()) {
      result.problems.push_back({{file}, std::string(text.status().message()), {}});
      return std::move(result);
    }
    module = mlir::parseSourceString<mlir::ModuleOp>(*text, mlir::ParserConfig(context.get()), file);
    finish();
    if (!module) {
      return std::move(result);
    }
    giveTexts();
    const absl::StatusOr<Cluster> cluster = LoadCluster(job.cluster());
    if (!cluster.ok()) {
      result.problems.push_back({{file}, std::string(cluster.status().message()), {}});
      return std::move(result);
    }
    std::vector<std::string> graphs;
    for (model::GraphOp graph : module->getOps<model::GraphOp>()) {
      graphs.push_back(graph.getSymName().str());
    }
    for (const std::string &graph : graphs) {
      elaborate(graph, *cluster);
    }
    if (graphs.empty()) {
      import();
    }
    return std::move(result);
  }

private:
  absl::StatusOr<std::string> textOfFile(const std::string &path) const { // a real path
    auto it = unsaved.find(path);
    return it == unsaved.end() ? plan::ReadText(path) : it->second;
  }

  void giveTexts() {
    mlir::Builder builder(context.get());
    mlir::NamedAttrList texts;
    for (const auto &[path, text] : unsaved) {
      texts.append(path, builder.getStringAttr(text));
    }
    (*module)->setAttr(model::kTextsName, texts.getDictionary(context.get()));
  }

  // What the job asks of one graph; of those that it does not name, nothing but the model's numbers.
  Job jobOf(const std::string &graph) const {
    Job one = job;
    if (graph != job.model().graph()) {
      one.clear_dist();
      one.clear_pipeline();
      one.mutable_graph()->clear_pin();
      ResolveJob(&one);
    }
    one.mutable_model()->set_graph(graph);
    one.clear_generate();
    return one;
  }

  void elaborate(const std::string &graph, const Cluster &cluster) {
    mlir::OwningOpRef<mlir::ModuleOp> copy(module->clone());
    const Job one = jobOf(graph);
    compiler::setInputs(*copy, one, compiler::CostModel{plan::MachineOf(cluster)});
    mlir::PassManager manager(context.get());
    std::vector<Traced> traced;
    manager.addInstrumentation(std::make_unique<Watch>(graph, result, traced));
    compiler::buildPhase(manager, Phase::Elaborate, one);
    if (succeeded(manager.run(*copy))) {
      result.graphs.push_back(graph);
      if (graph == job.model().graph()) {
        layOut(*copy, one, traced);
      }
    }
    finish();
  }

  // On with the module behind `elaborate`, as far as layouts are known. One rank has none.
  void layOut(mlir::ModuleOp copy, const Job &one, const std::vector<Traced> &traced) {
    const bool hasRanks = llvm::any_of(copy.getOps<ir::GraphOp>(),
                                       [](ir::GraphOp graph) { return !graph.getPlacement(0).getAxes().empty(); });
    if (!hasRanks) {
      return;
    }
    for (Phase phase : compiler::allPhases()) {
      mlir::PassManager manager(context.get());
      if (phase != Phase::Elaborate) {
        compiler::buildPhase(manager, phase, one);
      }
      if (failed(manager.run(copy))) {
        return;
      }
      if (phase == Phase::Shard) {
        break;
      }
    }
    const std::map<Origin, std::string> layouts = layoutsOf(copy);
    for (const Traced &value : traced) {
      if (auto it = layouts.find(value.origin); it != layouts.end()) {
        result.values[value.at][value.index].layout = it->second;
      }
    }
  }

  // A file of layers alone: whether its imports are there.
  void import() {
    mlir::OwningOpRef<mlir::ModuleOp> copy(module->clone());
    mlir::PassManager manager(context.get());
    compiler::buildImports(manager);
    (void)manager.run(*copy);
    finish();
  }

  llvm::LogicalResult take(mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) {
      return mlir::success();
    }
    Problem problem{{}, diagnostic.str(), {}};
    const std::vector<Place> places = placesOf(diagnostic.getLocation());
    problem.place = places.empty() ? Place{file} : places.front();
    problem.text = inOurWords(problem);
    for (mlir::Diagnostic &note : diagnostic.getNotes()) {
      const std::vector<Place> there = placesOf(note.getLocation());
      if (!there.empty()) {
        problem.notes.push_back({there.front(), note.str()});
      }
    }
    for (size_t i = 1; i < places.size(); ++i) {
      problem.notes.push_back({places[i], "called from here"});
    }
    pending.push_back(problem);
    return mlir::success();
  }

  std::string inOurWords(const Problem &problem) const {
    const absl::StatusOr<std::string> text = textOfFile(problem.place.file);
    StringRef rest = text.ok() ? StringRef(*text) : "";
    for (unsigned line = 1; line < problem.place.line; ++line) {
      rest = rest.split('\n').second;
    }
    rest = rest.split('\n').first.drop_front(
        std::min<size_t>(std::max(1u, problem.place.column) - 1, rest.split('\n').first.size()));
    const std::string ours = compiler::inOurWords(problem.text, rest.ltrim(), context.get());
    return ours.empty() ? problem.text : ours;
  }

  // Keeps the first error of what just ran: the others are mostly its consequences. Of a file that does not parse, the
  // import is the second one, and tells where it was asked for.
  void finish() {
    if (!pending.empty()) {
      Problem first = pending.front();
      for (size_t i = 1; i < pending.size(); ++i) {
        if (!first.touches(file) && pending[i].place.file == file) {
          first.notes.push_back({pending[i].place, "imported from here"});
        }
      }
      const bool isKnown = llvm::any_of(result.problems, [&](const Problem &problem) {
        return problem.place == first.place && problem.text == first.text;
      });
      if (!isKnown) {
        result.problems.push_back(first);
      }
    }
    pending.clear();
  }

  const Job &job;
  const Unsaved &unsaved;
  const std::unique_ptr<mlir::MLIRContext> context;
  const std::string file;
  Elaboration result;
  std::vector<Problem> pending;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace

bool Problem::touches(const std::string &file) const {
  return place.file == file || llvm::any_of(notes, [&](const Note &note) { return note.place.file == file; });
}

Elaboration elaborated(const Job &job, const Unsaved &unsaved) { return Elaborator(job, unsaved).run(); }

} // namespace weft::editor
