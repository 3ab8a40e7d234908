// Models of images trained on an emulated GPU: the losses of the CPU on one rank.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

constexpr int kSteps = 2;

struct Case {
  const char* name;   // of the test
  const char* model;  // of tests/zoo
  std::vector<std::string> overrides;
  bool library = false;  // matrix products by the vendor's
  // How far the loss, and the norm of the gradients, may be from the CPU's.
  double loss = 2e-5, norm = 1e-4;
};

TrainOptions Options(const Case& it) {
  const std::string stem = std::string("tests/zoo/") + it.model;
  TrainOptions options;
  options.job = stem + ".job";
  options.overrides = it.overrides;
  options.data = stem + "_data.safetensors";
  options.init = stem + ".safetensors";
  options.steps = kSteps;
  return options;
}

class ImagesTest : public testing::TestWithParam<Case> {};

TEST_P(ImagesTest, LossesAreThoseOfTheCpu) {
  Case one_rank = GetParam();
  std::erase_if(one_rank.overrides, [](const std::string& key) { return key.rfind("dist.", 0) == 0; });
  const auto cpu = Train(Options(one_rank));
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  EmulatedGpu gpu({}, GetParam().library);
  TrainOptions options = Options(GetParam());
  options.cluster = "tests/cuda/one_gpu.cluster";
  options.device = gpu.device.get();
  options.kernels = &gpu.kernels;
  const auto reports = Train(options);
  ASSERT_TRUE(reports.ok()) << reports.status();
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_NEAR((*reports)[step].loss, (*cpu)[step].loss, GetParam().loss * (*cpu)[step].loss) << step;
    EXPECT_NEAR((*reports)[step].grad_norm, (*cpu)[step].grad_norm, GetParam().norm * (*cpu)[step].grad_norm) << step;
  }
  EXPECT_THAT(gpu.driver.complaints(), testing::IsEmpty());
  EXPECT_GT(gpu.driver.launches(), 0);
}

// Activations and gradients that are rounded to 8 bits in sums of another order may be rounded otherwise: a loss is
// held to half a unit in the last place of such a number.
const char kNarrow[] = "precision.compute=BF16";
constexpr double kHalfUlp = 0x1p-9;

const Case kCases[] = {
    {"convnext", "convnext", {}},
    {"convnext_library", "convnext", {}, true},
    {"convnext_two_axes", "convnext", {"dist.data=2", "dist.tensor=2"}},
    {"convnext_bf16", "convnext", {kNarrow}, true, kHalfUlp, 2e-2},
    {"vgg", "vgg", {}},
    {"vgg_library", "vgg", {}, true},
    {"vgg_two_axes", "vgg", {"dist.data=2", "dist.tensor=2"}},
    {"vgg_recomputed", "vgg", {"recompute.policy=SELECTIVE"}, true},
    {"vgg_bf16", "vgg", {kNarrow}, true, kHalfUlp, 2e-2},
};

INSTANTIATE_TEST_SUITE_P(Models, ImagesTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::tests
