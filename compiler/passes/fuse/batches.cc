// Updates of many tensors become one kernel.
#include <map>

#include "compiler/codegen/loops.h"
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/fuse/kernels.h"
#include "compiler/passes/fuse/passes.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/IR/IRMapping.h"
#include "ops/cell/cell.h"

namespace weft::compiler {
#define GEN_PASS_DEF_FUSEBATCHES
#include "compiler/passes/fuse/Passes.h.inc"
namespace {

using task::KernelOp;

// What kernels of one batch have in common: the `batch` kernel's text, what they share, and the unit that they run in.
struct Key {
  std::string text;
  SmallVector<Value> shared;
  task::Section section;
  mlir::Attribute phase;
  int64_t chunk;

  bool operator<(const Key &other) const {
    auto tie = [](const Key &key) { return std::tie(key.text, key.section, key.chunk); };
    if (tie(*this) != tie(other)) {
      return tie(*this) < tie(other);
    }
    auto pointers = [](const Key &key) {
      return llvm::map_to_vector(key.shared, [](Value value) { return value.getAsOpaquePointer(); });
    };
    return std::pair(phase.getAsOpaquePointer(), pointers(*this)) <
           std::pair(other.phase.getAsOpaquePointer(), pointers(other));
  }
};

// Kernels in the program's order.
struct Batch {
  cell::KernelOp cell;
  SmallVector<KernelOp> kernels;
};

// Those of a module by what they compute.
using Cells = std::map<std::string, cell::KernelOp>;

class Batches {
public:
  Batches(mlir::SymbolTable &symbols, Cells &cells, task::ProgramOp program)
      : symbols_(symbols), cells_(cells), program_(program),
        builder_(mlir::OpBuilder::atBlockEnd(program->getParentOfType<mlir::ModuleOp>().getBody())) {}

  void run() {
    std::map<Key, size_t> known;
    for (auto kernel : program_.getBody().getOps<KernelOp>()) {
      if (kernel.getSection() != task::Section::Micro && kernel.getCell() && !kernel.getSegments()) {
        add(kernel, known);
      }
    }
    for (Batch &batch : batches_) {
      join(batch, batch.kernels);
    }
  }

  int64_t batched() const { return batched_; }

private:
  static bool isShared(cell::KernelOp cell, unsigned operand) {
    return llvm::all_of(cell.getStridesOf(operand), [](int64_t stride) { return stride == 0; });
  }

  // Whether a kernel does every place of some tensors alike and writes nothing that is there for a part of a step.
  static bool fits(KernelOp kernel, cell::KernelOp cell) {
    std::optional<Loops> loops = loopsOf(cell);
    bool flat = loops && loops->isFlat() && loops->row.extent > 1 && !cell.getBatch() && !kernel.getRandoms();
    // What is on the device for its update alone is so for one parameter after another.
    flat &= llvm::all_of(kernel->getOperands(), [](Value operand) { return task::tierOf(operand).empty(); });
    for (unsigned output = cell.getNumInputs(); flat && output < cell.getStrides().size(); ++output) {
      flat = !isShared(cell, output);
    }
    return flat && llvm::all_of(kernel.getOutputs(), [&](Value output) {
             // A gather of one layer's parameters does not wait for what is made of all others.
             return staysForStep(output) && !isOfCollective(output, kernel.getSection());
           });
  }

  // Whether a buffer has its bytes for the whole of a step, so that it is no loss to write it early.
  static bool staysForStep(Value buffer) {
    return isKept(buffer) ||
           task::rootOf(buffer).getDefiningOp<task::BufferOp>().getKind() == task::BufferKind::Working;
  }

  void add(KernelOp kernel, std::map<Key, size_t> &known) {
    auto cell = symbols_.lookup<cell::KernelOp>(*kernel.getCell());
    if (!fits(kernel, cell)) {
      return;
    }
    cell::KernelOp made = batchOf(cell);
    Key key{cell::textOf(made), {}, kernel.getSection(), kernel->getAttr("phase"), ir::chunkOf(kernel)};
    for (auto [index, input] : llvm::enumerate(kernel.getInputs())) {
      if (isShared(cell, unsigned(index))) {
        key.shared.push_back(input);
      }
    }
    auto [same, isNew] = cells_.try_emplace(key.text, made);
    if (isNew) {
      made.setSymName((cell.getSymName() + "_batch").str());
      symbols_.insert(made);
    } else {
      made.erase();
    }
    auto [it, begins] = known.try_emplace(key, batches_.size());
    if (begins) {
      batches_.push_back({same->second, {}});
    }
    batches_[it->second].kernels.push_back(kernel);
  }

  // The same computation, for tensors of any length: shared inputs first.
  cell::KernelOp batchOf(cell::KernelOp cell) {
    SmallVector<mlir::Attribute> strides;
    mlir::IRMapping map;
    auto made = builder_.create<cell::KernelOp>(cell.getLoc(), "k", ArrayRef<int64_t>(1), 1, builder_.getArrayAttr({}),
                                                /*batch=*/true);
    mlir::Block &block = made.getBody().emplaceBlock();
    for (bool shared : {true, false}) {
      for (mlir::BlockArgument argument : cell.getBody().getArguments()) {
        if (isShared(cell, argument.getArgNumber()) == shared) {
          map.map(argument, block.addArgument(argument.getType(), cell.getLoc()));
          strides.push_back(builder_.getDenseI64ArrayAttr(shared ? 0 : 1));
        }
      }
    }
    strides.append(cell.getNumOutputs(), builder_.getDenseI64ArrayAttr(1));
    made.setStridesAttr(builder_.getArrayAttr(strides));
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(&block);
    for (mlir::Operation &op : cell.getBody().front()) {
      builder_.clone(op, map);
    }
    return made;
  }

  // Makes one kernel of them, or of each half where the whole has no place.
  void join(const Batch &batch, ArrayRef<KernelOp> kernels) {
    if (kernels.size() < 2) {
      return;
    }
    std::string name = KernelOp(kernels[0]).getName().str(), symbol = cell::KernelOp(batch.cell).getSymName().str();
    Fused fused{name, {}, {}, builder_.getDictionaryAttr({})};
    fused.cell = mlir::FlatSymbolRefAttr::get(builder_.getContext(), symbol);
    fused.segments = builder_.getI64IntegerAttr(int64_t(kernels.size()));
    for (bool shared : {true, false}) {
      for (KernelOp kernel : shared ? kernels.take_front() : kernels) {
        auto cell = symbols_.lookup<cell::KernelOp>(*kernel.getCell());
        for (auto [index, input] : llvm::enumerate(kernel.getInputs())) {
          if (isShared(cell, unsigned(index)) == shared) {
            fused.inputs.push_back(input);
          }
        }
      }
    }
    for (KernelOp kernel : kernels) {
      llvm::append_range(fused.outputs, kernel.getOutputs());
    }
    if (areApart(kernels) && fuse(kernels, fused)) {
      batched_ += int64_t(kernels.size());
      return;
    }
    join(batch, kernels.take_front(kernels.size() / 2));
    join(batch, kernels.drop_front(kernels.size() / 2));
  }

  // Whether none reads or writes what another one writes.
  static bool areApart(ArrayRef<KernelOp> kernels) {
    llvm::DenseMap<Value, KernelOp> writers;
    for (KernelOp kernel : kernels) {
      for (Value output : kernel.getOutputs()) {
        if (!writers.try_emplace(task::rootOf(output), kernel).second) {
          return false;
        }
      }
    }
    return llvm::all_of(kernels, [&](KernelOp kernel) {
      return llvm::all_of(kernel.getInputs(), [&](Value input) {
        auto it = writers.find(task::rootOf(input));
        return it == writers.end() || it->second == kernel;
      });
    });
  }

  mlir::SymbolTable &symbols_;
  Cells &cells_;
  task::ProgramOp program_;
  mlir::OpBuilder builder_;
  SmallVector<Batch> batches_;
  int64_t batched_ = 0;
};

struct FuseBatches : impl::FuseBatchesBase<FuseBatches> {
  void runOnOperation() override {
    mlir::SymbolTable symbols(getOperation());
    Cells cells;
    for (auto program : getOperation().getOps<task::ProgramOp>()) {
      Batches batches(symbols, cells, program);
      batches.run();
      numBatched += batches.batched();
    }
    dropUnused();
  }

  // Kernels that nothing runs any more.
  void dropUnused() {
    llvm::DenseSet<mlir::Attribute> used;
    getOperation().walk([&](KernelOp kernel) { used.insert(kernel.getCellAttr()); });
    for (auto cell : llvm::make_early_inc_range(getOperation().getOps<cell::KernelOp>())) {
      if (!used.contains(mlir::FlatSymbolRefAttr::get(cell))) {
        cell.erase();
      }
    }
  }
};

} // namespace
} // namespace weft::compiler
