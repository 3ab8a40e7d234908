// Updates of many tensors become one kernel.
#include <map>

#include "compiler/analysis/location.h"
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

// What kernels of one batch have in common: the `batch` kernel, what they share, and the unit that they run in.
struct Key {
  Operation *made = nullptr;
  SmallVector<Value> shared;
  task::Section section;
  mlir::Attribute phase;
  int64_t chunk;

  bool operator<(const Key &other) const {
    auto tie = [](const Key &key) { return std::tie(key.made, key.section, key.chunk); };
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

bool isShared(cell::KernelOp cell, unsigned operand) {
  return llvm::all_of(cell.getStridesOf(operand), [](int64_t stride) { return stride == 0; });
}

// The `batch` kernels of a module.
class Cells {
public:
  explicit Cells(mlir::ModuleOp module) : symbols_(module), builder_(mlir::OpBuilder::atBlockEnd(module.getBody())) {}

  cell::KernelOp of(KernelOp kernel) { return symbols_.lookup<cell::KernelOp>(*kernel.getCell()); }

  /// The same computation as that of `cell`, for tensors of any length: shared inputs first.
  cell::KernelOp batchOf(cell::KernelOp cell) {
    auto [it, isNew] = batches_.try_emplace(cell);
    if (isNew) {
      cell::KernelOp made = make(cell);
      auto [same, differs] = distinct_.try_emplace(made, made);
      if (differs) {
        made.setSymName((cell.getSymName() + "_batch").str());
        symbols_.insert(made);
      } else {
        made.erase();
      }
      it->second = same->second;
    }
    return it->second;
  }

private:
  cell::KernelOp make(cell::KernelOp cell) {
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

  mlir::SymbolTable symbols_;
  mlir::OpBuilder builder_;
  llvm::DenseMap<Operation *, cell::KernelOp> batches_;                       // by what they were made of
  llvm::DenseMap<Operation *, cell::KernelOp, cell::ByComputation> distinct_; // of these
};

class Batches {
public:
  Batches(Cells &cells, task::ProgramOp program) : cells_(cells), program_(program) {}

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
    cell::KernelOp cell = cells_.of(kernel);
    if (!fits(kernel, cell)) {
      return;
    }
    cell::KernelOp made = cells_.batchOf(cell);
    Key key{made, {}, kernel.getSection(), kernel->getAttr("phase"), ir::chunkOf(kernel)};
    for (auto [index, input] : llvm::enumerate(kernel.getInputs())) {
      if (isShared(cell, unsigned(index))) {
        key.shared.push_back(input);
      }
    }
    auto [it, begins] = known.try_emplace(key, batches_.size());
    if (begins) {
      batches_.push_back({made, {}});
    }
    batches_[it->second].kernels.push_back(kernel);
  }

  // Makes one kernel of them, or of each half where the whole has no place.
  void join(const Batch &batch, ArrayRef<KernelOp> kernels) {
    if (kernels.size() < 2) {
      return;
    }
    JoinNotes notes;
    std::string name = KernelOp(kernels[0]).getName().str();
    mlir::Builder builder(program_.getContext());
    Fused fused{name, {}, {}, builder.getDictionaryAttr({})};
    fused.cell = mlir::FlatSymbolRefAttr::get(batch.cell);
    fused.segments = builder.getI64IntegerAttr(int64_t(kernels.size()));
    for (bool shared : {true, false}) {
      for (KernelOp kernel : shared ? kernels.take_front() : kernels) {
        cell::KernelOp cell = cells_.of(kernel);
        const JoinNotes own = joinNotesOf(kernel.getLoc());
        for (auto [index, input] : llvm::enumerate(kernel.getInputs())) {
          if (isShared(cell, unsigned(index)) != shared) {
            continue;
          }
          for (const auto &[at, why] : own.apart) {
            if (at == int64_t(index)) {
              notes.apart.push_back({int64_t(fused.inputs.size()), why});
            }
          }
          fused.inputs.push_back(input);
        }
      }
    }
    for (KernelOp kernel : kernels) {
      llvm::append_range(fused.outputs, kernel.getOutputs());
    }
    notes.joined = joinedInAll(kernels);
    if (KernelOp made = areApart(kernels) ? fuse(kernels, fused) : KernelOp()) {
      made->setLoc(withJoinNotes(made.getLoc(), notes));
      batched_ += int64_t(kernels.size());
      return;
    }
    join(batch, kernels.take_front(kernels.size() / 2));
    join(batch, kernels.drop_front(kernels.size() / 2));
  }

  // The operators of each of them: where one is another for each tensor, no place is said.
  static SmallVector<JoinedOp> joinedInAll(ArrayRef<KernelOp> kernels) {
    SmallVector<JoinedOp> all = joinNotesOf(KernelOp(kernels[0])->getLoc()).joined;
    for (KernelOp kernel : kernels.drop_front()) {
      for (auto [known, other] : llvm::zip(all, joinNotesOf(kernel.getLoc()).joined)) {
        if (known.location != other.location) {
          known.location.clear();
        }
      }
    }
    return all;
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

  Cells &cells_;
  task::ProgramOp program_;
  SmallVector<Batch> batches_;
  int64_t batched_ = 0;
};

struct FuseBatches : impl::FuseBatchesBase<FuseBatches> {
  void runOnOperation() override {
    Cells cells(getOperation());
    for (auto program : getOperation().getOps<task::ProgramOp>()) {
      Batches batches(cells, program);
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
