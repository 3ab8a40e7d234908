#include "compiler/passes/schedule/postpone.h"

#include "compiler/dialect/task/registers.h"
#include "compiler/passes/schedule/buckets.h"

namespace weft::compiler {
namespace {

using Readers = llvm::DenseMap<Value, llvm::SmallVector<Operation *, 2>>; // of a root

// Whether a kernel makes of a gradient nothing but a rounded one, or a part of it.
bool keepsGradient(task::KernelOp kernel) {
  return kernel && (kernel.getName() == "cast" || kernel.getName() == "copy_tile");
}

// Adds the kernels of the micro section that round or cut what `op` makes. False if anything but these and the step
// section reads it.
bool addKernels(Operation *op, const Readers &readers, llvm::SmallVectorImpl<task::KernelOp> &kernels) {
  return llvm::all_of(task::outputsOf(op), [&](Value output) {
    return llvm::all_of(readers.lookup(task::rootOf(output)), [&](Operation *reader) {
      if (task::sectionOf(reader) == task::Section::Step) {
        return true;
      }
      auto kernel = llvm::dyn_cast<task::KernelOp>(reader);
      if (!keepsGradient(kernel)) {
        return false;
      }
      kernels.push_back(kernel);
      return addKernels(kernel, readers, kernels);
    });
  });
}

} // namespace

void postponeReductions(task::ProgramOp program) {
  if (program.getMicroBatches() != 1) {
    return;
  }
  Readers readers;
  llvm::SmallVector<task::CollectiveOp> reductions;
  for (Operation &op : program.getBody().front()) {
    for (Value input : task::inputsOf(&op)) {
      readers[task::rootOf(input)].push_back(&op);
    }
    auto collective = llvm::dyn_cast<task::CollectiveOp>(op);
    if (collective && collective.getSection() == task::Section::Micro && isReduction(collective) && isBackward(&op)) {
      reductions.push_back(collective);
    }
  }
  for (task::CollectiveOp reduction : reductions) {
    llvm::SmallVector<task::KernelOp> kernels;
    // Without kernels it is ZeRO's, and stays a layer's (communication_stream.h).
    if (addKernels(reduction, readers, kernels) && !kernels.empty()) {
      reduction.setSection(task::Section::Step);
      for (task::KernelOp kernel : kernels) {
        kernel.setSection(task::Section::Step);
      }
    }
  }
}

} // namespace weft::compiler
