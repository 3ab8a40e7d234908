// Kernels are generated, and join those that read their results.
#include "compiler/analysis/cost.h"
#include "compiler/analysis/layer.h"
#include "compiler/analysis/location.h"
#include "compiler/codegen/loops.h"
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/fuse/join.h"
#include "compiler/passes/fuse/kernels.h"
#include "compiler/passes/fuse/passes.h"
#include "llvm/ADT/StringExtras.h"
#include "ops/abi/generated_names.h"
#include "ops/descriptions.h"
#include "ops/layout/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_FUSECLUSTERS
#include "compiler/passes/fuse/Passes.h.inc"
namespace {

using task::KernelOp;

// What one kernel may read and write: a stream of memory each, of which processors follow some ahead.
constexpr size_t kOperands = 16;
// Elements below which it does not matter how a kernel is walked.
constexpr int64_t kSmall = 4096;

// A generated kernel of a program.
struct Node {
  Part part;
  SmallVector<JoinedOp> ops; // that it is made of, in order
  SmallVector<mlir::Attribute> randoms;
  SmallVector<std::pair<size_t, Apart>> apart = {}; // inputs whose kernels did not join, as they were asked last
};

// Of kernels by what they compute.
using Symbols = llvm::DenseMap<Operation *, mlir::FlatSymbolRefAttr, cell::ByComputation>;

class Clusters {
public:
  Clusters(mlir::ModuleOp module, task::ProgramOp program, int64_t joins)
      : program_(program), builder_(mlir::OpBuilder::atBlockEnd(module.getBody())), joins_(joins) {}

  // Fails where a kernel is not generated that has no other way.
  llvm::LogicalResult run() {
    declareStateFirst();
    SmallVector<KernelOp> kernels = llvm::to_vector(program_.getBody().getOps<KernelOp>());
    for (KernelOp kernel : kernels) {
      generate(kernel);
      if (!nodes_.count(kernel) && IsGeneratedName(kernel.getName().str())) {
        return kernel.emitError() << "kernel `" << kernel.getName()
                                  << "`: expected operands that a generated kernel can walk along, got others";
      }
    }
    for (KernelOp kernel : kernels) {
      if (nodes_.count(kernel)) {
        joinProducers(kernel);
      }
    }
    for (KernelOp kernel : llvm::to_vector(program_.getBody().getOps<KernelOp>())) {
      if (nodes_.count(kernel)) {
        joinSiblings(kernel);
      }
    }
    return mlir::success();
  }

  int64_t generated() const { return generated_; }
  int64_t joined() const { return joined_; }

  // Gives every kernel the symbol of what it computes, which kernels that compute the same share.
  void name(Symbols &symbols) {
    for (auto kernel : program_.getBody().getOps<KernelOp>()) {
      auto it = nodes_.find(kernel);
      if (it == nodes_.end()) {
        continue;
      }
      cell::KernelOp cell = it->second.part.kernel;
      auto [known, isNew] = symbols.try_emplace(cell);
      if (isNew) {
        std::string symbol =
            "k" + std::to_string(symbols.size() - 1) + "_" + llvm::join(namesOf(it->second), "_").substr(0, kName);
        cell.setSymName(symbol);
        known->second = mlir::FlatSymbolRefAttr::get(cell);
      } else {
        cell.erase();
      }
      kernel.setCellAttr(known->second);
      kernel->setLoc(withJoinNotes(kernel.getLoc(), notesOf(it->second)));
    }
  }

private:
  static constexpr size_t kName = 40; // letters of a symbol
  static constexpr size_t kNames = 5; // operators that a kernel's name lists

  static SmallVector<std::string> namesOf(const Node &node) {
    return llvm::map_to_vector(node.ops, [](const JoinedOp &op) { return op.name; });
  }

  static JoinNotes notesOf(const Node &node) {
    JoinNotes notes;
    if (node.ops.size() > 1) {
      notes.joined = node.ops;
    }
    for (auto [input, why] : node.apart) {
      notes.apart.push_back({int64_t(input), FactsOf(why).name});
    }
    return notes;
  }

  // What is kept lies in the order of its declarations, which joining would change: the plans of a prompt and of a
  // token must have their caches at the same places.
  void declareStateFirst() {
    SmallVector<Operation *> kept;
    Operation *other = nullptr;
    for (Operation &op : program_.getBody().front()) {
      const bool isState = llvm::isa<task::BufferOp>(op) && isKept(op.getResult(0));
      if (!isState && !other) {
        other = &op;
      }
      if (isState && other) {
        kept.push_back(&op);
      }
    }
    for (Operation *op : kept) {
      op->moveBefore(other);
    }
  }

  int idOf(Value buffer) { return ids_.try_emplace(task::rootOf(buffer), int(ids_.size())).first->second; }
  SmallVector<int> idsOf(mlir::ValueRange buffers) {
    return llvm::map_to_vector(buffers, [&](Value buffer) { return idOf(buffer); });
  }

  void generate(KernelOp kernel) {
    if (kernel->getNumOperands() > kOperands || !cell::allDescriptions().has(kernel.getName())) {
      return;
    }
    cell::Subject subject{kernel.getName().str(), operandsOf(kernel.getInputs()), operandsOf(kernel.getOutputs()),
                          kernel.getConstants()};
    cell::Described described = cell::allDescriptions().describe(builder_, builder_.getUnknownLoc(), "k", subject);
    cell::KernelOp cell = described.kernel;
    if (!cell) {
      return;
    }
    std::optional<Loops> loops = loopsOf(cell);
    const bool isSlow = !IsGeneratedName(subject.name) && isOnHost(program_) && loops && loops->row.extent < kLanes &&
                        loops->rows() * loops->row.extent > kSmall;
    if (!loops || isSlow || !updatesAlike(kernel, cell)) {
      return cell.erase();
    }
    ++generated_;
    Node node{
        {cell, idsOf(kernel.getInputs()), idsOf(kernel.getOutputs())}, {{subject.name, describeLocation(kernel)}}, {}};
    for (const cell::Cells::Random &random : described.randoms) {
      node.randoms.push_back(randomOf(kernel.getInputs()[random.input], random.seed));
    }
    nodes_[kernel] = node;
    if (!node.randoms.empty()) {
      kernel.setRandomsAttr(builder_.getArrayAttr(node.randoms));
    }
  }

  // Whether what a kernel reads and writes over is walked alike: all of a place is read before it is written.
  static bool updatesAlike(KernelOp kernel, cell::KernelOp cell) {
    for (auto [o, output] : llvm::enumerate(kernel.getOutputs())) {
      for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
        bool isAlike = cell.areWalkedAlike(unsigned(i), cell.getNumInputs() + unsigned(o)) &&
                       cell.getBody().getArgument(unsigned(i)).getType() == cell.getYielded()[o].getType() &&
                       !cell::sumRowsOf(cell.getYielded()[o]);
        if (task::rootOf(input) == task::rootOf(output) && !isAlike) {
          return false;
        }
      }
    }
    return true;
  }

  SmallVector<cell::Operand> operandsOf(mlir::ValueRange buffers) {
    return llvm::map_to_vector(buffers, [&](Value buffer) {
      return cell::Operand{shapeOf(program_, buffer), task::tensorOf(buffer).getElementType(), wholeOf(buffer)};
    });
  }

  static mlir::DenseI64ArrayAttr unpaddedOf(Value buffer) {
    auto alias = buffer.getDefiningOp<task::AliasOp>();
    return alias ? alias.getUnpaddedAttr() : buffer.getDefiningOp<task::BufferOp>().getUnpaddedAttr();
  }

  // The shape of the tensor that a buffer stands for.
  static SmallVector<int64_t> wholeOf(Value buffer) {
    mlir::DenseI64ArrayAttr unpadded = unpaddedOf(buffer);
    return llvm::to_vector(unpadded ? unpadded.asArrayRef() : task::tensorOf(buffer).getShape());
  }

  mlir::Attribute randomOf(Value buffer, int64_t seed) {
    mlir::NamedAttrList random;
    random.set("seed", builder_.getI64IntegerAttr(seed));
    random.set("tensor", mlir::TypeAttr::get(task::tensorOf(buffer)));
    if (mlir::DenseI64ArrayAttr unpadded = unpaddedOf(buffer)) {
      random.set("unpadded", unpadded);
    }
    return random.getDictionary(builder_.getContext());
  }

  void joinProducers(KernelOp kernel) {
    for (bool moved = true; moved;) {
      moved = false;
      nodes_[kernel].apart.clear();
      for (auto [index, input] : llvm::enumerate(kernel.getInputs())) {
        KernelOp producer = producerOf(input);
        if (producer && producer != kernel && nodes_.count(producer) && producer->isBeforeInBlock(kernel)) {
          Apart why;
          if (KernelOp one = join(producer, kernel, why)) {
            kernel = one;
            moved = true;
            break;
          }
          nodes_[kernel].apart.push_back({index, why});
        }
      }
    }
  }

  // The kernel that makes what is read: the only one that writes it, or that updates it in place, of state.
  static KernelOp producerOf(Value input) {
    const Value root = task::rootOf(input);
    if (!isKept(root)) {
      return writerOf(root);
    }
    const llvm::SetVector<Operation *> writers = writersOf(root);
    return writers.size() == 1 ? llvm::dyn_cast<KernelOp>(writers[0]) : KernelOp();
  }

  // Joins to a kernel those before it in its layer that read the same tensor, which is then read once. The tensor is at
  // least half as large as the largest that either reads: 14,336 columns of a gradient, not 4,096 weights of a norm.
  void joinSiblings(KernelOp kernel) {
    for (bool moved = true; moved;) {
      moved = false;
      for (KernelOp sibling : siblingsOf(kernel)) {
        Apart why;
        if (KernelOp one = join(sibling, kernel, why)) {
          kernel = one;
          moved = true;
          break;
        }
      }
    }
  }

  SmallVector<KernelOp> siblingsOf(KernelOp kernel) {
    SmallVector<KernelOp> siblings;
    for (Value input : kernel.getInputs()) {
      Value root = task::rootOf(input);
      if (isKept(root) || 2 * bytesOf(root) < largestOf(kernel)) {
        continue;
      }
      for (Operation *user : usersOf(root)) {
        auto other = llvm::dyn_cast<KernelOp>(user);
        if (other && other != kernel && nodes_.count(other) && !llvm::is_contained(siblings, other) &&
            other->isBeforeInBlock(kernel) && !writes(other, root) && !writes(kernel, root) &&
            2 * bytesOf(root) >= largestOf(other) && areSiblings(other, kernel)) {
          siblings.push_back(other);
        }
      }
    }
    return siblings;
  }

  // Whether two kernels that read one tensor may be one: the second reads nothing of the first, and no more is in
  // memory between the two than before. The first would come later: what dies with it lives on. The second would come
  // before all that reads what the first writes: so would what it writes.
  bool areSiblings(KernelOp first, KernelOp second) {
    if (layerOf(ir::scopeOf(first)) != layerOf(ir::scopeOf(second))) {
      return false;
    }
    Operation *place = second;
    int64_t later = 0, earlier = 0;
    for (Value output : first.getOutputs()) {
      SmallVector<Operation *> readers;
      addReaders(task::rootOf(output), readers);
      for (Operation *reader : readers) {
        if (reader == second) {
          return false;
        }
        place = reader->getBlock() == place->getBlock() && reader->isBeforeInBlock(place) ? reader : place;
      }
      later -= bytesOf(output);
    }
    for (Value input : first.getInputs()) {
      later += diesAt(first, input, first) ? bytesOf(input) : 0;
    }
    for (Value output : second.getOutputs()) {
      earlier += bytesOf(output);
    }
    for (Value input : second.getInputs()) {
      earlier -= diesAt(second, input, place) ? bytesOf(input) : 0;
    }
    return later <= 0 && (place == second || earlier <= 0);
  }

  // Whether a kernel is the last to read a buffer, and all others do so before `place`.
  static bool diesAt(KernelOp kernel, Value buffer, Operation *place) {
    SmallVector<Operation *> readers;
    addReaders(task::rootOf(buffer), readers);
    return !isKept(buffer) && llvm::all_of(readers, [&](Operation *reader) {
      return reader == kernel || (reader->getBlock() == place->getBlock() && reader->isBeforeInBlock(place));
    });
  }

  int64_t bytesOf(Value buffer) { return task::localBytesOf(task::tensorOf(buffer), program_.getPlacement()); }
  int64_t largestOf(KernelOp kernel) {
    int64_t largest = 0;
    for (Value input : kernel.getInputs()) {
      largest = std::max(largest, bytesOf(input));
    }
    return largest;
  }

  // Everything that reads a buffer, by views too; metrics count.
  static void addReaders(Value buffer, SmallVector<Operation *> &readers) {
    for (Operation *user : buffer.getUsers()) {
      if (auto alias = llvm::dyn_cast<task::AliasOp>(user)) {
        addReaders(alias, readers);
      } else if (!llvm::is_contained(task::outputsOf(user), buffer)) {
        readers.push_back(user);
      }
    }
  }

  // Whether a kernel that reads what is gathered for its layer would go to another one: its parameters would be held as
  // long as those of that.
  static bool leavesLayer(KernelOp producer, KernelOp consumer) {
    if (layerOf(ir::scopeOf(producer)) == layerOf(ir::scopeOf(consumer))) {
      return false;
    }
    return llvm::any_of(producer.getInputs(), [](Value input) {
      return llvm::any_of(task::rootOf(input).getUsers(), [&](Operation *user) {
        return user->hasAttr("on_use") && llvm::is_contained(task::outputsOf(user), task::rootOf(input));
      });
    });
  }

  // Why two kernels stay apart whatever they compute.
  std::optional<Apart> refusal(KernelOp producer, KernelOp consumer) const {
    if (joins_ == 0) {
      return Apart::kLimit;
    }
    if (!inSameUnit(producer, consumer)) {
      return Apart::kUnit;
    }
    if (leavesLayer(producer, consumer)) {
      return Apart::kLayer;
    }
    // What is of one part of a loss's rows and what is not, or is of another: a part's tensors would be there until the
    // other is done.
    if (producer->getAttr(ir::kOfChunkName) != consumer->getAttr(ir::kOfChunkName)) {
      return Apart::kLoss;
    }
    return std::nullopt;
  }

  // One kernel of both; null, and `why`, if they stay apart.
  KernelOp join(KernelOp producer, KernelOp consumer, Apart &why) {
    if (std::optional<Apart> refused = refusal(producer, consumer)) {
      why = *refused;
      return {};
    }
    Node &first = nodes_[producer], &second = nodes_[consumer];
    SmallVector<int> dropped;
    for (Value output : producer.getOutputs()) {
      SmallVector<Operation *> readers;
      addReaders(output, readers);
      bool isRead = llvm::all_of(readers, [&](Operation *op) { return op == consumer; }) && !readers.empty();
      if (isRead && !isKept(output)) {
        dropped.push_back(idOf(output));
      }
    }
    std::optional<Part> part = compiler::joined(builder_, "k", first.part, second.part, dropped, why);
    if (!part) {
      return {};
    }
    if (part->inputs.size() + part->outputs.size() > kOperands) {
      part->kernel.erase();
      why = Apart::kOperands;
      return {};
    }
    llvm::DenseMap<int, Value> buffers;
    for (KernelOp kernel : {producer, consumer}) {
      for (Value operand : kernel->getOperands()) {
        buffers.try_emplace(idOf(operand), operand);
      }
    }
    auto valuesOf = [&](ArrayRef<int> ids) { return llvm::map_to_vector(ids, [&](int id) { return buffers[id]; }); };
    Node node{*part, first.ops, first.randoms};
    llvm::append_range(node.ops, second.ops);
    llvm::append_range(node.randoms, second.randoms);
    std::string name = nameOf(namesOf(node));
    Fused fused{name,
                valuesOf(part->inputs),
                valuesOf(part->outputs),
                builder_.getDictionaryAttr({}),
                {},
                mlir::FlatSymbolRefAttr::get(builder_.getContext(), "k")};
    if (!node.randoms.empty()) {
      fused.randoms = builder_.getArrayAttr(node.randoms);
    }
    fused.inPlace = inPlaceOf(*part, fused, producer, consumer);
    KernelOp made = fuse({consumer, producer}, fused);
    if (!made) {
      part->kernel.erase();
      why = Apart::kOrder;
      return {};
    }
    first.part.kernel.erase();
    second.part.kernel.erase();
    nodes_.erase(producer);
    nodes_.erase(consumer);
    nodes_[made] = node;
    joins_ -= joins_ > 0;
    ++joined_;
    return made;
  }

  static std::string nameOf(ArrayRef<std::string> names) {
    if (names.size() <= kNames) {
      return llvm::join(names, "+");
    }
    return llvm::join(names.take_front(kNames - 1), "+") + "+" + std::to_string(names.size() - kNames + 1) + " more";
  }

  // For each output an input that is walked alike, read by nothing else where there is one, and overwritten by no other
  // output.
  SmallVector<int64_t> inPlaceOf(const Part &part, const Fused &fused, KernelOp producer, KernelOp consumer) {
    cell::KernelOp kernel = part.kernel;
    SmallVector<int64_t> inPlace(fused.outputs.size(), -1);
    auto dies = [&](Value input) {
      SmallVector<Operation *> readers;
      addReaders(task::rootOf(input), readers);
      return llvm::all_of(readers, [&](Operation *op) { return op == producer || op == consumer; });
    };
    for (bool dying : {true, false}) {
      for (auto [o, output] : llvm::enumerate(fused.outputs)) {
        if (llvm::is_contained(part.inputs, part.outputs[o])) {
          continue; // is in place
        }
        for (auto [i, input] : llvm::enumerate(fused.inputs)) {
          bool alike = kernel.areWalkedAlike(unsigned(i), kernel.getNumInputs() + unsigned(o)) &&
                       kernel.getBody().getArgument(unsigned(i)).getType() == kernel.getYielded()[o].getType();
          bool once = llvm::count(part.inputs, part.inputs[i]) == 1;
          // Of one rank's tile both may be walked alike and be parts of other tensors.
          auto from = task::tensorOf(input), to = task::tensorOf(output);
          alike &= from.getNumElements() == to.getNumElements() && from.getElementType() == to.getElementType() &&
                   !cell::sumRowsOf(kernel.getYielded()[o]);
          if (inPlace[o] < 0 && alike && once && dies(input) == dying && !llvm::is_contained(inPlace, int64_t(i))) {
            inPlace[o] = int64_t(i);
          }
        }
      }
    }
    return inPlace;
  }

  task::ProgramOp program_;
  mlir::OpBuilder builder_;
  int64_t joins_, generated_ = 0, joined_ = 0;
  llvm::DenseMap<Value, int> ids_; // of roots
  llvm::DenseMap<Operation *, Node> nodes_;
};

struct FuseClusters : impl::FuseClustersBase<FuseClusters> {
  using FuseClustersBase::FuseClustersBase;

  void runOnOperation() override {
    Symbols symbols;
    for (auto program : getOperation().getOps<task::ProgramOp>()) {
      Clusters clusters(getOperation(), program, joins);
      if (failed(clusters.run())) {
        return signalPassFailure();
      }
      clusters.name(symbols);
      numGenerated += clusters.generated();
      numJoined += clusters.joined();
    }
    numDistinct += int64_t(symbols.size());
  }
};

} // namespace
} // namespace weft::compiler
