// What long sequences and large models need, each of it and each pair: the losses of one rank.
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

// Fast links, so that heads are split in place of the sequence, and gathers of activations are repeated.
constexpr char kCluster[] = "tests/offload/fast.cluster";
constexpr int kSteps = 3;
constexpr double kBound = 2e-5;  // of losses, relative: the order of float32 sums

struct Feature {
  std::string name;
  Overrides overrides;
};

std::vector<Feature> Features() {
  return {{"heads", {"dist.context=2", "graph.ring=NEVER"}},
          {"ring", {"dist.context=2", "graph.ring=ALWAYS"}},
          {"gathers again", {"dist.tensor=2", "recompute.policy=SELECTIVE"}},
          {"turns", {"batch.overlap=2"}},
          {"shares", {"dist.data=2", "zero.stage=3"}},
          {"state below", {"zero.offload=OPTIMIZER"}},
          {"all below", {"zero.offload=PARAMETERS"}},
          {"updated below", {"zero.offload=OPTIMIZER", "zero.update=HOST"}},
          {"kept below", {"recompute.offload=true"}},
          {"kept below of two",
           {"recompute.layers={scope: \"$0\" policy: FULL offload: true}",
            "recompute.layers={scope: \"$2\" policy: NONE offload: true}"}}};
}

struct Model {
  std::string job, layers;
};
const Model kModels[] = {{"tests/oracle/tiny.job", "h."},
                         {"models/llama/tiny.job", "model.layers."},
                         {"models/mixtral/tiny.job", "model.layers."}};

// Both, or nothing if they say different things of one key.
std::optional<Overrides> Together(const Feature& one, const Feature& other) {
  std::map<std::string, std::string> said;
  Overrides all;
  for (const Feature* feature : {&one, &other}) {
    for (const std::string& setting : feature->overrides) {
      const std::vector<std::string> parts = absl::StrSplit(setting, absl::MaxSplits('=', 1));
      const bool repeated = parts[0] == "recompute.layers";
      const auto [it, fresh] = said.try_emplace(repeated ? setting : parts[0], parts[1]);
      if (!fresh && it->second != parts[1]) return std::nullopt;
      if (fresh) all.push_back(setting);
    }
  }
  return all;
}

std::vector<StepReport> TrainTiny(const Model& model, const Overrides& layout) {
  TrainOptions options;
  options.job = model.job;
  options.cluster = kCluster;
  options.overrides = {"batch={global: 16 micro: 4}", "model.set=layers=4", "data.format=AUTO"};
  for (std::string setting : layout) {
    for (const char* layer : {"0", "2"}) {
      setting = absl::StrReplaceAll(setting, {{absl::StrCat("$", layer), model.layers + layer}});
    }
    options.overrides.push_back(setting);
  }
  options.data = "tests/oracle/tokens.bin";
  options.steps = kSteps;
  absl::StatusOr<std::vector<StepReport>> reports = Train(options);
  EXPECT_TRUE(reports.ok()) << model.job << " " << absl::StrJoin(layout, " ") << ": " << reports.status();
  return reports.ok() ? *reports : std::vector<StepReport>();
}

class PairsTest : public testing::TestWithParam<Model> {};

TEST_P(PairsTest, AreAsOneRank) {
  const std::vector<StepReport> one = TrainTiny(GetParam(), {});
  ASSERT_EQ(one.size(), kSteps);
  const std::vector<Feature> features = Features();
  int pairs = 0;
  for (size_t i = 0; i < features.size(); ++i) {
    for (size_t j = i; j < features.size(); ++j) {
      const std::optional<Overrides> layout = Together(features[i], features[j]);
      if (!layout) continue;
      ++pairs;
      const std::vector<StepReport> many = TrainTiny(GetParam(), *layout);
      for (size_t step = 0; step < many.size(); ++step) {
        EXPECT_NEAR(many[step].loss / one[step].loss, 1, kBound)
            << features[i].name << ", " << features[j].name << ", step " << step;
      }
    }
  }
  EXPECT_GT(pairs, 45);
}

INSTANTIATE_TEST_SUITE_P(Models, PairsTest, testing::ValuesIn(kModels));

}  // namespace
}  // namespace weft::tests
