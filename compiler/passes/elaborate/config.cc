// --weft-elaborate-config: evaluates the model's configuration.
#include "compiler/passes/elaborate/expression.h"
#include "compiler/passes/elaborate/passes.h"
#include "llvm/ADT/MapVector.h"
#include "ops/dialect/assembly.h"

namespace weft::compiler {

#define GEN_PASS_DEF_ELABORATECONFIG
#include "compiler/passes/elaborate/Passes.h.inc"

namespace {

// Configuration names by name; each is evaluated when it is first asked for.
class Config : public Names {
public:
  explicit Config(mlir::ModuleOp module) {
    for (model::ConfigOp op : module.getOps<model::ConfigOp>()) {
      entries.insert({op.getSymName(), Entry{op, op.getValue()}});
    }
  }

  LogicalResult set(mlir::ModuleOp module, StringRef text) {
    auto [name, expression] = text.split('=');
    name = name.trim();
    if (name.empty() || expression.trim().empty()) {
      return mlir::emitError(module.getLoc()) << "set: expected name=expression, got \"" << text << "\"";
    }
    auto it = entries.find(name);
    if (it == entries.end()) {
      mlir::InFlightDiagnostic error = mlir::emitError(module.getLoc()) << "set: unknown config " << name;
      llvm::SmallVector<StringRef> names = all();
      llvm::erase(names, "batch"); // the job's, and not set this way
      return names.empty() ? error : error << ": expected " << listOf(names);
    }
    it->second.value = ir::ExprAttr::get(module.getContext(), expression.trim());
    it->second.isSet = true;
    return mlir::success();
  }

  LogicalResult evaluateAll() {
    for (auto &[name, entry] : entries) {
      if (!resolve(name, entry)) {
        return mlir::failure();
      }
      entry.op.setValueAttr(entry.value);
    }
    return mlir::success();
  }

  std::optional<Attribute> find(StringRef name) override {
    auto it = entries.find(name);
    return it == entries.end() ? std::nullopt : std::optional<Attribute>(resolve(name, it->second));
  }

  llvm::SmallVector<StringRef> all() override {
    return llvm::map_to_vector(entries, [](auto &entry) { return entry.first; });
  }

private:
  struct Entry {
    model::ConfigOp op;
    Attribute value; // an expression until it is resolved; null after an error
    bool isSet = false;
    bool isResolved = false;
  };

  Attribute resolve(StringRef name, Entry &entry) {
    if (entry.isResolved) {
      return entry.value;
    }
    if (llvm::is_contained(open, name)) {
      mlir::InFlightDiagnostic error = mlir::emitError(entry.op.getLoc())
                                       << "config @" << name << ": expected no cycle, got " << name;
      for (size_t i = llvm::find(open, name) - open.begin() + 1; i < open.size(); ++i) {
        error << " uses " << open[i];
      }
      error << " uses " << name;
      return {};
    }
    if (int(open.size()) == ir::kMaxDepth) {
      mlir::emitError(entry.op.getLoc()) << "config @" << name << ": expected at most " << ir::kMaxDepth
                                         << " configs that use one another in a row, got more";
      return {};
    }
    open.push_back(name);
    if (auto expression = llvm::dyn_cast<ir::ExprAttr>(entry.value)) {
      auto error = [&] {
        return mlir::emitError(entry.op.getLoc()) << (entry.isSet ? "set: " : "config @") << name << ": ";
      };
      entry.value = evaluate(expression.getContext(), expression.getText(), *this, error);
    }
    open.pop_back();
    entry.isResolved = true;
    return entry.value;
  }

  llvm::MapVector<StringRef, Entry> entries;
  llvm::SmallVector<StringRef> open; // being evaluated, outermost first
};

struct ElaborateConfig : impl::ElaborateConfigBase<ElaborateConfig> {
  using ElaborateConfigBase::ElaborateConfigBase;

  void runOnOperation() override {
    declareBatch();
    Config config(getOperation());
    for (const std::string &text : set) {
      if (failed(config.set(getOperation(), text))) {
        return signalPassFailure();
      }
    }
    if (failed(config.evaluateAll())) {
      return signalPassFailure();
    }
  }

  // The job's batch is a config name like others; a file may declare it for use without a job.
  void declareBatch() {
    if (batch == 0) {
      return;
    }
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(getOperation().getBody());
    mlir::IntegerAttr value = builder.getI64IntegerAttr(batch);
    if (auto declared = getOperation().lookupSymbol<model::ConfigOp>("batch")) {
      declared.setValueAttr(value);
    } else {
      builder.create<model::ConfigOp>(builder.getUnknownLoc(), "batch", value);
    }
  }
};

} // namespace
} // namespace weft::compiler
