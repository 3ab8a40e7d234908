#include "compiler/pipeline/recompute.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/analysis/layer.h"

namespace weft::compiler {
namespace {

// What a layer recomputes, and whether what it keeps lies below the device.
struct Way {
  Recompute::Policy policy;
  bool below = false;
};

// What is tried on one stage of n layers are levels: 0 is the first way in all of them, 1 to n the second way in so
// many and the first in the others, n + 1 to 2 n the third in some and the second in the others.
struct StageLevels {
  std::vector<std::string> layers; // without those that the job pins
  int least = 0;                   // all levels below do not fit
  int most = 0;                    // fits, or is the last one
  bool fits = false;               // so the one
  std::map<int, double> bytes;     // at least, of the levels that were tried
  std::map<int, bool> tiersFit;    // what lies below the device, of the same
  std::vector<int> left;           // most - least, after each try
  double gaps = 1;                 // bytes of what just did not fit, of those that it needs at least

  bool found() const { return least == most; }
  bool allFits() const { return fits && (!tiersFit.count(most) || tiersFit.at(most)); }
  int count() const { return int(layers.size()); }

  void begin(size_t ways) {
    *this = StageLevels{layers};
    most = int(ways - 1) * count();
  }

  // The level to try next: each way in all layers, then where so many bytes are on a line between those of the levels
  // on either side, as each layer gives back about as many; less what gaps take. Half way, where the last two tries did
  // not halve what was left.
  int next(int64_t limit) const {
    if (found() || least == 0) {
      return least;
    }
    const int whole = (least + count() - 1) / count() * count();
    if (whole < most && !bytes.count(whole)) {
      return whole;
    }
    const auto below = bytes.find(least - 1), above = bytes.find(most);
    const bool isSlow = left.size() > 2 && 2 * left.back() > left[left.size() - 3];
    if (above == bytes.end() || below->second <= above->second || isSlow) {
      return (least + most) / 2;
    }
    const double part = (double(limit) / gaps - above->second) / (below->second - above->second);
    return std::clamp(most - int(part * (most - least + 1)), least, most - 1);
  }

  // `fallsBelow`: the higher the level, the less lies below the device.
  void learn(int level, const Fit &fit, bool fallsBelow) {
    const bool now = fit.fits && (fit.tiersFit || !fallsBelow);
    fits |= now;
    if (!found()) {
      (now ? most : least) = now ? level : level + 1;
      bytes[level] = double(fit.leastBytes);
      tiersFit[level] = fit.tiersFit;
      left.push_back(most - least);
      if (!fit.fits && fit.leastBytes > 0)
        gaps = std::max(gaps, double(fit.bytes) / double(fit.leastBytes));
    }
  }

  // The number of the way of a layer. The first layers go over first, as they keep longest; but what goes below the
  // device comes from all of the stage, so that copies have the time of the layers between.
  size_t wayAt(int level, int layer, llvm::ArrayRef<Way> ways) const {
    const int whole = std::min(level / count(), int(ways.size()) - 1), more = level - whole * count();
    const bool spread = whole + 1 < int(ways.size()) && ways[whole + 1].below != ways[whole].below;
    const bool goes = spread ? (layer + 1) * more / count() > layer * more / count() : layer < more;
    return size_t(whole + goes);
  }
};

class Resolver {
public:
  Resolver(mlir::ModuleOp module, const Job &job, Candidates &candidates)
      : module_(module), job_(job), candidates_(candidates) {
    for (const Recompute::Layer &pin : job.recompute().layers()) {
      layers_[pin.scope()] = pin;
    }
    for (auto graph : module.getOps<ir::GraphOp>()) {
      stages_.resize(graph.getPlacements().size());
      for (const Layer &layer : layersOf(graph)) {
        addLayer(layer);
      }
    }
  }

  Recompute plain() const {
    Recompute::Policy policy = job_.recompute().policy();
    return listed(policy == Recompute::AUTO ? Recompute::NONE : policy);
  }

  // The least recomputation that fits; where what layers keep may lie below the device, what is faster with that.
  Recompute fitting(int64_t memoryBytes, bool below) {
    candidates_.keep(job_, Phase::Recompute, module_);
    std::vector<Way> ways = {kNone, kSelective, kFull};
    if (below) {
      ways.push_back(lowered(kFull));
    }
    const std::optional<Recompute> found = climb(ways, memoryBytes);
    if (!found) {
      return asTried();
    }
    return below && fits() ? fasterBelow(*found, memoryBytes) : *found;
  }

private:
  static constexpr Way kNone{Recompute::NONE}, kSelective{Recompute::SELECTIVE}, kFull{Recompute::FULL};
  static Way lowered(Way way) { return {way.policy, true}; }

  // Whether all stages fit with the levels that were found.
  bool fits() const {
    return llvm::all_of(stages_, [](const StageLevels &stage) { return stage.allFits(); });
  }

  // The fastest of `found`, which is the last that climb() found, and of what recomputes less and moves more. What
  // saves less than a thousandth of a step is not worth memory of the host.
  Recompute fasterBelow(Recompute found, int64_t memoryBytes) {
    constexpr double kWorth = 0.999;
    const auto exceeds = [&](int ways) { // so many ways in all layers, somewhere
      return llvm::any_of(stages_, [&](const StageLevels &stage) { return stage.most > ways * stage.count(); });
    };
    if (!exceeds(0)) {
      return found;
    }
    std::vector<std::vector<Way>> others = {{kNone, lowered(kSelective)}, {kNone, lowered(kNone)}};
    if (exceeds(1)) {
      others.push_back({kNone, kSelective, lowered(kSelective)});
    }
    std::optional<double> best = secondsOf(found);
    for (const std::vector<Way> &ways : others) {
      const std::optional<Recompute> other = climb(ways, memoryBytes);
      const std::optional<double> seconds = other && fits() ? secondsOf(*other) : std::nullopt;
      if (seconds && (!best || *seconds < kWorth * *best)) {
        best = seconds;
        found = *other;
      }
    }
    return found;
  }

  // Of ways that need ever less memory, the first that fits, stage by stage; or the last. Nothing if one does not
  // compile.
  std::optional<Recompute> climb(llvm::ArrayRef<Way> ways, int64_t memoryBytes) {
    for (StageLevels &stage : stages_) {
      stage.begin(ways.size());
    }
    const bool fallsBelow = llvm::none_of(ways, [](const Way &way) { return way.below; });
    while (!llvm::all_of(stages_, [](const StageLevels &stage) { return stage.found(); })) {
      std::vector<int> levels = setLevels(ways, memoryBytes);
      const absl::StatusOr<std::vector<Fit>> fits = candidates_.fit(variant(), memoryBytes);
      if (!fits.ok()) {
        return std::nullopt;
      }
      for (size_t s = 0; s < stages_.size(); ++s) {
        stages_[s].learn(levels[s], (*fits)[s], fallsBelow);
      }
    }
    setLevels(ways, memoryBytes);
    return asTried();
  }

  Recompute asTried() const { return listed(Recompute::NONE); }

  Job variant() const {
    Job variant = job_;
    *variant.mutable_recompute() = asTried();
    return variant;
  }

  std::optional<double> secondsOf(const Recompute &recompute) {
    Job variant = job_;
    *variant.mutable_recompute() = recompute;
    const absl::StatusOr<double> seconds = candidates_.secondsOf(variant);
    return seconds.ok() ? std::optional(*seconds) : std::nullopt;
  }

  void addLayer(const Layer &layer) {
    std::string name = layer.name.str();
    if (!llvm::is_contained(names_, name)) {
      names_.push_back(name);
    }
    if (!layers_.count(name) && !layer.backward.empty()) {
      stages_[layer.stage].layers.push_back(name);
    }
  }

  // Gives the layers what they do at the levels to try next.
  std::vector<int> setLevels(llvm::ArrayRef<Way> ways, int64_t memoryBytes) {
    std::vector<int> levels;
    for (const StageLevels &stage : stages_) {
      int level = stage.next(memoryBytes);
      levels.push_back(level);
      for (auto [i, name] : llvm::enumerate(stage.layers)) {
        const Way &way = ways[stage.wayAt(level, int(i), ways)];
        Recompute::Layer &layer = layers_[name];
        layer.Clear();
        layer.set_scope(name);
        layer.set_policy(way.policy);
        if (way.below) {
          layer.set_offload(true);
        }
      }
    }
    return levels;
  }

  Recompute listed(Recompute::Policy rest) const {
    Recompute all = job_.recompute();
    all.clear_policy();
    all.clear_layers();
    for (const std::string &name : names_) {
      auto it = layers_.find(name);
      if (it != layers_.end()) {
        *all.add_layers() = it->second;
      } else {
        Recompute::Layer *layer = all.add_layers();
        layer->set_scope(name);
        layer->set_policy(rest);
      }
    }
    for (const auto &[name, layer] : layers_) {
      if (!llvm::is_contained(names_, name)) {
        *all.add_layers() = layer;
      }
    }
    return all;
  }

  mlir::ModuleOp module_;
  const Job &job_;
  Candidates &candidates_;
  std::vector<std::string> names_;                 // of the layers, in their order
  std::map<std::string, Recompute::Layer> layers_; // pinned, or being tried
  std::vector<StageLevels> stages_;
};

} // namespace

Recompute resolveRecompute(mlir::ModuleOp module, const Job &job, int64_t memoryBytes, bool hasTier,
                           Candidates &candidates) {
  Resolver resolver(module, job, candidates);
  if (job.recompute().policy() == Recompute::AUTO && memoryBytes > 0) {
    return resolver.fitting(memoryBytes, hasTier && !job.recompute().has_offload());
  }
  return resolver.plain();
}

} // namespace weft::compiler
