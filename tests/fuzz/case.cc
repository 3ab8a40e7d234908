#include "tests/fuzz/case.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::fuzz {
namespace {

constexpr int64_t kMostRanks = 8;

int64_t RanksOf(const Layout& layout) {
  return layout.data * layout.tensor * layout.context * layout.expert * layout.stages;
}

int64_t ChunksOf(const Layout& layout) {
  if (layout.chunks > 0) return layout.chunks;
  return layout.schedule == "INTERLEAVED" || layout.schedule == "ZERO_BUBBLE form: V" ? 2 : 1;
}

bool IsCut(const Layout& layout) {
  return layout.stages > 1 || !layout.schedule.empty() || layout.chunks > 0 || !layout.cuts.empty() ||
         !layout.order.empty();
}

bool AsksForStages(const Layout& layout) {
  return (!layout.schedule.empty() && layout.schedule != "ONE_F_ONE_B") || layout.chunks > 1 || !layout.cuts.empty() ||
         !layout.order.empty();
}

// Layers that begin the second chunk and those behind it; now and then one too few.
std::vector<std::string> RandomCuts(Dice& dice, const Layout& layout, const std::vector<std::string>& layers) {
  const int64_t count = layout.stages * ChunksOf(layout) - 1;
  if (count < 1 || count >= static_cast<int64_t>(layers.size())) return {};
  std::vector<std::string> cuts;
  for (size_t i = 1; i < layers.size(); ++i) {
    // Of those that are left, each set of the number that is still to be chosen is as likely.
    if (dice.Below(static_cast<int64_t>(layers.size() - i)) < count - static_cast<int64_t>(cuts.size())) {
      cuts.push_back(layers[i]);
    }
  }
  if (dice.Percent(10)) cuts.pop_back();
  return cuts;
}

// A schedule file: again and again a stage does one of the units that it may do next. Now and then a unit is missing.
void AddOrder(Dice& dice, Layout& layout) {
  const int64_t chunks = ChunksOf(layout), all = layout.stages * chunks;
  const int kinds = dice.Percent(50) ? 3 : 2;  // F, B and perhaps W
  struct Unit {
    int64_t chunk;  // of the model
    int kind;
  };
  std::vector<std::vector<int64_t>> done(all, std::vector<int64_t>(kinds, 0));  // micro-batches
  std::vector<std::string> lines(layout.stages);
  while (true) {
    std::vector<Unit> possible;
    for (int64_t c = 0; c < all; ++c) {
      for (int kind = 0; kind < kinds; ++kind) {
        const int64_t i = done[c][kind];
        const int64_t before = kind == 0 ? c - 1 : kind == 1 ? c + 1 : -1;  // the chunk that it receives from
        const bool received = before < 0 || before >= all || done[before][kind] > i;
        if (i < layout.micro_batches && received && (kind == 0 || done[c][kind - 1] > i)) possible.push_back({c, kind});
      }
    }
    if (possible.empty()) break;
    const Unit unit = possible[dice.Below(static_cast<int64_t>(possible.size()))];
    std::string& line = lines[unit.chunk % layout.stages];
    const int64_t i = done[unit.chunk][unit.kind]++, chunk = unit.chunk / layout.stages;
    absl::StrAppend(&line, line.empty() ? "" : " ", std::string(1, "FBW"[unit.kind]), i,
                    chunk > 0 ? absl::StrCat(".", chunk) : "");
  }
  layout.whole = layout.stages == 1 || dice.Percent(95);
  if (!layout.whole) lines[0].resize(lines[0].rfind(' '));
  layout.order = absl::StrCat(absl::StrJoin(lines, "\n"), "\n");
}

// A small eps makes of Adam a function of the sign of a gradient, which rounding decides where it is 0 in truth.
std::string RandomOptimizer(Dice& dice) {
  const std::string rule = dice.Of({"sgd { lr: 0.1 }", "sgd { lr: 0.05 momentum: 0.9 weight_decay: 0.01 }",
                                    "adam { lr: 0.05 eps: 0.1 }", "adamw { lr: 0.05 eps: 0.1 weight_decay: 0.1 }"});
  const std::string clip = dice.Percent(40) ? " clip_norm: 0.5" : "";
  const std::string schedule =
      dice.Percent(30) ? " schedule { warmup_linear { warmup: 1 total: 10 min_ratio: 0.1 } }" : "";
  return rule + clip + schedule;
}

}  // namespace

int64_t SamplesOf(const Layout& layout) { return layout.micro * (layout.micro_batches - 1) + layout.last; }

// Sizes need not divide what they split.
Layout RandomLayout(Dice& dice, const Traits& traits) {
  Layout layout;
  do {
    layout.data = dice.Of({1, 1, 2, 2, 3, 4, 8});
    layout.tensor = dice.Of({1, 1, 1, 2, 2, 3, 4});
    layout.context = dice.Of({1, 1, 1, 1, 2, 3});
    layout.expert = dice.Percent(traits.uses_expert ? 60 : 2) ? dice.Of({2, 2, 3}) : 1;
    layout.stages = dice.Of({1, 1, 2, 2, 3, 4});
  } while (RanksOf(layout) > kMostRanks);
  layout.micro = layout.data * dice.Of({1, 1, 2, 3});
  if (dice.Percent(30)) layout.micro = layout.data + dice.Below(2 * layout.data);
  if (dice.Percent(5)) layout.micro = 1 + dice.Below(6);
  layout.micro_batches = dice.Of({1, 2, 2, 3, 4, 4, 5, 8});
  layout.last = layout.micro;
  if (layout.micro_batches > 1 && !traits.mixes_batch && dice.Percent(25)) {
    layout.last = 1 + dice.Below(layout.micro);
  }
  if (layout.stages > 1 || dice.Percent(2)) {
    layout.schedule =
        dice.Of({"", "GPIPE", "ONE_F_ONE_B", "INTERLEAVED", "ZERO_BUBBLE form: H1", "ZERO_BUBBLE form: V"});
    if (layout.schedule == "INTERLEAVED" && dice.Percent(40)) layout.chunks = dice.Of({2, 3});
    if (dice.Percent(3)) layout.chunks = 1 + dice.Below(3);
    // In place of a schedule; chunks are dealt out in turn.
    if (dice.Percent(20)) {
      layout.schedule = "";
      AddOrder(dice, layout);
    }
    if (dice.Percent(25)) layout.cuts = RandomCuts(dice, layout, traits.layers);
  }
  if (layout.data > 1 || dice.Percent(10)) {
    layout.zero = dice.Of({0, 0, 1, 2, 3, 3});
    if (layout.zero > 0 && dice.Percent(30)) layout.group = dice.Of({1, 2, 2, 3});
  }
  if (dice.Percent(40)) layout.recompute = dice.Of({"SELECTIVE", "FULL", "AUTO"});
  layout.fusion = dice.Percent(85);
  layout.broadcast = dice.Percent(7);
  layout.ring = layout.context > 1 && dice.Percent(50);
  if (layout.stages > 1 && layout.group == 0 && dice.Percent(10)) {
    for (int64_t stage = 0; stage < layout.stages; ++stage) {
      layout.meshes.push_back(std::min(layout.micro, dice.Of<int64_t>({1, 2, 3})));
    }
  }
  return layout;
}

void AddOverlap(Dice& dice, Layout& layout) {
  if (layout.micro_batches > 1 && dice.Percent(35)) layout.overlap = dice.Of({1, 2, 2, 2, 3});
}

void AddTiers(Dice& dice, const Traits& traits, Layout& layout) {
  if (dice.Percent(35)) {
    layout.offload = dice.Of({"OPTIMIZER", "PARAMETERS", "PARAMETERS"});
    layout.by_host = dice.Percent(50);
  }
  layout.kept = dice.Percent(20);
  const bool apart = layout.kept && dice.Percent(50);
  for (size_t i = 1; apart && i + 1 < traits.layers.size(); ++i) {
    if (dice.Percent(50)) layout.spared.push_back(traits.layers[i]);
  }
}

Case RandomCase(uint64_t seed) {
  Dice dice(seed);
  Case made;
  made.seed = seed;
  made.model = RandomModel(dice);
  made.layout = RandomLayout(dice, TraitsOf(made.model));
  made.optimizer = RandomOptimizer(dice);
  made.compute = dice.Of({"F32", "F32", "F32", "F32", "F32", "F32", "F32", "BF16", "BF16", "F16"});
  // Of two values that a jump compares, rounding to 11 bits or fewer often decides; that to 24 hardly ever.
  if (TraitsOf(made.model).jumps) made.compute = "F32";
  made.machine.search = dice.Percent(15);
  made.machine.fast_links = dice.Percent(40);
  AddOverlap(dice, made.layout);
  AddTiers(dice, TraitsOf(made.model), made.layout);
  return made;
}

std::string JobOf(const Case& a_case, const std::string& file) {
  const Model& model = a_case.model;
  const std::string set = model.gpt2 ? absl::StrCat(" set: [\"vocab=", model.vocab, "\", \"seq=", model.seq,
                                                    "\", \"positions=", model.seq + 2, "\", \"layers=", model.layers,
                                                    "\", \"heads=", model.heads, "\", \"hidden=", model.hidden,
                                                    "\", \"dropout=", model.dropout, "\"]")
                                     : "";
  return absl::StrCat("model { file: \"", file, "\" graph: \"train\"", set, " }\noptimizer { ", a_case.optimizer,
                      " }\nbatch { global: ", SamplesOf(a_case.layout), " }\nseed: ", 1 + a_case.seed % 1000, "\n");
}

Overrides OneRank(const Case& a_case) {
  const Layout& layout = a_case.layout;
  const bool cut = TraitsOf(a_case.model).mixes_batch;
  return {absl::StrCat("batch.micro=", cut ? layout.micro : SamplesOf(layout))};
}

Overrides Many(const Case& a_case, const std::string& schedule_file) {
  return OverridesOf(a_case.layout, schedule_file);
}

Overrides OverridesOf(const Layout& layout, const std::string& schedule_file) {
  Overrides all = {absl::StrCat("batch.micro=", layout.micro)};
  const auto add = [&](const std::string& key, int64_t value, int64_t usual) {
    if (value != usual) all.push_back(absl::StrCat(key, "=", value));
  };
  if (layout.meshes.empty()) {
    add("dist.data", layout.data, 1);
    add("dist.tensor", layout.tensor, 1);
    add("dist.context", layout.context, 1);
    add("dist.expert", layout.expert, 1);
  }
  add("dist.pipeline", layout.stages, 1);
  add("batch.overlap", layout.overlap, 0);
  if (!layout.schedule.empty()) all.push_back(absl::StrCat("pipeline={schedule: ", layout.schedule, "}"));
  if (!layout.order.empty()) all.push_back(absl::StrCat("pipeline.schedule_file=", schedule_file));
  add("pipeline.chunks", layout.chunks, 0);
  for (const std::string& cut : layout.cuts) all.push_back(absl::StrCat("pipeline.cuts=", cut));
  add("zero.stage", layout.zero, 0);
  add("zero.group", layout.group, 0);
  if (!layout.recompute.empty()) all.push_back(absl::StrCat("recompute.policy=", layout.recompute));
  if (!layout.fusion) all.push_back("graph.fusion=false");
  if (layout.broadcast) all.push_back("graph.inference=BROADCAST");
  if (layout.ring) all.push_back("graph.ring=ALWAYS");
  if (!layout.offload.empty()) all.push_back("zero.offload=" + layout.offload);
  if (layout.by_host) all.push_back("zero.update=HOST");
  if (layout.kept) all.push_back("recompute.offload=true");
  const std::string policy = layout.recompute.empty() || layout.recompute == "AUTO" ? "NONE" : layout.recompute;
  for (const std::string& layer : layout.spared) {
    all.push_back(absl::StrCat("recompute.layers={scope: \"", layer, "\" policy: ", policy, " offload: false}"));
  }
  for (int64_t data : layout.meshes) {
    all.push_back(absl::StrCat("pipeline.stages={data: ", data, " tensor: ", layout.tensor,
                               " context: ", layout.context, " expert: ", layout.expert, "}"));
  }
  return all;
}

std::vector<std::string> Forbidden(const Case& a_case) {
  const Layout& layout = a_case.layout;
  const Traits traits = TraitsOf(a_case.model);
  std::vector<std::string> all;
  const auto require = [&](bool holds, const char* words) {
    if (!holds) all.push_back(words);
  };
  require(layout.micro >= layout.data, "batch.micro: expected at least dist.data");
  require(layout.group == 0 || layout.data % layout.group == 0, "zero.group: expected a divisor of dist.data");
  require(layout.last == layout.micro || a_case.model.gpt2 || a_case.model.loss == Loss::kCrossEntropy,
          "expected micro-batches of one size");
  require(layout.overlap < 2 || layout.order.empty(), "batch.overlap: expected 1 with pipeline.schedule_file");
  require(layout.expert == 1 || traits.uses_expert, "expert: expected 1, as nothing in");
  if (!IsCut(layout)) return all;
  require(layout.stages > 1 || !AsksForStages(layout), "dist.pipeline: expected 2 or more stages");
  const int64_t chunks = ChunksOf(layout);
  require(layout.stages * chunks <= static_cast<int64_t>(traits.layers.size()),
          chunks > 1 ? "pipeline.chunks: expected at most" : "dist.pipeline: expected at most");
  require(layout.cuts.empty() || static_cast<int64_t>(layout.cuts.size()) == layout.stages * chunks - 1,
          "pipeline.cuts: expected ");
  if (!layout.order.empty()) {
    require(layout.whole, ", got the end");
    return all;
  }
  const bool two = layout.schedule == "ZERO_BUBBLE form: V";
  require(layout.schedule == "INTERLEAVED" ? chunks >= 2 : chunks == (two ? 2 : 1), "pipeline.chunks of ");
  return all;
}

namespace {

void Append(std::vector<Case>& all, const Case& from, void (*change)(Case&)) {
  Case simpler = from;
  change(simpler);
  const auto shape = [](const Layout& layout) {
    return std::tuple(layout.stages, ChunksOf(layout), layout.micro_batches);
  };
  if (shape(simpler.layout) != shape(from.layout)) simpler.layout.cuts.clear(), simpler.layout.order = "";
  // What says the same is no simpler.
  const auto text = [](const Case& c) {
    return absl::StrCat(JobOf(c, ""), TextOf(c.model, ""), absl::StrJoin(Many(c), " "), c.compute, c.machine.search,
                        c.machine.fast_links);
  };
  if (text(simpler) != text(from)) {
    all.push_back(simpler);
  }
}

}  // namespace

std::vector<Case> Simpler(const Case& a_case) {
  std::vector<Case> all;
  const auto append = [&](void (*change)(Case&)) { Append(all, a_case, change); };
  append([](Case& c) { c.layout.stages = 1, c.layout.schedule = "", c.layout.chunks = 0, c.layout.meshes.clear(); });
  append([](Case& c) { c.layout.overlap = 0; });
  append([](Case& c) { c.layout.data = 1, c.layout.zero = 0, c.layout.group = 0; });
  append([](Case& c) { c.layout.data = std::min<int64_t>(c.layout.data, 2); });
  append([](Case& c) { c.layout.tensor = 1; });
  append([](Case& c) { c.layout.context = 1, c.layout.ring = false; });
  append([](Case& c) { c.layout.expert = 1; });
  append([](Case& c) { c.layout.cuts.clear(); });
  append([](Case& c) { c.layout.order = ""; });
  append([](Case& c) { c.layout.zero = 0, c.layout.group = 0; });
  append([](Case& c) { c.layout.group = 0; });
  append([](Case& c) { c.layout.meshes.clear(); });
  append([](Case& c) { c.layout.schedule = "", c.layout.chunks = 0; });
  append([](Case& c) { c.layout.stages = std::min<int64_t>(c.layout.stages, 2), c.layout.meshes.clear(); });
  append([](Case& c) { c.layout.recompute = ""; });
  append([](Case& c) { c.layout.fusion = true; });
  append([](Case& c) { c.layout.broadcast = false; });
  append([](Case& c) { c.layout.ring = false; });
  append([](Case& c) { c.layout.offload = "", c.layout.by_host = false; });
  append([](Case& c) { c.layout.by_host = false; });
  append([](Case& c) { c.layout.offload = c.layout.offload.empty() ? "" : "OPTIMIZER"; });
  append([](Case& c) { c.layout.kept = false, c.layout.spared.clear(); });
  append([](Case& c) { c.layout.spared.clear(); });
  append([](Case& c) { c.layout.last = c.layout.micro; });
  append([](Case& c) { c.layout.micro_batches = 1, c.layout.last = c.layout.micro; });
  append([](Case& c) { c.layout.micro_batches = std::min<int64_t>(c.layout.micro_batches, 2); });
  append([](Case& c) { c.layout.micro = c.layout.last = c.layout.data; });
  append([](Case& c) { c.model.vocab = 16; });
  append([](Case& c) { c.model.seq = 8; });
  append([](Case& c) { c.model.heads = 2, c.model.hidden = 8; });
  append([](Case& c) { c.model.hidden = 4 * c.model.heads; });
  append([](Case& c) { c.model.inner = 4 * c.model.hidden; });
  append([](Case& c) { c.compute = "F32"; });
  append([](Case& c) { c.machine.search = false; });
  append([](Case& c) { c.machine.fast_links = false; });
  append([](Case& c) { c.optimizer = "sgd { lr: 0.1 }"; });
  append([](Case& c) { c.model.dropout = 0; });
  append([](Case& c) { c.model.layers = std::max<int64_t>(1, c.model.layers - 1); });
  append([](Case& c) { c.model.tied = false; });
  append([](Case& c) { c.model.loss = Loss::kCrossEntropy; });
  for (size_t b = 0; b < a_case.model.blocks.size(); ++b) {
    const auto changed = [&](auto&& change) {
      Case simpler = a_case;
      change(simpler.model.blocks);
      all.push_back(std::move(simpler));
    };
    if (a_case.model.blocks.size() > 1) changed([&](auto& blocks) { blocks.erase(blocks.begin() + b); });
    if (a_case.model.blocks[b].residual) changed([&](auto& blocks) { blocks[b].residual = false; });
    if (a_case.model.blocks[b].far > 0) changed([&](auto& blocks) { blocks[b].far = 0; });
    for (size_t p = 0; p < a_case.model.blocks[b].picks.size(); ++p) {
      changed([&](auto& blocks) { blocks[b].picks.erase(blocks[b].picks.begin() + p); });
    }
  }
  return all;
}

}  // namespace weft::fuzz
