#include "compiler/passes/fuse/kernels.h"

#include "compiler/analysis/cost.h"
#include "compiler/dialect/task/registers.h"
#include "runtime/plan/devices.h"

namespace weft::compiler {

using task::KernelOp;

bool isOnHost(task::ProgramOp program) { return plan::IsHost(program.getPlacement().getDevice().getValue()); }

SmallVector<KernelOp> kernelsOf(task::ProgramOp program, llvm::StringRef name) {
  SmallVector<KernelOp> kernels;
  for (auto kernel : program.getBody().getOps<KernelOp>()) {
    if (kernel.getName() == name && kernel.getSection() == task::Section::Micro) {
      kernels.push_back(kernel);
    }
  }
  return kernels;
}

KernelOp writerOf(Value buffer) {
  if (!buffer.getDefiningOp<task::BufferOp>()) {
    return {};
  }
  // All kernels may read one number: only its uses by what writes it are looked at.
  Operation *writer = nullptr;
  for (mlir::OpOperand &use : buffer.getUses()) {
    if (task::isOutput(use)) {
      if (writer) {
        return {};
      }
      writer = use.getOwner();
    }
  }
  if (writer && llvm::count(writer->getOperands(), buffer) > 1) {
    return {};
  }
  return llvm::dyn_cast_or_null<KernelOp>(writer);
}

SmallVector<Operation *> readersOf(Value buffer) {
  SmallVector<Operation *> readers;
  for (Operation *user : buffer.getUsers()) {
    bool reads = !llvm::is_contained(task::outputsOf(user), buffer) || llvm::is_contained(task::inputsOf(user), buffer);
    if (reads && !llvm::is_contained(readers, user)) {
      readers.push_back(user);
    }
  }
  llvm::sort(readers, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return readers;
}

bool isOnlyReader(Operation *reader, Value buffer) {
  return llvm::all_of(readersOf(buffer), [&](Operation *op) { return op == reader; });
}

bool inSameUnit(KernelOp a, KernelOp b) {
  return a.getSection() == b.getSection() && a->getAttr("phase") == b->getAttr("phase") &&
         ir::chunkOf(a) == ir::chunkOf(b);
}

bool isPartial(Value buffer) {
  return llvm::any_of(ir::sbpOf(task::tensorOf(buffer)).getStates(),
                      [](ir::SbpState state) { return state.isPartial(); });
}

bool haveOneElementType(mlir::ValueRange buffers) {
  return llvm::all_of(buffers, [&](Value value) {
    return task::tensorOf(value).getElementType() == task::tensorOf(buffers[0]).getElementType();
  });
}

bool isKept(Value buffer) { return task::isState(task::rootOf(buffer)); }

SmallVector<int64_t> shapeOf(task::ProgramOp program, Value buffer) {
  return task::localShapeOf(task::tensorOf(buffer), program.getPlacement());
}

SmallVector<Operation *> usersOf(Value buffer) {
  SmallVector<Operation *> users;
  for (Operation *user : buffer.getUsers()) {
    if (auto alias = llvm::dyn_cast<task::AliasOp>(user)) {
      llvm::append_range(users, usersOf(alias));
    } else if (!llvm::isa<task::MetricOp>(user)) {
      users.push_back(user);
    }
  }
  return users;
}

bool writes(Operation *op, Value buffer) {
  const Value root = task::rootOf(buffer);
  return llvm::any_of(task::outputsOf(op), [&](Value value) { return task::rootOf(value) == root; });
}

llvm::SetVector<Operation *> writersOf(Value buffer) {
  llvm::SetVector<Operation *> writers;
  for (Operation *user : usersOf(buffer)) {
    if (writes(user, buffer)) {
      writers.insert(user);
    }
  }
  return writers;
}

// Gives an op that has just come to its block a number between those of its neighbours. Two neighbours without one
// would have the next question of order number all ops of the block.
static void number(Operation *op, Operation *neighbour) { (void)op->isBeforeInBlock(neighbour); }

void moveTo(Operation *place, Operation *op) {
  if (op == place) {
    return;
  }
  op->remove();
  place->getBlock()->getOperations().insert(mlir::Block::iterator(place), op);
  number(op, place);
}

void declareBefore(Operation *place, Value buffer) {
  Operation *declaration = buffer.getDefiningOp();
  if (declaration->isBeforeInBlock(place)) {
    return;
  }
  if (auto alias = llvm::dyn_cast<task::AliasOp>(declaration)) {
    declareBefore(place, alias.getSource());
  }
  moveTo(place, declaration);
}

void eraseUnused(Value buffer) {
  for (Operation *user : llvm::make_early_inc_range(buffer.getUsers())) {
    if (auto alias = llvm::dyn_cast<task::AliasOp>(user)) {
      eraseUnused(alias);
    }
  }
  if (buffer.use_empty()) {
    buffer.getDefiningOp()->erase();
  }
}

namespace {

// Before the last of the parts or, where something between them reads a result, before that; null if something between
// the two, or between a part and that, writes an operand or uses what a part has yet to write.
Operation *placeOf(ArrayRef<KernelOp> parts, const Fused &fused) {
  auto before = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
  llvm::SmallPtrSet<Operation *, 8> all;
  for (KernelOp part : parts) {
    all.insert(part);
  }
  auto isPart = [&](Operation *op) { return all.contains(op); };
  Operation *last = *llvm::max_element(parts, before), *place = last;
  // What uses an output of a part, on the side of it that is asked for: what comes before uses the buffer's last value.
  auto eachUser = [&](bool behind, auto visit) {
    for (KernelOp part : parts) {
      for (Value output : part.getOutputs()) {
        for (Operation *user : usersOf(task::rootOf(output))) {
          if (!isPart(user) && before(part, user) == behind) {
            visit(user);
          }
        }
      }
    }
  };
  eachUser(true, [&](Operation *user) { place = before(user, place) ? user : place; });
  bool isEarly = false;
  eachUser(false, [&](Operation *user) { isEarly |= !before(user, place); });
  if (isEarly) {
    return nullptr;
  }
  // All parts may read one number, which as many others read too.
  llvm::DenseMap<Value, SmallVector<Operation *>> known;
  auto othersWriting = [&](Value buffer) -> ArrayRef<Operation *> {
    auto [it, isNew] = known.try_emplace(task::rootOf(buffer));
    if (isNew) {
      it->second = llvm::to_vector(writersOf(it->first));
      llvm::erase_if(it->second, isPart);
    }
    return it->second;
  };
  for (Value input : fused.inputs) {
    for (Operation *user : othersWriting(input)) {
      if (!before(user, place) && before(user, last)) {
        return nullptr;
      }
    }
  }
  for (KernelOp part : parts) {
    for (Value input : part.getInputs()) {
      for (Operation *user : othersWriting(input)) {
        if (before(part, user) && before(user, place)) {
          return nullptr;
        }
      }
    }
  }
  return place;
}

// Each operand and result is read or written once where the parts did so several times, or not at all any more.
SmallVector<double> costOf(ArrayRef<KernelOp> parts, const Fused &fused) {
  SmallVector<double> cost(3, 0);
  llvm::DenseMap<Value, int64_t> saved;
  for (KernelOp part : parts) {
    if (std::optional<ArrayRef<double>> own = part.getCost()) {
      for (auto [sum, term] : llvm::zip(cost, *own)) {
        sum += term;
      }
    }
    for (Value operand : part->getOperands()) {
      ++saved[operand];
    }
  }
  auto program = ArrayRef(parts)[0]->getParentOfType<task::ProgramOp>();
  for (const auto *list : {&fused.inputs, &fused.outputs}) {
    for (Value operand : *list) {
      --saved[operand];
    }
  }
  for (auto [buffer, times] : saved) {
    cost[2] -= double(times) * double(task::localBytesOf(task::tensorOf(buffer), program.getPlacement()));
  }
  cost[2] = std::max(cost[2], 0.0);
  return cost;
}

} // namespace

bool isOfCollective(Value buffer, task::Section section) {
  return llvm::any_of(usersOf(task::rootOf(buffer)), [&](Operation *user) {
    auto collective = llvm::dyn_cast<task::CollectiveOp>(user);
    return collective && collective.getSection() == section;
  });
}

KernelOp fuse(ArrayRef<KernelOp> parts, const Fused &fused) {
  Operation *place = placeOf(parts, fused);
  if (!place) {
    return {};
  }
  for (const auto *list : {&fused.inputs, &fused.outputs}) {
    for (Value operand : *list) {
      declareBefore(place, operand);
    }
  }
  KernelOp first = parts[0];
  mlir::OpBuilder b(place);
  bool costs = llvm::all_of(parts, [](KernelOp part) { return part.getCost().has_value(); });
  auto made = b.create<KernelOp>(
      first.getLoc(), b.getStringAttr(fused.name), fused.inputs, fused.outputs, fused.constants, first.getSection(),
      fused.inPlace.empty() ? mlir::DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(fused.inPlace),
      costs ? b.getDenseF64ArrayAttr(costOf(parts, fused)) : mlir::DenseF64ArrayAttr(), mlir::DictionaryAttr(),
      fused.cell, fused.randoms, fused.segments);
  number(made, place);
  made->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  for (KernelOp part : parts) {
    if (part.getProduct()) {
      made.setProductAttr(part.getProductAttr());
    }
  }
  SmallVector<Value> written;
  for (KernelOp part : parts) {
    llvm::append_range(written, part.getOutputs());
    part.erase();
  }
  llvm::for_each(written, eraseUnused);
  return made;
}

} // namespace weft::compiler
