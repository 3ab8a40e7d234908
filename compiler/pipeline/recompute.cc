#include "compiler/pipeline/recompute.h"

#include <algorithm>
#include <map>

#include "compiler/analysis/layer.h"

namespace weft::compiler {
namespace {

// The policies that are tried on one stage of n layers are levels: 0 is NONE, 1 to n are SELECTIVE in so many of the
// first layers and NONE in the others, n + 1 to 2 n are FULL in 1 to n of the first layers and SELECTIVE in the others.
struct StageLevels {
  std::vector<std::string> layers; // without those that the job pins
  int least = 0;                   // all levels below do not fit
  int most = 0;                    // fits, or is the last one
  std::map<int, double> bytes;     // at least, of the levels that were tried
  std::vector<int> left;           // most - least, after each try
  double gaps = 1;                 // bytes of what just did not fit, of those that it needs at least

  bool found() const { return least == most; }
  int selective() const { return int(layers.size()); } // in all layers

  // The level to try next: NONE, SELECTIVE everywhere, then where so many bytes are on a line between those of the
  // levels on either side, as each layer gives back about as many; less what gaps take. Half way, where the last two
  // tries did not halve what was left.
  int next(int64_t limit) const {
    if (found() || least == 0) {
      return least;
    }
    if (least <= selective() && most > selective()) {
      return selective();
    }
    const auto below = bytes.find(least - 1), above = bytes.find(most);
    const bool isSlow = left.size() > 2 && 2 * left.back() > left[left.size() - 3];
    if (above == bytes.end() || below->second <= above->second || isSlow) {
      return (least + most) / 2;
    }
    const double part = (double(limit) / gaps - above->second) / (below->second - above->second);
    return std::clamp(most - int(part * (most - least + 1)), least, most - 1);
  }

  void learn(int level, const Fit &fit) {
    if (!found()) {
      (fit.fits ? most : least) = fit.fits ? level : level + 1;
      bytes[level] = double(fit.leastBytes);
      left.push_back(most - least);
      if (!fit.fits && fit.leastBytes > 0)
        gaps = std::max(gaps, double(fit.bytes) / double(fit.leastBytes));
    }
  }

  Recompute::Policy policyAt(int level, int layer) const {
    return layer < level - selective() ? Recompute::FULL : layer < level ? Recompute::SELECTIVE : Recompute::NONE;
  }
};

class Resolver {
public:
  Resolver(mlir::ModuleOp module, const Job &job, Candidates &candidates)
      : module_(module), job_(job), candidates_(candidates) {
    for (const Recompute::Layer &pin : job.recompute().layers()) {
      policies_[pin.scope()] = pin.policy();
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

  Recompute fitting(int64_t memoryBytes) {
    candidates_.keep(job_, Phase::Recompute, module_);
    while (!llvm::all_of(stages_, [](const StageLevels &stage) { return stage.found(); })) {
      std::vector<int> levels = setLevels(memoryBytes);
      Job variant = job_;
      *variant.mutable_recompute() = listed(Recompute::NONE);
      const absl::StatusOr<std::vector<Fit>> fits = candidates_.fit(variant, memoryBytes);
      if (!fits.ok()) {
        return variant.recompute();
      }
      for (size_t s = 0; s < stages_.size(); ++s) {
        stages_[s].learn(levels[s], (*fits)[s]);
      }
    }
    setLevels(memoryBytes);
    return listed(Recompute::NONE);
  }

private:
  void addLayer(const Layer &layer) {
    std::string name = layer.name.str();
    if (!llvm::is_contained(names_, name)) {
      names_.push_back(name);
    }
    if (!policies_.count(name) && !layer.backward.empty()) {
      StageLevels &stage = stages_[layer.stage];
      stage.layers.push_back(name);
      stage.most = 2 * stage.selective();
    }
  }

  // Gives the layers the policies of the levels to try next.
  std::vector<int> setLevels(int64_t memoryBytes) {
    std::vector<int> levels;
    for (const StageLevels &stage : stages_) {
      int level = stage.next(memoryBytes);
      levels.push_back(level);
      for (auto [i, name] : llvm::enumerate(stage.layers)) {
        policies_[name] = stage.policyAt(level, int(i));
      }
    }
    return levels;
  }

  Recompute listed(Recompute::Policy rest) const {
    Recompute all;
    all.set_offload(job_.recompute().offload());
    all.set_tier(job_.recompute().tier());
    auto add = [&](const std::string &name, Recompute::Policy policy) {
      Recompute::Layer *layer = all.add_layers();
      layer->set_scope(name);
      layer->set_policy(policy);
    };
    for (const std::string &name : names_) {
      auto it = policies_.find(name);
      add(name, it == policies_.end() ? rest : it->second);
    }
    for (const auto &[name, policy] : policies_) {
      if (!llvm::is_contained(names_, name)) {
        add(name, policy);
      }
    }
    return all;
  }

  mlir::ModuleOp module_;
  const Job &job_;
  Candidates &candidates_;
  std::vector<std::string> names_;                    // of the layers, in their order
  std::map<std::string, Recompute::Policy> policies_; // pinned, or being tried
  std::vector<StageLevels> stages_;
};

} // namespace

Recompute resolveRecompute(mlir::ModuleOp module, const Job &job, int64_t memoryBytes, Candidates &candidates) {
  Resolver resolver(module, job, candidates);
  if (job.recompute().policy() == Recompute::AUTO && memoryBytes > 0) {
    return resolver.fitting(memoryBytes);
  }
  return resolver.plain();
}

} // namespace weft::compiler
