// What data-parallel training sends: sums over the micro-batches, once a step and in bundles beside the backward.
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

struct Case {
  const char* name;
  std::vector<std::string> overrides;
  bool bundled = true;  // every gradient's reduction in a bundle on the communication stream
};

void PrintTo(const Case& it, std::ostream* os) { *os << it.name; }

// Index of the mesh axis `data`.
int DataAxis(const plan::Placement& placement) {
  for (int a = 0; a < placement.axes_size(); ++a) {
    if (placement.axes(a).name() == "data") return a;
  }
  return -1;
}

bool IsOver(const plan::Collective& collective, int axis) {
  for (const int it : collective.axes()) {
    if (it == axis) return true;
  }
  return false;
}

bool Reduces(const plan::Collective& collective) {
  return collective.kind() == plan::Collective::ALL_REDUCE || collective.kind() == plan::Collective::REDUCE_SCATTER;
}

class GradientsTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    absl::StatusOr<plan::Plan> plan = CompileJob("models/gpt2/124m.job", GetParam().overrides);
    ASSERT_TRUE(plan.ok()) << plan.status();
    plan_ = *std::move(plan);
  }

  plan::Plan plan_;
};

TEST_P(GradientsTest, NothingIsSentOverDataWithinAMicroBatch) {
  for (const plan::Stage& stage : plan_.stages()) {
    const int data = DataAxis(plan_.placements(stage.placement()));
    for (const plan::Actor& actor : stage.actors()) {
      for (const plan::Collective& it : actor.collectives()) {
        EXPECT_FALSE(actor.section() == plan::Actor::MICRO && IsOver(it, data))
            << actor.name() << ": " << plan::Collective::Kind_Name(it.kind()) << " at " << it.location();
      }
    }
  }
}

TEST_P(GradientsTest, EveryGradientIsReducedOnceInABundle) {
  if (!GetParam().bundled) GTEST_SKIP() << "parts of a tied parameter are added first";
  for (const plan::Stage& stage : plan_.stages()) {
    const int data = DataAxis(plan_.placements(stage.placement()));
    int64_t reduced = 0, bundles = 0;
    for (const plan::Actor& actor : stage.actors()) {
      const bool bundle = actor.name().rfind("gradients.", 0) == 0;
      bundles += bundle;
      for (const plan::Collective& it : actor.collectives()) {
        if (!Reduces(it) || !IsOver(it, data) || stage.buffers(it.input()).shape_size() == 0) continue;
        EXPECT_TRUE(bundle) << actor.name() << " at " << it.location();
        EXPECT_EQ(stage.streams(actor.stream()).kind(), plan::Stream::COMMUNICATION);
        ++reduced;
      }
    }
    EXPECT_EQ(reduced, 148);  // as many as GPT-2 has parameters
    EXPECT_GT(bundles, 1);
  }
}

const std::vector<std::string> kAccumulating = {"batch.global=32", "batch.micro=8"};

std::vector<std::string> With(std::vector<std::string> overrides, const std::vector<std::string>& more) {
  overrides.insert(overrides.end(), more.begin(), more.end());
  return overrides;
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, GradientsTest,
    testing::Values(Case{"data 2, 4 micro-batches", With(kAccumulating, {"dist.data=2"})},
                    Case{"data 2, 1 micro-batch", {"batch.global=8", "batch.micro=8", "dist.data=2"}},
                    // As many tokens a micro-batch as would be cheaper to gather than gradients to reduce.
                    Case{"short sequences", With(kAccumulating, {"dist.data=2", "model.set=seq=64"})},
                    Case{"data 8", With(kAccumulating, {"dist.data=8"})},
                    Case{"data 2 x tensor 2", With(kAccumulating, {"dist.data=2", "dist.tensor=2"})},
                    Case{"ZeRO 1", With(kAccumulating, {"dist.data=2", "zero.stage=1"})},
                    Case{"data 2 x pipeline 2", With(kAccumulating, {"dist.data=2", "dist.pipeline=2"}), false}));

}  // namespace
}  // namespace weft::tests
