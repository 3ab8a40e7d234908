#include "compiler/passes/schedule/communication_stream.h"

#include "compiler/analysis/layer.h"
#include "compiler/dialect/task/registers.h"
#include "compiler/job/axes.h"
#include "compiler/passes/schedule/buckets.h"

namespace weft::compiler {

using task::CollectiveKind;
using task::CollectiveOp;

namespace {

bool isTile(Operation *op) {
  auto kernel = llvm::dyn_cast<task::KernelOp>(op);
  return kernel && kernel.getName() == "copy_tile";
}

bool isShift(Operation *op) {
  auto collective = llvm::dyn_cast<CollectiveOp>(op);
  return collective && collective.getKind() == CollectiveKind::Shift;
}

bool computes(Operation *op) { return llvm::isa<task::KernelOp>(op) && !llvm::isa<task::InputKernel>(op); }

llvm::StringRef layerOf(Operation *op) { return compiler::layerOf(ir::scopeOf(op)); }

// Adds what units make of a value: its tiles and sums. False if they make something else of it.
bool addSums(Value value, SmallVectorImpl<Operation *> &sums) {
  for (Operation *user : value.getUsers()) {
    if (auto alias = llvm::dyn_cast<task::AliasOp>(user)) {
      if (!addSums(alias, sums)) {
        return false;
      }
      continue;
    }
    // What is stored in a tier is done with.
    if (!llvm::is_contained(task::inputsOf(user), value) || llvm::isa<task::MoveKernel>(user) ||
        (task::sectionOf(user) != task::Section::Micro && !llvm::isa<task::SendOp>(user))) {
      continue;
    }
    if (!llvm::isa<task::AccumulateKernel>(user) && !isTile(user)) {
      return false;
    }
    sums.push_back(user);
    if (isTile(user) && !addSums(task::outputsOf(user)[0], sums)) {
      return false;
    }
  }
  return true;
}

std::optional<SmallVector<Operation *>> sumsOf(CollectiveOp reduction) {
  SmallVector<Operation *> sums;
  return addSums(reduction.getOutput(), sums) ? std::optional(sums) : std::nullopt;
}

int64_t bytesOf(CollectiveOp op, ir::PlacementAttr placement) {
  return std::max(task::localBytesOf(task::tensorOf(op.getInput()), placement),
                  task::localBytesOf(task::tensorOf(op.getOutput()), placement));
}

// Whether a bundle of so many bytes, whose last member is `last`, is complete without one more: as that of a layer is,
// if it is not small.
bool isFull(CollectiveOp last, int64_t bytes, CollectiveOp next, int64_t more) {
  return bytes + more > kBucketBytes || (layerOf(last) != layerOf(next) && bytes >= kFirstBucketBytes);
}

} // namespace

// ---- axes -------------------------------------------------------------------

CommunicationStream::CommunicationStream(task::ProgramOp program, ArrayRef<Operation *> begin,
                                         ArrayRef<ArrayRef<Operation *>> units)
    : placement_(program.getPlacement()) {
  SmallVector<Operation *> all(begin.begin(), begin.end());
  for (ArrayRef<Operation *> unit : units) {
    llvm::append_range(all, unit);
    for (Operation *op : unit) {
      for (Value output : task::outputsOf(op)) {
        made_.insert(task::rootOf(output));
      }
    }
  }
  for (auto [at, op] : llvm::enumerate(all)) {
    for (Value input : task::inputsOf(op)) {
      firstRead_.try_emplace(task::rootOf(input), int64_t(at));
    }
  }
  const bool overlaps = program.getOverlap() > 1;
  auto seed = [&](Operation *op) {
    ArrayRef<int64_t> axes = llvm::cast<CollectiveOp>(op).getAxes();
    axes_.insert(axes.begin(), axes.end());
  };
  for (Operation *op : begin) {
    if (isGather(op)) {
      seed(op);
    }
  }
  for (ArrayRef<Operation *> unit : units) {
    for (Operation *op : unit) {
      if (isGather(op) || isReduction(op) || isShift(op) || (overlaps && llvm::isa<CollectiveOp>(op))) {
        seed(op);
      }
    }
  }
  close(all);
}

// Axes that a collective has in common with those there are.
void CommunicationStream::close(ArrayRef<Operation *> work) {
  for (size_t before = 0; before != axes_.size();) {
    before = axes_.size();
    for (Operation *op : work) {
      if (has(op)) {
        ArrayRef<int64_t> axes = llvm::cast<CollectiveOp>(op).getAxes();
        axes_.insert(axes.begin(), axes.end());
      }
    }
  }
}

bool CommunicationStream::has(Operation *op) const {
  auto collective = llvm::dyn_cast<CollectiveOp>(op);
  return collective && llvm::any_of(collective.getAxes(), [&](int64_t axis) { return axes_.count(axis) > 0; });
}

static bool isOverShares(CollectiveOp op, ir::PlacementAttr placement) {
  return llvm::all_of(op.getAxes(), [&](int64_t axis) {
    const MeshAxis *known = FindMeshAxis(placement.getAxes()[axis].getValue());
    return known && known->shares;
  });
}

bool CommunicationStream::isGather(Operation *op) const {
  auto collective = llvm::dyn_cast<CollectiveOp>(op);
  return collective && collective.getKind() == CollectiveKind::AllGather && isOverShares(collective, placement_) &&
         !made_.contains(task::rootOf(collective.getInput()));
}

bool CommunicationStream::isReduction(Operation *op) const {
  auto collective = llvm::dyn_cast<CollectiveOp>(op);
  return collective && collective.getKind() == CollectiveKind::ReduceScatter && !collective.getMax() &&
         isOverShares(collective, placement_) && sumsOf(collective);
}

// ---- the begin section ------------------------------------------------------

std::vector<ActorWork> CommunicationStream::begin(ArrayRef<Operation *> work) const {
  // How many collectives of the stream lie before an op; what another stage has to send comes behind everything else.
  constexpr int kReceived = 1 << 20;
  llvm::DenseMap<Value, int> levelOf;
  std::map<int, std::pair<SmallVector<Operation *>, SmallVector<CollectiveOp>>> levels;
  for (Operation *op : work) {
    int level = llvm::isa<task::ReceiveOp>(op) ? kReceived : 0;
    for (Value input : task::inputsOf(op)) {
      level = std::max(level, levelOf.lookup(task::rootOf(input)));
    }
    if (has(op)) {
      levels[level].second.push_back(llvm::cast<CollectiveOp>(op));
    } else {
      levels[level].first.push_back(op);
    }
    for (Value output : task::outputsOf(op)) {
      levelOf[task::rootOf(output)] = level + (has(op) ? 1 : 0);
    }
  }
  std::vector<ActorWork> portions;
  auto read = [&](CollectiveOp op) {
    auto it = firstRead_.find(task::rootOf(op.getOutput()));
    return it == firstRead_.end() ? std::numeric_limits<int64_t>::max() : it->second;
  };
  for (auto &[level, ops] : levels) {
    for (Operation *op : ops.first) {
      portions.push_back({{op}});
    }
    llvm::sort(ops.second, [&](CollectiveOp a, CollectiveOp b) {
      return read(a) != read(b) ? read(a) < read(b) : a->isBeforeInBlock(b);
    });
    int64_t bytes = 0;
    for (auto [i, op] : llvm::enumerate(ops.second)) {
      int64_t more = bytesOf(op, placement_);
      CollectiveOp last = i > 0 ? ops.second[i - 1] : CollectiveOp();
      bool joins = last && last.getAxes() == op.getAxes() && !isFull(last, bytes, op, more);
      if (joins) {
        portions.back().work.push_back(op);
      } else {
        portions.push_back({{op}, "parameters", {}, true});
      }
      bytes = joins ? bytes + more : more;
    }
  }
  return portions;
}

// ---- units ------------------------------------------------------------------

// One unit. Places are those of the computation's ops; what is at a place comes before the op that is there.
class CommunicationStream::Planner {
public:
  Planner(const CommunicationStream &stream, ArrayRef<Operation *> work) : stream_(stream), work_(work) {
    findReductions();
    findPlaces();
    findGathers();
  }

  std::vector<ActorWork> run(Value before) {
    placeReductions();
    std::vector<std::vector<ActorWork>> gathers(compute_.size() + 1);
    for (size_t i = 0; i < gathers_.size(); ++i) {
      size_t place = issueOf(i);
      Value after = place > 0 ? madeBefore(place) : Value();
      after = after ? after : before;
      gathers[place].push_back({{gathers_[i].members.begin(), gathers_[i].members.end()}, "", {}, true});
      if (after) {
        gathers[place].back().after.push_back(after);
      }
    }
    std::vector<ActorWork> portions;
    auto take = [&](std::vector<ActorWork> &some) { llvm::move(some, std::back_inserter(portions)); };
    for (size_t place = 0; place <= compute_.size(); ++place) {
      take(gathers[place]);
      take(others_[place]);
      take(reductions_[place]);
      take(sums_[place]);
      if (place < compute_.size()) {
        portions.push_back({{compute_[place]}, "", waits_[place], apart_.contains(place)});
      }
    }
    return portions;
  }

  Value last(bool atItsEnd) const {
    return atItsEnd || gathers_.empty() ? madeBefore(compute_.size()) : madeBefore(gathers_.back().read);
  }

  ArrayRef<CollectiveOp> firstBundle() const { return bundle(0); }
  ArrayRef<CollectiveOp> lastBundle() const { return bundle(gathers_.size() - 1); }

private:
  struct Gathers {
    SmallVector<CollectiveOp> members;
    size_t read = 0; // the place of the first reader
  };

  ArrayRef<CollectiveOp> bundle(size_t i) const {
    return i < gathers_.size() ? ArrayRef<CollectiveOp>(gathers_[i].members) : ArrayRef<CollectiveOp>();
  }

  void findReductions() {
    llvm::DenseSet<Operation *> here(work_.begin(), work_.end());
    for (Operation *op : work_) {
      if (!stream_.has(op) || !stream_.isReduction(op)) {
        continue;
      }
      reduced_.insert(op);
      std::optional<SmallVector<Operation *>> sums = sumsOf(llvm::cast<CollectiveOp>(op));
      for (Operation *sum : *sums) {
        if (here.contains(sum)) {
          summing_[sum] = op;
        }
      }
    }
  }

  // Where the unit's ops are, and for each root the place of its first reader, or -1 if something reads it that has
  // another stream.
  void findPlaces() {
    for (Operation *op : work_) {
      bool places = llvm::isa<CollectiveOp>(op) ? !stream_.has(op) : computes(op) && !summing_.contains(op);
      for (Value input : task::inputsOf(op)) {
        int64_t at = places ? int64_t(compute_.size()) : -1;
        auto [it, added] = read_.try_emplace(task::rootOf(input), at);
        it->second = places ? it->second : -1;
      }
      if (places) {
        compute_.push_back(op);
      } else {
        placeOf_[op] = compute_.size();
      }
    }
    others_.resize(compute_.size() + 1);
    reductions_.resize(compute_.size() + 1);
    sums_.resize(compute_.size() + 1);
    waits_.resize(compute_.size() + 1);
  }

  // Gathers by the layer of their first reader; everything else on another stream stays where it is.
  void findGathers() {
    SmallVector<std::pair<size_t, CollectiveOp>> ahead;
    for (Operation *op : work_) {
      auto it = placeOf_.find(op);
      if (it == placeOf_.end() || reduced_.contains(op) || summing_.contains(op)) {
        continue;
      }
      if (stream_.has(op) && stream_.isGather(op)) {
        auto read = read_.find(task::rootOf(llvm::cast<CollectiveOp>(op).getOutput()));
        if (read != read_.end() && read->second >= 0) {
          ahead.push_back({size_t(read->second), llvm::cast<CollectiveOp>(op)});
          continue;
        }
      }
      if (isShift(op)) {
        placeShift(llvm::cast<CollectiveOp>(op), it->second);
        continue;
      }
      others_[it->second].push_back({{op}, "", {}, true});
    }
    llvm::sort(ahead, [](auto a, auto b) {
      return a.first != b.first ? a.first < b.first : a.second->isBeforeInBlock(b.second);
    });
    for (auto [read, op] : ahead) {
      bool joins = !gathers_.empty() && gathers_.back().members[0].getAxes() == op.getAxes() &&
                   layerOf(compute_[gathers_.back().read]) == layerOf(compute_[read]);
      if (!joins) {
        gathers_.push_back({{}, read});
        apart_.insert(read);
      }
      gathers_.back().members.push_back(op);
    }
  }

  // Those at one place as one operation, behind what the computation has made last: the memory that the block before
  // leaves is free by then. What reads them begins an actor, so that the block before it does not wait.
  void placeShift(CollectiveOp shift, size_t place) {
    std::vector<ActorWork> &others = others_[place];
    auto read = read_.find(task::rootOf(shift.getOutput()));
    if (read != read_.end() && read->second >= 0) {
      apart_.insert(size_t(read->second));
    }
    const bool joins = !others.empty() && isShift(others.back().work[0]) &&
                       llvm::cast<CollectiveOp>(others.back().work[0]).getAxes() == shift.getAxes();
    if (joins) {
      others.back().work.push_back(shift);
      return;
    }
    others.push_back({{shift}, "", {}, true});
    if (Value before = madeBefore(place)) {
      others.back().after.push_back(before);
    }
  }

  // Where the bundle is issued: where the one before it is read.
  size_t issueOf(size_t bundle) const {
    for (size_t i = bundle; i-- > 0;) {
      if (gathers_[i].read < gathers_[bundle].read) {
        return gathers_[i].read;
      }
    }
    return 0;
  }

  // What the computation has made last before a place, and is written once a micro-batch.
  Value madeBefore(size_t place) const {
    while (place-- > 0) {
      for (Value output : task::outputsOf(compute_[place])) {
        if (!llvm::isa<task::SumKernel>(compute_[place]) && !task::isState(task::rootOf(output))) {
          return output;
        }
      }
    }
    return {};
  }

  // Bundles by axes, in the order in which they are complete; the sums of one where the next one is.
  void placeReductions() {
    struct Bundle {
      SmallVector<CollectiveOp> members;
      size_t place = 0;
    };
    std::vector<Bundle> bundles;
    std::map<std::vector<int64_t>, std::pair<size_t, int64_t>> open; // by axes: which one, and its bytes
    for (Operation *op : work_) {
      if (!reduced_.contains(op)) {
        continue;
      }
      auto reduction = llvm::cast<CollectiveOp>(op);
      int64_t more = bytesOf(reduction, stream_.placement_);
      auto [it, added] = open.try_emplace(reduction.getAxes().vec(), bundles.size(), 0);
      auto &[which, bytes] = it->second;
      // A small one is not complete by itself: the computation would wait there for what comes before it. Example: a
      // gradient of 512 MiB, then that of a bias, which is ready long before the next one of 512 MiB.
      const bool isSmall = bytes < kFirstBucketBytes;
      if (!added && !isSmall && isFull(bundles[which].members.back(), bytes, reduction, more)) {
        which = bundles.size();
        bytes = 0;
      }
      if (which == bundles.size()) {
        bundles.emplace_back();
      }
      bundles[which].members.push_back(reduction);
      bundles[which].place = placeOf_.lookup(op);
      bytes += more;
    }
    llvm::sort(bundles, [](const Bundle &a, const Bundle &b) {
      CollectiveOp x = a.members[0], y = b.members[0];
      return a.place != b.place ? a.place < b.place : x->isBeforeInBlock(y);
    });
    for (size_t i = 0; i < bundles.size(); ++i) {
      Bundle &bundle = bundles[i];
      size_t next = i + 1;
      while (next < bundles.size() && bundles[next].place == bundle.place) {
        ++next;
      }
      size_t wait = next < bundles.size() ? bundles[next].place : compute_.size();
      apart_.insert(bundle.place);
      reductions_[bundle.place].push_back({{bundle.members.begin(), bundle.members.end()}, "gradients", {}, true});
      bool sums = false;
      for (Operation *op : work_) {
        auto it = summing_.find(op);
        if (it != summing_.end() && llvm::is_contained(bundle.members, it->second)) {
          sums_[wait].push_back({{op}, "", {}, !sums});
          sums = true;
        }
      }
      if (!sums && wait < compute_.size()) {
        waits_[wait].push_back(bundle.members[0].getOutput());
        apart_.insert(wait);
      }
    }
  }

  const CommunicationStream &stream_;
  ArrayRef<Operation *> work_;
  SmallVector<Operation *> compute_;
  llvm::DenseMap<Operation *, size_t> placeOf_; // of everything else
  llvm::DenseMap<Value, int64_t> read_;
  std::vector<Gathers> gathers_;
  llvm::DenseSet<Operation *> reduced_;
  llvm::DenseMap<Operation *, Operation *> summing_; // of what sums the result of which
  llvm::DenseSet<size_t> apart_;
  std::vector<std::vector<ActorWork>> others_, reductions_, sums_;
  std::vector<SmallVector<Value, 1>> waits_;
};

std::vector<ActorWork> CommunicationStream::unit(ArrayRef<Operation *> work, Value before) const {
  return Planner(*this, work).run(before);
}

Value CommunicationStream::lastOf(ArrayRef<Operation *> work, bool atItsEnd) const {
  return Planner(*this, work).last(atItsEnd);
}

SmallVector<std::pair<CollectiveOp, CollectiveOp>> CommunicationStream::keptFor(ArrayRef<Operation *> backward,
                                                                                ArrayRef<Operation *> forward) const {
  SmallVector<std::pair<CollectiveOp, CollectiveOp>> kept;
  Planner later(*this, backward), earlier(*this, forward);
  for (CollectiveOp again : later.firstBundle()) {
    for (CollectiveOp first : earlier.lastBundle()) {
      if (again.getInput() == first.getInput() && again.getOutput().getType() == first.getOutput().getType()) {
        kept.push_back({again, first});
        break;
      }
    }
  }
  return kept;
}

} // namespace weft::compiler
