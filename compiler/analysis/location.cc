#include "compiler/analysis/location.h"

#include "llvm/Support/Path.h"
#include "mlir/IR/Builders.h"

namespace weft::compiler {
namespace {

constexpr llvm::StringLiteral kJoined = "joined", kApart = "apart";

// The notes of a location of withJoinNotes(); null of others.
mlir::DictionaryAttr noteOf(mlir::Location location) {
  auto fused = llvm::dyn_cast<mlir::FusedLoc>(location);
  auto note = fused ? llvm::dyn_cast_or_null<mlir::DictionaryAttr>(fused.getMetadata()) : mlir::DictionaryAttr();
  return note && (note.contains(kJoined) || note.contains(kApart)) ? note : mlir::DictionaryAttr();
}

} // namespace

std::string describeLocation(mlir::Operation *op) {
  std::string text;
  mlir::Location loc = op->getLoc();
  while (true) {
    if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(loc)) {
      loc = call.getCallee();
    } else if (auto name = llvm::dyn_cast<mlir::NameLoc>(loc)) {
      loc = name.getChildLoc();
    } else if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(loc); fused && !fused.getLocations().empty()) {
      loc = fused.getLocations().front();
    } else {
      break;
    }
  }
  if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(loc)) {
    text = llvm::sys::path::filename(file.getFilename().getValue()).str() + ":" + std::to_string(file.getLine()) + ":" +
           std::to_string(file.getColumn());
  }
  if (llvm::StringRef scope = ir::scopeOf(op); !scope.empty()) {
    text += (text.empty() ? "in " : " in ") + scope.str();
  }
  return text;
}

mlir::Location withJoinNotes(mlir::Location location, const JoinNotes &notes) {
  if (noteOf(location)) {
    location = llvm::cast<mlir::FusedLoc>(location).getLocations().front();
  }
  mlir::Builder b(location.getContext());
  mlir::NamedAttrList note;
  if (!notes.joined.empty()) {
    note.append(kJoined, b.getArrayAttr(llvm::map_to_vector(notes.joined, [&](const JoinedOp &op) -> mlir::Attribute {
      return b.getStrArrayAttr({op.name, op.location});
    })));
  }
  if (!notes.apart.empty()) {
    note.append(kApart, b.getArrayAttr(llvm::map_to_vector(notes.apart, [&](const auto &it) -> mlir::Attribute {
      return b.getArrayAttr({b.getI64IntegerAttr(it.first), b.getStringAttr(it.second)});
    })));
  }
  return note.empty() ? location : mlir::FusedLoc::get(b.getContext(), {location}, note.getDictionary(b.getContext()));
}

JoinNotes joinNotesOf(mlir::Location location) {
  mlir::DictionaryAttr note = noteOf(location);
  auto entriesOf = [&](llvm::StringRef name) {
    auto entries = note ? note.getAs<mlir::ArrayAttr>(name) : mlir::ArrayAttr();
    return (entries ? entries : mlir::ArrayAttr::get(location.getContext(), {})).getAsRange<mlir::ArrayAttr>();
  };
  JoinNotes notes;
  for (mlir::ArrayAttr it : entriesOf(kJoined)) {
    notes.joined.push_back({llvm::cast<mlir::StringAttr>(it[0]).str(), llvm::cast<mlir::StringAttr>(it[1]).str()});
  }
  for (mlir::ArrayAttr it : entriesOf(kApart)) {
    notes.apart.push_back({llvm::cast<mlir::IntegerAttr>(it[0]).getInt(), llvm::cast<mlir::StringAttr>(it[1]).str()});
  }
  return notes;
}

} // namespace weft::compiler
