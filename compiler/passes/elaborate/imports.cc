// --weft-elaborate-imports: takes in imported model files.
#include "compiler/passes/elaborate/passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "mlir/IR/AttrTypeSubElements.h"
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
  // `texts`: of files, instead of what is on disk; may be null. `within`: the files that are being taken in already,
  // outermost first.
  Importer(mlir::ModuleOp module, mlir::DictionaryAttr texts, llvm::ArrayRef<std::string> within = {})
      : module(module), texts(texts), open(within.begin(), within.end()) {}

  LogicalResult run() { return run(fileOf(module.getBody()->empty() ? module : &module.getBody()->front())); }

  LogicalResult run(StringRef file) {
    Path main = realPath(file);
    for (mlir::Operation &op : *module.getBody()) {
      if (failed(declare(&op))) {
        return mlir::failure();
      }
    }
    open.push_back(main.str().str());
    done.insert(main);
    return mlir::failure(failed(expand(llvm::to_vector(module.getOps<model::ImportOp>()))) || failed(checkOverrides()));
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
    if (!import.getPrefix() && !done.insert(real).second) {
      return mlir::success();
    }
    auto given = texts ? texts.getAs<mlir::StringAttr>(real) : mlir::StringAttr();
    const absl::StatusOr<std::string> text = given ? given.str() : plan::ReadText(path.str().str());
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
    return import.getPrefix() ? moveIn(*file, import, *import.getPrefix(), path) : moveIn(*file, import, real);
  }

  // ---- names of its own ---------------------------------------------------
  // With all that it imports, under names that begin with `prefix`.
  LogicalResult moveIn(mlir::ModuleOp file, model::ImportOp import, StringRef prefix, StringRef path) {
    auto plain = [](char c) { return llvm::isAlnum(c) || c == '_'; };
    if (prefix.empty() || llvm::isDigit(prefix.front()) || !llvm::all_of(prefix, plain)) {
      return mlir::emitError(import.getLoc())
             << "import \"" << import.getPath() << "\": as: expected letters, digits and _, got \"" << prefix << "\"";
    }
    if (failed(Importer(file, texts, open).run(path))) {
      return mlir::failure();
    }
    rename(file, prefix);
    for (mlir::Operation &op : llvm::make_early_inc_range(*file.getBody())) {
      if (failed(take(&op, import))) {
        return mlir::failure();
      }
    }
    return mlir::success();
  }

  // Puts `prefix` before every name that the file declares, and where it is used: as a layer, or in an expression. A
  // layer's parameters hide names.
  static void rename(mlir::ModuleOp file, StringRef prefix) {
    llvm::StringSet<> declared;
    for (mlir::Operation &op : *file.getBody()) {
      if (auto name = nameOf(&op); name && name.getValue() != "batch") {
        declared.insert(name.getValue());
      }
    }
    for (mlir::Operation &op : *file.getBody()) {
      llvm::StringSet<> hidden;
      if (auto layer = llvm::dyn_cast<model::LayerOp>(op)) {
        for (mlir::StringAttr parameter : layer.getParameters().getAsRange<mlir::StringAttr>()) {
          hidden.insert(parameter.getValue());
        }
      }
      auto full = [&](StringRef name) {
        return (declared.contains(name) && !hidden.contains(name) ? prefix + "." + name : llvm::Twine(name)).str();
      };
      mlir::AttrTypeReplacer replacer;
      replacer.addReplacement([&](mlir::FlatSymbolRefAttr layer) {
        return mlir::FlatSymbolRefAttr::get(layer.getContext(), full(layer.getValue()));
      });
      replacer.addReplacement(
          [&](ir::ExprAttr e) { return ir::ExprAttr::get(e.getContext(), renameWords(e.getText(), full)); });
      replacer.recursivelyReplaceElementsIn(&op, /*replaceAttrs=*/true);
      if (auto name = nameOf(&op); name && name.getValue() != "batch") {
        mlir::SymbolTable::setSymbolName(&op, (prefix + "." + name.getValue()).str());
      }
    }
  }

  // Of an expression: what is no number, state, function or operator in letters is a name.
  static std::string renameWords(StringRef text, llvm::function_ref<std::string(StringRef)> full) {
    std::string renamed;
    while (!text.empty()) {
      auto isLetter = [](char c) { return llvm::isAlpha(c) || c == '_'; };
      if (llvm::isDigit(text.front())) {
        size_t length = text.find_if_not([](char c) { return llvm::isAlnum(c) || c == '.'; });
        renamed += text.take_front(length);
        text = text.drop_front(std::min(length, text.size()));
      } else if (isLetter(text.front())) {
        StringRef word = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
        text = text.drop_front(word.size());
        renamed += text.ltrim().starts_with("(") ? word.str() : full(word);
      } else {
        renamed += text.front();
        text = text.drop_front();
      }
    }
    return renamed;
  }

  LogicalResult moveIn(mlir::ModuleOp file, model::ImportOp import, const std::string &real) {
    llvm::SmallVector<model::ImportOp> nested = llvm::to_vector(file.getOps<model::ImportOp>());
    for (mlir::Operation &op : llvm::make_early_inc_range(*file.getBody())) {
      if (failed(take(&op, import))) {
        return mlir::failure();
      }
    }
    open.push_back(real);
    LogicalResult result = expand(nested);
    open.pop_back();
    return result;
  }

  // ---- declarations -------------------------------------------------------
  static mlir::StringAttr nameOf(mlir::Operation *op) {
    return op->getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName());
  }

  // Moves an imported op here, unless something overrides it.
  LogicalResult take(mlir::Operation *op, model::ImportOp import) {
    if (auto name = nameOf(op)) {
      auto it = names.find(name.getValue());
      auto mine = it == names.end() ? model::LayerOp() : llvm::dyn_cast<model::LayerOp>(it->second);
      if (mine && mine.getOverride() && llvm::isa<model::LayerOp>(op)) {
        mine.removeOverrideAttr(); // it is done, and once is enough
        op->erase();
        return mlir::success();
      }
    }
    if (failed(declare(op))) {
      return mlir::failure();
    }
    op->moveBefore(import);
    return mlir::success();
  }

  LogicalResult declare(mlir::Operation *op) {
    mlir::StringAttr name = nameOf(op);
    if (!name) {
      return mlir::success();
    }
    auto [it, isNew] = names.try_emplace(name.getValue(), op);
    if (isNew) {
      return mlir::success();
    }
    mlir::InFlightDiagnostic error = mlir::emitError(op->getLoc())
                                     << "expected one definition of @" << name.getValue() << ", got another";
    error.attachNote(it->second->getLoc()) << "the first one";
    return error;
  }

  LogicalResult checkOverrides() {
    for (auto layer : module.getOps<model::LayerOp>()) {
      if (layer.getOverride()) {
        return mlir::emitError(layer.getLoc())
               << "override: expected an imported layer @" << layer.getSymName() << ", got none";
      }
    }
    return mlir::success();
  }

  mlir::ModuleOp module;
  mlir::DictionaryAttr texts;
  llvm::SmallVector<std::string> open; // the files being taken in, outermost first
  llvm::StringSet<> done;
  llvm::StringMap<mlir::Operation *> names;
};

struct ElaborateImports : impl::ElaborateImportsBase<ElaborateImports> {
  void runOnOperation() override {
    auto texts = getOperation()->getAttrOfType<mlir::DictionaryAttr>(model::kTextsName);
    getOperation()->removeAttr(model::kTextsName);
    if (failed(Importer(getOperation(), texts).run())) {
      return signalPassFailure();
    }
  }
};

} // namespace
} // namespace weft::compiler
