#include "compiler/passes/schedule/buckets.h"

#include "compiler/dialect/task/registers.h"

namespace weft::compiler {
namespace {

using task::CollectiveOp;

using Bundle = llvm::SmallVector<CollectiveOp>;

class Bundler {
public:
  Bundler(task::ProgramOp program, llvm::ArrayRef<Operation *> micro, llvm::ArrayRef<Operation *> step,
          const CommunicationStream &stream)
      : placement_(program.getPlacement()), step_(step), streamIsUsed_(stream.any()) {
    // Those of the begin section, which is in actors by now, come before all micro-batches.
    program.walk([&](CollectiveOp op) {
      if (op.getSection() == task::Section::Begin && !stream.has(op)) {
        setLast(op, -1);
      }
    });
    for (auto [at, op] : llvm::enumerate(micro)) {
      for (Value output : task::outputsOf(op)) {
        writer_[task::rootOf(output)] = {op, int64_t(at)};
      }
      if (auto collective = llvm::dyn_cast<CollectiveOp>(op); collective && !stream.has(op)) {
        setLast(collective, int64_t(at));
      }
    }
    // Kernels of the step section follow all of the micro-batches in the compute stream; what is received, or reduced
    // beside it, does not, and what is copied between the device and a tier, or done there.
    for (Operation *op : step) {
      const bool follows = llvm::isa<task::KernelOp>(op) && !llvm::isa<task::MoveKernel>(op) && !task::worksBelow(op);
      int64_t at = follows ? int64_t(micro.size()) : -1;
      if (!follows) {
        for (Value input : task::inputsOf(op)) {
          at = std::max(at, placeOf(input));
        }
      }
      // What it reads may be written again behind it, as state is.
      if (auto collective = llvm::dyn_cast<CollectiveOp>(op)) {
        madeAt_[op] = placeOf(collective.getInput());
      }
      for (Value output : task::outputsOf(op)) {
        writer_[task::rootOf(output)] = {op, at};
      }
    }
  }

  StepCollectives run() {
    std::vector<CollectiveOp> gradients, others;
    for (Operation *op : step_) {
      if (auto collective = llvm::dyn_cast<CollectiveOp>(op)) {
        auto [writer, at] = writer_.lookup(task::rootOf(collective.getInput()));
        bool ofBackward = writer && !llvm::is_contained(step_, writer) && isBackward(writer);
        (ofBackward && isReduction(collective) ? gradients : others).push_back(collective);
      }
    }
    llvm::sort(gradients, [&](CollectiveOp a, CollectiveOp b) {
      return madeAt(a) != madeAt(b) ? madeAt(a) < madeAt(b) : a->isBeforeInBlock(b);
    });
    // What may not overtake a collective of the backward waits for all other gradients.
    std::vector<CollectiveOp> early, late;
    for (CollectiveOp op : gradients) {
      (overtakes(op, madeAt(op)) ? late : early).push_back(op);
    }
    StepCollectives all;
    fill(early, all.bundles);
    fill(late, all.bundles);
    all.overlap = streamIsUsed_ || !early.empty();
    if (all.overlap) {
      order(all, others);
    }
    return all;
  }

private:
  void setLast(CollectiveOp op, int64_t at) {
    for (int64_t axis : op.getAxes()) {
      lastOver_[axis] = at;
      lastOf_[axis] = op.getOutput();
    }
  }

  // Where a value is complete: after which place of the compute stream, or -1 if after none.
  int64_t placeOf(Value value) {
    auto it = writer_.find(task::rootOf(value));
    return it == writer_.end() ? -1 : it->second.second;
  }

  // The same of what a collective of the step section reads.
  int64_t madeAt(CollectiveOp op) { return madeAt_.at(op); }

  bool overtakes(CollectiveOp op, int64_t waitsFor) {
    return llvm::any_of(op.getAxes(), [&](int64_t axis) {
      auto it = lastOver_.find(axis);
      return it != lastOver_.end() && waitsFor <= it->second;
    });
  }

  // Makes what would overtake wait.
  void order(StepCollectives &all, llvm::ArrayRef<CollectiveOp> others) {
    int64_t waitsFor = -1;
    auto issue = [&](llvm::ArrayRef<CollectiveOp> members) {
      for (CollectiveOp op : members) {
        waitsFor = std::max(waitsFor, madeAt(op));
      }
      for (CollectiveOp op : members) {
        for (int64_t axis : op.getAxes()) {
          auto it = lastOver_.find(axis);
          if (it != lastOver_.end() && waitsFor <= it->second) {
            waitsFor = it->second + 1;
            all.after[members[0]] = lastOf_[axis];
          }
        }
      }
    };
    llvm::for_each(all.bundles, issue);
    for (CollectiveOp op : others) {
      issue(op);
    }
  }

  // One list of bundles for each set of axes, in the order in which the bundles are complete.
  void fill(llvm::ArrayRef<CollectiveOp> gradients, std::vector<Bundle> &bundles) {
    std::map<std::vector<int64_t>, std::pair<Bundle, int64_t>> open; // by axes: with its bytes
    auto close = [&](Bundle &bundle) {
      bundles.push_back(std::move(bundle));
      bundle.clear();
    };
    for (CollectiveOp op : gradients) {
      auto &[bundle, bytes] = open[op.getAxes().vec()];
      int64_t more = task::localBytesOf(task::tensorOf(op.getInput()), placement_);
      int64_t most = bundles.empty() ? kFirstBucketBytes : kBucketBytes;
      if (!bundle.empty() && bytes + more > most) {
        close(bundle);
        bytes = 0;
      }
      bundle.push_back(op);
      bytes += more;
    }
    std::vector<Bundle *> rest;
    for (auto &[axes, it] : open) {
      if (!it.first.empty()) {
        rest.push_back(&it.first);
      }
    }
    llvm::sort(rest, [&](Bundle *a, Bundle *b) {
      CollectiveOp x = a->back(), y = b->back();
      return madeAt(x) != madeAt(y) ? madeAt(x) < madeAt(y) : x->isBeforeInBlock(y);
    });
    for (Bundle *bundle : rest) {
      close(*bundle);
    }
  }

  ir::PlacementAttr placement_;
  llvm::ArrayRef<Operation *> step_;
  llvm::DenseMap<Value, std::pair<Operation *, int64_t>> writer_; // of a root, the last, and its place
  llvm::DenseMap<Operation *, int64_t> madeAt_;
  bool streamIsUsed_;                   // the stream has collectives of other sections
  std::map<int64_t, int64_t> lastOver_; // a mesh axis: the last collective that the computation has over it
  std::map<int64_t, Value> lastOf_;     // what that makes
};

} // namespace

bool isReduction(CollectiveOp op) {
  return !op.getMax() &&
         (op.getKind() == task::CollectiveKind::AllReduce || op.getKind() == task::CollectiveKind::ReduceScatter);
}

bool isBackward(Operation *op) {
  return ir::phaseOf(op) == ir::OpPhase::Backward || ir::phaseOf(op) == ir::OpPhase::Weight;
}

StepCollectives bundle(task::ProgramOp program, llvm::ArrayRef<Operation *> micro, llvm::ArrayRef<Operation *> step,
                       const CommunicationStream &stream) {
  return Bundler(program, micro, step, stream).run();
}

} // namespace weft::compiler
