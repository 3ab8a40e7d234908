// Narrow copies of parameters that are there from step to step.
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/fuse/kernels.h"
#include "compiler/passes/fuse/passes.h"
#include "llvm/ADT/StringSet.h"

namespace weft::compiler {
#define GEN_PASS_DEF_FUSECOPIES
#include "compiler/passes/fuse/Passes.h.inc"
namespace {

using task::KernelOp;

// A parameter, and the buffer that has it in a narrower type.
struct Copy {
  KernelOp cast;
  task::BufferOp parameter, narrow;
};

// The part of the peak that copies may add to it. Example: at 8 x 1024 tokens of GPT-2 124M they add 1.7 MB to 3.4 GB,
// at 4 x 256 tokens 55 MB to 800.
constexpr int64_t kSlack = 500;

mlir::FloatType floatOf(Value buffer) {
  return llvm::dyn_cast<mlir::FloatType>(task::tensorOf(buffer).getElementType());
}

// What a cast makes, if that is all of a parameter in a narrower type, which nothing else writes.
std::optional<Copy> copyOf(KernelOp cast) {
  if (cast.getName() != "cast") {
    return std::nullopt;
  }
  auto parameter = cast.getInputs()[0].getDefiningOp<task::BufferOp>();
  auto narrow = cast.getOutputs()[0].getDefiningOp<task::BufferOp>();
  if (!parameter || !narrow || parameter.getKind() != task::BufferKind::Parameter || parameter.getTier() ||
      narrow.getTier() || parameter.getUnpadded() != narrow.getUnpadded() || parameter->hasAttr(task::kHeldName) ||
      writerOf(narrow) != cast) {
    return std::nullopt;
  }
  mlir::FloatType from = floatOf(parameter), to = floatOf(narrow);
  const bool isNarrower = from && to && to.getWidth() < from.getWidth();
  return isNarrower ? std::optional(Copy{cast, parameter, narrow}) : std::nullopt;
}

// Whether steps change what a checkpoint holds: else it is a function of its parameters.
bool trains(mlir::ModuleOp module) {
  bool writesSaved = false;
  module.walk([&](task::BufferOp buffer) {
    const bool isSaved =
        buffer.getKind() == task::BufferKind::Parameter || buffer.getKind() == task::BufferKind::Optimizer;
    writesSaved |= isSaved && !writersOf(buffer).empty();
  });
  return writesSaved;
}

// Most bytes that come and go within a step and are there at one time, in the program's order; with `kept` from step to
// step, which are there all the time.
int64_t peakOf(task::ProgramOp program, const llvm::DenseSet<Value> &kept) {
  llvm::DenseMap<Operation *, int64_t> begins, ends; // bytes that an op finds first, and last
  int64_t now = 0;
  for (auto buffer : program.getBody().getOps<task::BufferOp>()) {
    const SmallVector<Operation *> users = usersOf(buffer);
    const int64_t bytes = task::localBytesOf(task::tensorOf(buffer), program.getPlacement());
    if (kept.contains(buffer)) {
      now += bytes;
    } else if (!users.empty() && !task::isState(buffer)) {
      auto before = [](Operation *one, Operation *other) { return one->isBeforeInBlock(other); };
      begins[*llvm::min_element(users, before)] += bytes;
      ends[*llvm::max_element(users, before)] += bytes;
    }
  }
  int64_t peak = 0;
  for (Operation &op : program.getBody().front()) {
    now += begins.lookup(&op);
    peak = std::max(peak, now);
    now -= ends.lookup(&op);
  }
  return peak;
}

struct FuseCopies : impl::FuseCopiesBase<FuseCopies> {
  using FuseCopiesBase::FuseCopiesBase;

  void runOnOperation() override {
    const bool isTraining = trains(getOperation());
    for (auto program : getOperation().getOps<task::ProgramOp>()) {
      SmallVector<Copy> copies;
      for (auto kernel : program.getBody().getOps<KernelOp>()) {
        if (std::optional<Copy> copy = copyOf(kernel)) {
          copies.push_back(*copy);
        }
      }
      llvm::StringSet<> names; // of copies
      const bool mayWrite = updates && isWorthIt(program, copies) && haveRoom(program, copies);
      for (Copy copy : copies) {
        numKept += isTraining ? keep(copy, mayWrite, names) : narrow(copy, names);
      }
    }
  }

private:
  // Whether updates can write most of what is copied: they then run apart from the updates of all else, which takes one
  // more kernel. With ZeRO 1 they can write those of a few biases that nothing splits, and casts of all shares are
  // left.
  static bool isWorthIt(task::ProgramOp program, ArrayRef<Copy> copies) {
    int64_t moved = 0, left = 0;
    for (Copy copy : copies) {
      if (!writersOf(copy.parameter).empty()) {
        (updateOf(copy) ? moved : left) +=
            task::localBytesOf(task::tensorOf(copy.narrow.getBuffer()), program.getPlacement());
      }
    }
    return moved > left;
  }

  // Whether copies that are there from step to step take hardly any memory of their own. With several micro-batches the
  // last one reads all of them, beside the sums of all gradients. With one, gradients may take over the bytes of copies
  // that nothing reads any more: at the peak those of 4 x 256 tokens of GPT-2 124M do, those of 8 x 1024 tokens do not,
  // but of the table of positions.
  static bool haveRoom(task::ProgramOp program, ArrayRef<Copy> copies) {
    if (program.getMicroBatches() > 1) {
      return true;
    }
    llvm::DenseSet<Value> kept;
    for (Copy copy : copies) {
      if (KernelOp update = updateOf(copy)) {
        kept.insert(copy.narrow);
      }
    }
    const int64_t peak = peakOf(program, {});
    return peakOf(program, kept) <= peak + peak / kSlack;
  }

  // Of a training: the update, if it may, writes the copy too, and where there is none nothing does.
  bool keep(Copy copy, bool mayWrite, llvm::StringSet<> &names) {
    if (writersOf(copy.parameter).empty()) {
      return makeOnce(copy, names);
    }
    KernelOp update = mayWrite ? updateOf(copy) : KernelOp();
    if (!update || !setInit(copy, names)) {
      return false;
    }
    KernelOp cast = copy.cast;
    cast->setDiscardableAttrs(update->getDiscardableAttrDictionary());
    cast.setSection(task::Section::Step);
    if (Operation *next = update->getNextNode()) {
      moveTo(next, cast);
    } else {
      cast->moveAfter(update);
    }
    return true;
  }

  // What alone writes the parameter, if it could write the copy too.
  static KernelOp updateOf(Copy copy) {
    const llvm::SetVector<Operation *> writers = writersOf(copy.parameter);
    KernelOp update = writers.size() == 1 ? llvm::dyn_cast<KernelOp>(writers[0]) : KernelOp();
    return update && canWrite(copy, update) ? update : KernelOp();
  }

  // A copy that the micro-batches read is in memory for the whole step anyway; one that is only gathered before them is
  // not, and one that a step's end reads would be another one there.
  static bool canWrite(Copy copy, KernelOp update) {
    KernelOp cast = copy.cast;
    return update.getSection() == task::Section::Step && cast.getSection() == task::Section::Begin &&
           llvm::is_contained(update.getOutputs(), copy.parameter.getBuffer()) &&
           llvm::all_of(update->getOperands(), [](Value operand) { return task::tierOf(operand).empty(); }) &&
           llvm::all_of(usersOf(copy.narrow),
                        [&](Operation *user) { return user == cast || task::sectionOf(user) == task::Section::Micro; });
  }

  // Of a function: the parameter itself is in memory as what is read of it.
  bool narrow(Copy copy, llvm::StringSet<> &names) {
    task::BufferOp parameter = copy.parameter, narrow = copy.narrow;
    if (!llvm::all_of(usersOf(parameter), [&](Operation *user) { return user == copy.cast; })) {
      return makeOnce(copy, names);
    }
    KernelOp cast = copy.cast;
    cast.erase();
    parameter.setStoredType(floatOf(parameter));
    parameter.getBuffer().setType(narrow.getBuffer().getType());
    declareBefore(narrow, parameter);
    narrow.getBuffer().replaceAllUsesWith(parameter);
    narrow.erase();
    return true;
  }

  // No step changes the parameter, so none needs to make the copy.
  bool makeOnce(Copy copy, llvm::StringSet<> &names) {
    KernelOp cast = copy.cast;
    return setInit(copy, names) && (cast.erase(), true);
  }

  // Two plans that run in one arena, as of a prompt and of a token, know what is kept by its name.
  bool setInit(Copy copy, llvm::StringSet<> &names) {
    task::BufferOp parameter = copy.parameter, narrow = copy.narrow;
    std::string name;
    llvm::raw_string_ostream(name) << parameter.getName() << "/" << floatOf(narrow);
    if (!names.insert(name).second) {
      return false;
    }
    mlir::Builder builder(&getContext());
    narrow.setName(name);
    narrow.setKind(task::BufferKind::Working);
    narrow.setInit(llvm::StringRef("cast"));
    narrow.setInitAttributesAttr(
        builder.getDictionaryAttr(builder.getNamedAttr(task::kOfName, parameter.getNameAttr())));
    return true;
  }
};

} // namespace
} // namespace weft::compiler
