// The models of the zoo beside Hugging Face's transformers, timm or torchvision, which trained the same weights on the
// same data in float64 (see README.md), and their layouts beside one rank.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

constexpr int kSteps = 10;
using Keys = std::vector<std::string>;

const char kContext[] = "context";
const char kTokens[] = "tests/oracle/tokens.bin";

struct Model {
  const char* name;  // of its files here
  const char* data;  // what it is trained on: tokens, or NAME_data.safetensors with a tensor for every input
  int labels;        // that a loss is the mean of
  bool context;      // whether inputs are sequences, which dist.context splits
  // Whether a batch in parts is another batch, as keys and statistics are those of a micro-batch.
  bool micro_batches_count = false;
  // How much larger an error of the loss is than one of a number of about 1 that it is made of.
  double amplified = 1;
  // A token of which two experts are as good as each other may see another one in a narrow type, and that changes its
  // loss much. The narrow runs of such a model choose all experts.
  Keys all_experts = {};
  // To bfloat16, behind a logit: about so many.
  int roundings = 20;
};

const Model kModels[] = {
    {"llama", kTokens, 256, true},
    // In each of two layers, queries and values have two products, a scale and a sum more behind them.
    {"llama_lora", kTokens, 256, true, false, 1, {}, 20 + 2 * 2 * 4},
    {"vit", "tests/zoo/vit_data.safetensors", 4, false},
    {"resmlp", "tests/zoo/resmlp_data.safetensors", 4, false},
    {"bert", "tests/zoo/bert_data.safetensors", 4, true},  // of the order of segments
    {"roberta", "tests/zoo/roberta_data.safetensors", 20, true},
    {"t5", "tests/zoo/t5_data.safetensors", 32, true},
    {"t5_1_1", "tests/zoo/t5_1_1_data.safetensors", 32, true},
    {"swin", "tests/zoo/swin_data.safetensors", 4, false},
    {"mixtral", kTokens, 256, true, true, 1, {"model.set=chosen=4"}},
    {"mae", "tests/zoo/mae_data.safetensors", 48, false},  // masked patches
    {"convnext", "tests/zoo/convnext_data.safetensors", 4, false},
    {"vgg", "tests/zoo/vgg_data.safetensors", 4, false},
    // Queries. The first batch norms divide by deviations that are a quarter of the mean, in the median; cosines are
    // divided by the temperature t, and the loss is 4 t times the mean over the queries.
    {"moco", "tests/zoo/moco_data.safetensors", 32, false, true, 16},
};

void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }

std::vector<StepReport> TrainModel(const Model& model, const Keys& keys) {
  const std::string stem = std::string("tests/zoo/") + model.name;
  TrainOptions options;
  options.job = stem + ".job";
  options.overrides = keys;
  options.data = model.data;
  options.init = stem + ".safetensors";
  options.steps = kSteps;
  absl::StatusOr<std::vector<StepReport>> reports = Train(options);
  EXPECT_TRUE(reports.ok()) << reports.status();
  return reports.ok() ? *reports : std::vector<StepReport>(kSteps);
}

double Relative(double a, double b) { return std::abs(a - b) / std::abs(b); }

class ModelTest : public testing::TestWithParam<Model> {};

TEST_P(ModelTest, LossesAndGradientNormsAreThoseOfTheOther) {
  const std::vector<StepReport> reports = TrainModel(GetParam(), {});
  std::ifstream in(std::string("tests/zoo/") + GetParam().name + "_losses.txt");
  int step;
  double loss, norm;
  for (int i = 0; i < kSteps; ++i) {
    ASSERT_TRUE(in >> step >> loss >> norm) << "step " << i;
    EXPECT_EQ(step, i);
    EXPECT_LT(Relative(reports[i].loss, loss), 1e-5) << "step " << i;
    EXPECT_LT(Relative(reports[i].grad_norm, norm), 1e-4) << "step " << i;
  }
}

// Logits are about 1 and have roundings to bfloat16 behind them, each of 2^-9 at most. A loss is the mean over
// labels, whose errors do not add up; of these, three standard deviations.
double OfBFloat16(const Model& model) {
  return model.amplified * 3 * std::sqrt(model.roundings) * 0x1p-9 / std::sqrt(model.labels);
}

TEST_P(ModelTest, LayoutsAgreeInBFloat16) {
  Keys keys = GetParam().all_experts;
  const std::vector<StepReport> wide = TrainModel(GetParam(), keys);
  keys.push_back("precision.compute=BF16");
  const std::vector<StepReport> one = TrainModel(GetParam(), keys);
  keys.insert(keys.end(), {"dist.data=2", "dist.tensor=2"});
  const std::vector<StepReport> many = TrainModel(GetParam(), keys);
  double changed = 0;
  for (int i = 0; i < kSteps; ++i) {
    EXPECT_LT(std::abs(many[i].loss - one[i].loss), OfBFloat16(GetParam())) << "step " << i;
    EXPECT_LT(std::abs(one[i].loss - wide[i].loss), OfBFloat16(GetParam())) << "step " << i;
    changed = std::max<double>(changed, std::abs(one[i].loss - wide[i].loss));
  }
  EXPECT_GT(changed, 0);
}

INSTANTIATE_TEST_SUITE_P(Zoo, ModelTest, testing::ValuesIn(kModels),
                         [](const auto& info) { return std::string(info.param.name); });

struct Layout {
  const char* name;
  Keys keys;
};

const Layout kLayouts[] = {
    {"tensor", {"dist.tensor=2"}},
    {"data_tensor", {"dist.data=2", "dist.tensor=2"}},
    {"tensor_4", {"dist.tensor=4"}},  // more ranks than some have heads of keys
    {kContext, {"dist.context=2"}},
    {"stages_micro_1", {"dist.pipeline=2", "batch.micro=1"}},
    {"stages_micro_4", {"dist.pipeline=2", "batch.micro=4"}},
    {"zero_3", {"dist.data=2", "zero.stage=3"}},
    {"recomputed", {"dist.tensor=2", "recompute.policy=FULL"}},
};

// Of models with experts.
const Layout kExpertLayouts[] = {
    {"expert_2", {"dist.expert=2"}},
    {"expert_4", {"dist.expert=4"}},
    {"data_expert", {"dist.data=2", "dist.expert=2"}},
    {"expert_tensor", {"dist.expert=2", "dist.tensor=2"}},
    {"expert_stages", {"dist.expert=2", "dist.pipeline=2", "batch.micro=2"}},
    {"expert_zero_3", {"dist.data=2", "dist.expert=2", "zero.stage=3"}},
};

// Of MoCo, whose batch norms need more than one sample.
const Layout kBatchLayouts[] = {
    {"data_4", {"dist.data=4"}},
    {"uneven", {"batch.global=10", "batch.micro=10", "dist.data=4"}},
    {"stages", {"dist.pipeline=2"}},
    {"stages_micro_8", {"dist.pipeline=2", "batch.micro=8"}},
    {"data_stages_zero_2", {"dist.data=2", "dist.pipeline=2", "batch.micro=8", "zero.stage=2"}},
};
const char kOneSample[] = "batch.micro=1";

// What one rank is trained with beside a layout. The loss that balances experts is a product of means over a
// micro-batch, and a contrast one of its samples: that of a batch in micro-batches is another number than that of the
// whole.
Keys KeysOfOne(const Model& model, const Layout& layout) {
  Keys keys;
  if (!model.micro_batches_count) return keys;
  std::copy_if(layout.keys.begin(), layout.keys.end(), std::back_inserter(keys),
               [](const std::string& key) { return key.rfind("batch.", 0) == 0; });
  return keys;
}

using Case = std::pair<Model, Layout>;

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Model& model : kModels) {
    const bool experts = !model.all_experts.empty(), batches = model.micro_batches_count && !experts;
    for (const Layout& layout : kLayouts) {
      const bool alone = std::count(layout.keys.begin(), layout.keys.end(), kOneSample) > 0;
      if ((layout.name != kContext || model.context) && !(batches && alone)) cases.emplace_back(model, layout);
    }
    for (const Layout& layout : kExpertLayouts) {
      if (experts) cases.emplace_back(model, layout);
    }
    for (const Layout& layout : kBatchLayouts) {
      if (batches) cases.emplace_back(model, layout);
    }
  }
  return cases;
}

class LayoutTest : public testing::TestWithParam<Case> {};

TEST_P(LayoutTest, LossesAreThoseOfOneRank) {
  const auto& [model, layout] = GetParam();
  const std::vector<StepReport> one = TrainModel(model, KeysOfOne(model, layout));
  const std::vector<StepReport> many = TrainModel(model, layout.keys);
  for (int i = 0; i < kSteps; ++i) EXPECT_LT(Relative(many[i].loss, one[i].loss), 2e-5) << "step " << i;
}

INSTANTIATE_TEST_SUITE_P(Zoo, LayoutTest, testing::ValuesIn(Cases()), [](const auto& info) {
  return absl::StrCat(info.param.first.name, "_", info.param.second.name);
});

// Convolutions of as many channels as nothing divides, a batch of five.
TEST(ConvolutionsTest, OddSizesTrainAsOnOneRank) {
  const std::pair<const char*, Keys> models[] = {{"vgg", {"model.set=width=3", "model.set=inner=33"}},
                                                 {"convnext", {"model.set=hidden=7"}}};
  for (const auto& [name, sizes] : models) {
    const auto trained = [&, job = std::string("tests/zoo/") + name](const Keys& layout) {
      TrainOptions options = {.job = job + ".job", .overrides = sizes, .data = job + "_data.safetensors", .steps = 4};
      options.overrides.insert(options.overrides.end(), {"batch.global=5", "batch.micro=5"});
      options.overrides.insert(options.overrides.end(), layout.begin(), layout.end());
      absl::StatusOr<std::vector<StepReport>> reports = Train(options);
      EXPECT_TRUE(reports.ok()) << reports.status();
      return reports.ok() ? *reports : std::vector<StepReport>(4);
    };
    const std::vector<StepReport> one = trained({});
    for (const Keys& layout : {Keys{"dist.tensor=2"}, Keys{"dist.data=3"}, Keys{"dist.data=2", "dist.tensor=2"}}) {
      const std::vector<StepReport> many = trained(layout);
      for (size_t i = 0; i < one.size(); ++i) {
        EXPECT_LT(Relative(many[i].loss, one[i].loss), 2e-5) << name << " " << layout[0] << " step " << i;
      }
    }
  }
}

}  // namespace
}  // namespace weft::tests
