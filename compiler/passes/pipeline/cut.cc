// --weft-pipeline-cut: which op belongs to which chunk, and on which stage that is.
#include <numeric>

#include "compiler/analysis/cost.h"
#include "compiler/analysis/layer.h"
#include "compiler/analysis/meshes.h"
#include "compiler/passes/pipeline/passes.h"
#include "compiler/schedule/balance.h"
#include "compiler/words/listed.h"
#include "llvm/ADT/MapVector.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PIPELINECUT
#include "compiler/passes/pipeline/Passes.h.inc"
namespace {

using namespace weft::ir;

// The pieces between which the graph may be cut.
struct Piece {
  StringRef name;
  SmallVector<Operation *> ops;
  double seconds = 0;
};

struct PipelineCut : impl::PipelineCutBase<PipelineCut> {
  using PipelineCutBase::PipelineCutBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    pieces_.clear(); // one pass may run over several graphs
    chunkOf_.clear();
    llvm::FailureOr<CostModel> rates = machineOf(graph);
    llvm::FailureOr<SmallVector<PlacementAttr>> meshes = meshesOf(graph);
    if (failed(rates) || failed(meshes)) {
      return signalPassFailure();
    }
    if (chunkCount() == 1 && cuts.empty() && meshes->empty()) {
      return unpin(graph);
    }
    if (graph.getPlacements().size() != 1) {
      graph.emitOpError() << "pipeline: expected a graph on one mesh, got " << graph.getPlacements().size()
                          << " placements";
      return signalPassFailure();
    }
    collect(graph, *rates);
    llvm::FailureOr<SmallVector<size_t>> begins = chooseBegins(graph);
    if (failed(begins)) {
      return signalPassFailure();
    }
    assign(graph, *begins);
    if (failed(place(graph, *meshes))) {
      return signalPassFailure();
    }
    splitInputs(graph);
  }

private:
  int64_t chunkCount() const { return stages * chunks; }

  // One chunk has everything, whatever `model.stage` said.
  static void unpin(GraphOp graph) {
    for (Operation &op : graph.getBody().front()) {
      op.removeAttr("chunk");
    }
  }

  int64_t stageOfChunk(int64_t chunk) const {
    return vShape && chunk >= stages ? 2 * stages - 1 - chunk : chunk % stages;
  }

  // ---- pieces -------------------------------------------------------------
  void collect(GraphOp graph, const CostModel &rates) {
    for (Operation &op : graph.getBody().front()) {
      if (op.getNumOperands() == 0) {
        continue;
      }
      StringRef name = pieceOf(scopeOf(&op));
      // Without a scope, what `model.stage` is before is not inside a layer.
      bool begins = name.empty() ? pieces_.empty() || chunkOf(&op) != chunkOf(pieces_.back().ops[0])
                                 : pieces_.empty() || name != pieces_.back().name;
      if (begins) {
        pieces_.push_back({name, {}, 0});
      }
      pieces_.back().ops.push_back(&op);
      if (auto weftOp = llvm::dyn_cast<WeftOpInterface>(op)) {
        pieces_.back().seconds +=
            plan::KernelSeconds(rates, workOf(weftOp, llvm::map_to_vector(op.getOperands(), tensorOf),
                                              llvm::map_to_vector(op.getResults(), tensorOf)));
      }
    }
  }

  std::string names() const {
    std::vector<std::string> all;
    for (const Piece &piece : pieces_) {
      all.push_back(piece.name.empty() ? "the graph itself" : piece.name.str());
    }
    return Listed(all);
  }

  // The pieces that begin a chunk, the first included.
  llvm::FailureOr<SmallVector<size_t>> chooseBegins(GraphOp graph) {
    if (auto held = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(graph->removeAttr(kChunksName))) {
      return beginsOfHeld(held);
    }
    if (int64_t(pieces_.size()) < chunkCount()) {
      graph.emitOpError() << (chunks > 1 ? "pipeline.chunks: expected at most " : "dist.pipeline: expected at most ")
                          << pieces_.size() << (chunks > 1 ? " chunks" : " stages") << ", as the model may be cut into "
                          << names() << ", got " << int64_t(stages)
                          << (chunks > 1 ? " x " + std::to_string(chunks) : "");
      return mlir::failure();
    }
    if (!cuts.empty()) {
      return beginsOfCuts(graph);
    }
    if (chunkCount() > 1 && llvm::any_of(graph.getBody().front(), [](Operation &op) { return op.hasAttr("chunk"); })) {
      return beginsOfPins(graph);
    }
    std::vector<double> seconds;
    for (const Piece &piece : pieces_) {
      seconds.push_back(piece.seconds);
    }
    std::vector<size_t> begins = schedule::balance(seconds, chunkCount());
    return SmallVector<size_t>(begins.begin(), begins.end());
  }

  // As another graph is cut, whose layers this one has some of: a chunk may be left with none. What the other lacks
  // goes with what is before it.
  SmallVector<size_t> beginsOfHeld(mlir::DictionaryAttr held) {
    SmallVector<size_t> begins = {0};
    for (auto [i, piece] : llvm::enumerate(pieces_)) {
      auto chunk = held.getAs<mlir::IntegerAttr>(piece.name);
      while (chunk && int64_t(begins.size()) <= chunk.getInt()) {
        begins.push_back(i);
      }
    }
    begins.resize(chunkCount(), pieces_.size());
    return begins;
  }

  llvm::FailureOr<SmallVector<size_t>> beginsOfCuts(GraphOp graph) {
    if (int64_t(cuts.size()) != chunkCount() - 1) {
      mlir::InFlightDiagnostic error = graph.emitOpError() << "pipeline.cuts: expected ";
      if (chunkCount() == 1) {
        error << "none where nothing is cut";
      } else {
        error << chunkCount() - 1 << " for " << chunkCount() << " chunks";
      }
      error << ", got " << cuts.size();
      return mlir::failure();
    }
    SmallVector<size_t> begins = {0};
    for (const std::string &cut : cuts) {
      auto at = llvm::find_if(pieces_, [&](const Piece &piece) { return piece.name == cut; });
      if (at == pieces_.end()) {
        StringRef inside = pieceOf(cut);
        bool within = llvm::any_of(pieces_, [&](const Piece &piece) { return piece.name == inside; });
        graph.emitOpError() << "pipeline.cuts: expected a layer, one of " << names() << ", got " << cut
                            << (within ? ", which is inside " + inside.str() : "");
        return mlir::failure();
      }
      if (size_t(at - pieces_.begin()) <= begins.back()) {
        graph.emitOpError() << "pipeline.cuts: expected layers in the order of the model, none the first, got " << cut
                            << " after " << pieces_[begins.back()].name;
        return mlir::failure();
      }
      begins.push_back(at - pieces_.begin());
    }
    return begins;
  }

  // `model.stage` in the model left its number on the ops behind it.
  llvm::FailureOr<SmallVector<size_t>> beginsOfPins(GraphOp graph) {
    SmallVector<size_t> begins = {0};
    for (auto [i, piece] : llvm::enumerate(pieces_)) {
      for (Operation *op : piece.ops) {
        int64_t pin = ir::chunkOf(op), now = int64_t(begins.size()) - 1;
        if (pin == now) {
          continue;
        }
        if (pin != now + 1 || op != piece.ops.front()) {
          return op->emitError() << "model.stage: expected " << now + 1 << " before a layer, got " << pin
                                 << (op != piece.ops.front() ? " inside " + piece.name.str() : "");
        }
        begins.push_back(i);
      }
    }
    if (int64_t(begins.size()) != chunkCount()) {
      graph.emitOpError() << "model.stage: expected the model to begin " << chunkCount() << " stages, got "
                          << begins.size();
      return mlir::failure();
    }
    return begins;
  }

  // ---- places -------------------------------------------------------------
  void assign(GraphOp graph, llvm::ArrayRef<size_t> begins) {
    for (auto [i, piece] : llvm::enumerate(pieces_)) {
      int64_t chunk = llvm::upper_bound(begins, i) - begins.begin() - 1;
      for (Operation *op : piece.ops) {
        chunkOf_[op] = chunk;
      }
    }
    for (Operation &op : llvm::reverse(graph.getBody().front())) {
      if (op.getNumOperands() == 0) {
        std::optional<int64_t> first;
        for (Operation *user : op.getUsers()) {
          first = std::min(first.value_or(chunkOf_[user]), chunkOf_[user]);
        }
        chunkOf_[&op] = first.value_or(0);
      }
    }
    mlir::Builder builder(&getContext());
    auto set = [&](Operation *op, StringRef name, int64_t value) {
      if (value > 0) {
        op->setAttr(name, builder.getI64IntegerAttr(value));
      } else {
        op->removeAttr(name);
      }
    };
    for (auto [op, chunk] : chunkOf_) {
      set(op, "chunk", chunk);
      set(op, "stage", stageOfChunk(chunk));
    }
  }

  // Every stage on ranks of its own, with its own mesh of `meshes` or else that of the graph.
  llvm::LogicalResult place(GraphOp graph, llvm::ArrayRef<PlacementAttr> meshes) {
    if (!meshes.empty() && int64_t(meshes.size()) != stages) {
      return graph.emitOpError() << "pipeline.stages: expected " << int64_t(stages) << " meshes, one a stage, got "
                                 << meshes.size();
    }
    SmallVector<mlir::Attribute> placements;
    int64_t next = 0;
    for (int64_t stage = 0; stage < stages; ++stage) {
      PlacementAttr like = meshes.empty() ? graph.getPlacement(0) : meshes[stage];
      SmallVector<int64_t> ranks(like.getRanks().size());
      std::iota(ranks.begin(), ranks.end(), next);
      next += int64_t(ranks.size());
      placements.push_back(PlacementAttr::get(&getContext(), like.getDevice(), like.getAxes(), like.getSizes(), ranks));
    }
    graph.setPlacementsAttr(mlir::ArrayAttr::get(&getContext(), placements));
    graph->removeAttr(kMeshesName);
    return mlir::success();
  }

  // One argument a stage that reads it.
  void splitInputs(GraphOp graph) {
    mlir::Block &body = graph.getBody().front();
    SmallVector<mlir::Attribute> names;
    SmallVector<int64_t> inputStages;
    unsigned count = body.getNumArguments();
    SmallVector<std::pair<mlir::Attribute, int64_t>> added;
    for (unsigned i = 0; i < count; ++i) {
      mlir::BlockArgument argument = body.getArgument(i);
      llvm::MapVector<int64_t, SmallVector<mlir::OpOperand *>> uses;
      for (mlir::OpOperand &use : argument.getUses()) {
        uses[stageOf(use.getOwner())].push_back(&use);
      }
      SmallVector<int64_t> readers = llvm::to_vector(llvm::make_first_range(uses));
      llvm::sort(readers);
      names.push_back(graph.getInputs()[i]);
      inputStages.push_back(readers.empty() ? 0 : readers[0]);
      for (int64_t stage : readers) {
        if (stage == readers[0]) {
          continue;
        }
        mlir::Value copy = body.addArgument(argument.getType(), argument.getLoc());
        for (mlir::OpOperand *use : uses[stage]) {
          use->set(copy);
        }
        added.push_back({graph.getInputs()[i], stage});
      }
    }
    for (auto [name, stage] : added) {
      names.push_back(name);
      inputStages.push_back(stage);
    }
    graph.setInputsAttr(mlir::ArrayAttr::get(&getContext(), names));
    if (llvm::any_of(inputStages, [](int64_t stage) { return stage > 0; })) {
      graph.setInputStagesAttr(mlir::DenseI64ArrayAttr::get(&getContext(), inputStages));
    }
  }

  SmallVector<Piece> pieces_;
  llvm::MapVector<Operation *, int64_t> chunkOf_;
};

} // namespace
} // namespace weft::compiler
