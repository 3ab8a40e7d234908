// Bytes a parameter, from compiled plans: what ZeRO promises (Rajbhandari et al., 2020, figure 1) for mixed precision
// with Adam.
#include <set>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/plan/plan.pb.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

// Bytes a rank keeps, without padding.
struct Bytes {
  int64_t parameters = 0;  // what forward and backward read
  int64_t optimizer = 0;   // state, and parameters that only updates read
  int64_t gradients = 0;   // from the micro-batches to the updates
  int64_t all() const { return parameters + optimizer + gradients; }
};

int64_t LocalBytes(const plan::Buffer& buffer, const plan::Placement& placement) {
  int64_t bytes = buffer.dtype() == plan::BF16 ? 2 : 4;
  for (int64_t extent : buffer.shape()) bytes *= extent;
  for (int axis = 0; axis < buffer.sbp_size(); ++axis) {
    if (buffer.sbp(axis).kind() == plan::Sbp::SPLIT) bytes /= placement.axes(axis).size();
  }
  return bytes;
}

int RootOf(const plan::Stage& stage, int buffer) {
  while (stage.buffers(buffer).alias_of() > 0) buffer = stage.buffers(buffer).alias_of() - 1;
  return buffer;
}

// True for what a micro-batch does, and for what the backward ends with once a step.
bool IsBeforeUpdates(const plan::Actor& actor) {
  return actor.section() == plan::Actor::MICRO || actor.phase() == plan::Actor::BACKWARD;
}

// The buffers whose bytes actors before the updates, or from there on, take in or yield.
std::set<int> Touched(const plan::Stage& stage, bool before_updates) {
  std::set<int> touched;
  for (const plan::Actor& actor : stage.actors()) {
    if (IsBeforeUpdates(actor) != before_updates) continue;
    for (const plan::Kernel& kernel : actor.kernels()) {
      for (int buffer : kernel.inputs()) touched.insert(RootOf(stage, buffer));
      for (int buffer : kernel.outputs()) touched.insert(RootOf(stage, buffer));
    }
    for (const plan::Collective& collective : actor.collectives()) {
      touched.insert(RootOf(stage, collective.input()));
      touched.insert(RootOf(stage, collective.output()));
    }
  }
  return touched;
}

Bytes BytesOf(const plan::Plan& plan) {
  const plan::Stage& stage = plan.stages(0);
  const plan::Placement& placement = plan.placements(stage.placement());
  const std::set<int> micro = Touched(stage, true), step = Touched(stage, false);
  Bytes bytes;
  for (int i = 0; i < stage.buffers_size(); ++i) {
    const plan::Buffer& buffer = stage.buffers(i);
    if (buffer.alias_of() > 0) continue;
    const int64_t local = LocalBytes(buffer, placement);
    switch (buffer.kind()) {
      case plan::Buffer::PARAMETER:
        (micro.count(i) ? bytes.parameters : bytes.optimizer) += local;
        break;
      case plan::Buffer::OPTIMIZER:
        bytes.optimizer += local;
        break;
      case plan::Buffer::WORKING:
        // Not what only the way to a working copy needs, such as the shard that is gathered.
        bytes.parameters += micro.count(i) ? local : 0;
        break;
      case plan::Buffer::GRADIENT:
        if (buffer.shape_size() > 0 && micro.count(i) && step.count(i)) bytes.gradients += local;
        break;
      default:
        break;
    }
  }
  return bytes;
}

// Elements of the parameters that have a working copy, and of the others: norms.
struct Elements {
  int64_t copied = 0, norms = 0;
};

Elements ElementsOf(const plan::Plan& plan) {
  Elements elements;
  for (const plan::Buffer& buffer : plan.stages(0).buffers()) {
    if (buffer.kind() != plan::Buffer::PARAMETER) continue;
    int64_t count = 1;
    for (int64_t extent : buffer.shape()) count *= extent;
    (buffer.name().find("ln_") != std::string::npos ? elements.norms : elements.copied) += count;
  }
  return elements;
}

plan::Plan Compile(const std::vector<std::string>& more) {
  // Every dimension, that of 16 heads too, is cut by 8.
  std::vector<std::string> overrides = {"batch={global: 8 micro: 8}", "model.set=hidden=128", "model.set=heads=16"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  absl::StatusOr<plan::Plan> plan = CompileJob("tests/oracle/tiny.job", overrides);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : plan::Plan();
}

TEST(MemoryTest, BytesAParameterInMixedPrecision) {
  for (int64_t n : {1, 2, 4, 8}) {
    for (int stage = n > 1; stage <= 3; ++stage) {
      const plan::Plan plan =
          Compile({"precision.compute=BF16", absl::StrCat("dist.data=", n), absl::StrCat("zero.stage=", stage)});
      ASSERT_EQ(plan.stages_size(), 1);
      const auto [copied, norms] = ElementsOf(plan);
      const Bytes bytes = BytesOf(plan);
      SCOPED_TRACE(absl::StrCat(n, " ranks, stage ", stage));
      // What has no working copy is read as it is, or from a float32 copy: 4 bytes where copied have 2, in
      // parameters and in gradients.
      const int64_t all = copied + norms, share = stage > 0 ? n : 1;
      if (stage == 3 || share == 1) {
        EXPECT_EQ(bytes.all(), 16 * all / share);
      } else {
        EXPECT_EQ(bytes.parameters, 2 * copied + 4 * norms);
        EXPECT_EQ(bytes.optimizer, 12 * all / n);
        EXPECT_EQ(bytes.gradients, (2 * copied + 4 * norms) / (stage == 2 ? n : 1));
      }
      EXPECT_LT(norms * 20, copied);
    }
  }
}

TEST(MemoryTest, GroupsSplitAmongThemselves) {
  const plan::Plan plan = Compile({"precision.compute=BF16", "dist.data=8", "zero={stage: 3 group: 4}"});
  const auto [copied, norms] = ElementsOf(plan);
  const Bytes bytes = BytesOf(plan);
  EXPECT_EQ(bytes.parameters, (2 * copied + 4 * norms) / 4);
  EXPECT_EQ(bytes.optimizer, (12 * copied + 8 * norms) / 4);
  // Replicas may share out the sum of the norm's squares.
  EXPECT_LE(bytes.gradients, (2 * copied + 4 * norms) / 4);
}

// In float32 the working copy is one more of the parameters.
TEST(MemoryTest, Float32) {
  const int64_t n = 4;
  const plan::Plan whole = Compile({}), split = Compile({"dist.data=4", "zero.stage=1"});
  const auto [copied, norms] = ElementsOf(whole);
  const int64_t all = copied + norms;
  EXPECT_EQ(BytesOf(whole).all(), 16 * all);
  EXPECT_EQ(BytesOf(split).all(), 4 * all + 4 * all + 12 * all / n);
}

// The sums of several micro-batches are float32.
TEST(MemoryTest, SumsOfMicroBatchesAreFloat32) {
  const plan::Plan plan = Compile({"precision.compute=BF16", "dist.data=4", "zero.stage=2", "batch.global=16"});
  const auto [copied, norms] = ElementsOf(plan);
  EXPECT_EQ(BytesOf(plan).gradients, 4 * (copied + norms) / 4);
}

}  // namespace
}  // namespace weft::tests
