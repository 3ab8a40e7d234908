// --weft-elaborate-imports: takes in imported model files.
#include "compiler/passes/elaborate/passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "mlir/Parser/Parser.h"
#include "runtime/plan/read_file.h"

namespace weft::compiler {

#define GEN_PASS_DEF_ELABORATEIMPORTS
#include "compiler/passes/elaborate/Passes.h.inc"

namespace {

using Path = llvm::SmallString<128>;

// The file that `op` stands in; empty if the text came from elsewhere.
StringRef fileOf(mlir::Operation *op) {
  auto loc = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>();
  return loc ? loc.getFilename().getValue() : StringRef();
}

class Importer {
public:
  explicit Importer(mlir::ModuleOp module) : module(module) {}

  LogicalResult run() {
    Path main = realPath(fileOf(module.getBody()->empty() ? module : &module.getBody()->front()));
    for (mlir::Operation &op : *module.getBody()) {
      if (failed(declare(&op))) {
        return mlir::failure();
      }
    }
    open.push_back(main.str().str());
    done.insert(main);
    return expand(llvm::to_vector(module.getOps<model::ImportOp>()));
  }

private:
  // The same for every way to write the path of one file.
  static Path realPath(StringRef path) {
    Path real;
    if (llvm::sys::fs::real_path(path, real)) {
      real = path;
    }
    return real;
  }

  LogicalResult expand(llvm::ArrayRef<model::ImportOp> imports) {
    for (model::ImportOp import : imports) {
      if (failed(expand(import))) {
        return mlir::failure();
      }
      import.erase();
    }
    return mlir::success();
  }

  LogicalResult expand(model::ImportOp import) {
    Path path = import.getPath();
    if (llvm::sys::path::is_relative(path)) {
      path = llvm::sys::path::parent_path(fileOf(import));
      llvm::sys::path::append(path, import.getPath());
    }
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (!llvm::sys::fs::is_regular_file(path)) {
      return mlir::emitError(import.getLoc())
             << "import \"" << import.getPath() << "\": expected a file, found none at " << path;
    }
    std::string real = realPath(path).str().str();
    if (llvm::is_contained(open, real)) {
      mlir::InFlightDiagnostic error = mlir::emitError(import.getLoc())
                                       << "import \"" << import.getPath() << "\": expected no cycle";
      auto first = llvm::find(open, real);
      for (auto it = first; it != open.end(); ++it) {
        error << (it == first ? ", got " : " imports ") << llvm::sys::path::filename(*it);
      }
      return error << " imports " << llvm::sys::path::filename(real);
    }
    if (!done.insert(real).second) {
      return mlir::success();
    }
    const absl::StatusOr<std::string> text = plan::ReadText(path.str().str());
    if (!text.ok()) {
      return mlir::emitError(import.getLoc())
             << "import \"" << import.getPath() << "\": " << std::string(text.status().message());
    }
    mlir::OwningOpRef<mlir::ModuleOp> file =
        mlir::parseSourceString<mlir::ModuleOp>(*text, mlir::ParserConfig(import.getContext()), path);
    if (!file) {
      return mlir::emitError(import.getLoc())
             << "import \"" << import.getPath() << "\": expected a model file, got one "
             << "that does not parse";
    }
    return moveIn(*file, import, real);
  }

  LogicalResult moveIn(mlir::ModuleOp file, model::ImportOp import, const std::string &real) {
    llvm::SmallVector<model::ImportOp> nested = llvm::to_vector(file.getOps<model::ImportOp>());
    for (mlir::Operation &op : llvm::make_early_inc_range(*file.getBody())) {
      if (failed(declare(&op))) {
        return mlir::failure();
      }
      op.moveBefore(import);
    }
    open.push_back(real);
    LogicalResult result = expand(nested);
    open.pop_back();
    return result;
  }

  LogicalResult declare(mlir::Operation *op) {
    auto name = op->getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName());
    if (!name) {
      return mlir::success();
    }
    auto [it, isNew] = names.try_emplace(name.getValue(), op->getLoc());
    if (isNew) {
      return mlir::success();
    }
    mlir::InFlightDiagnostic error = mlir::emitError(op->getLoc())
                                     << "expected one definition of @" << name.getValue() << ", got another";
    error.attachNote(it->second) << "the first one";
    return error;
  }

  mlir::ModuleOp module;
  llvm::SmallVector<std::string> open; // the files being taken in, outermost first
  llvm::StringSet<> done;
  llvm::StringMap<mlir::Location> names;
};

struct ElaborateImports : impl::ElaborateImportsBase<ElaborateImports> {
  void runOnOperation() override {
    if (failed(Importer(getOperation()).run())) {
      return signalPassFailure();
    }
  }
};

} // namespace
} // namespace weft::compiler
