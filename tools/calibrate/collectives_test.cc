#include "tools/calibrate/collectives.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/cpu_kernels.h"
#include "runtime/device/host/device.h"
#include "tools/calibrate/cases.h"
#include "tools/calibrate/probes.h"

namespace weft::calibrate {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST(GroupsTest, ArePowersOfTwoOnEachLevelAndAll) {
  EXPECT_THAT(GroupsOf({0}), ElementsAre());
  EXPECT_THAT(GroupsOf({0, 0, 0}), UnorderedElementsAre(ElementsAre(0, 1), ElementsAre(0, 1, 2)));
  EXPECT_THAT(GroupsOf({0, 1, 0, 1}),
              UnorderedElementsAre(ElementsAre(0, 2), ElementsAre(0, 1), ElementsAre(0, 2, 1, 3)));
  EXPECT_THAT(GroupsOf({0, 0, 1}), UnorderedElementsAre(ElementsAre(0, 2))) << "as many ranks of each node";
}

// Every kernel that the probes have can be run by itself, and every kind of collective among three ranks.
TEST(MeasureTest, AllKernelsAndCollectivesRun) {
  for (const char* kind : {"cpu", "cuda"}) {
    const absl::StatusOr<std::vector<plan::Plan>> plans = ProbePlans(kind);
    ASSERT_TRUE(plans.ok()) << plans.status();
    EXPECT_EQ((*plans)[2].header().target(), kind);
    EXPECT_GT(WorksOfStep((*plans)[1]).size(), WorksOfStep((*plans)[0]).size());
  }
  KernelRegistry kernels;
  RegisterCpuKernels(kernels);
  const std::unique_ptr<device::Device> device = device::CreateHostDevice();
  std::unique_ptr<Bench> bench = *Bench::Create(kernels, *device, {.ranks = 2});
  const std::vector<Case> cases = *KernelCases(*ProbePlans("cpu"));
  EXPECT_GT(cases.size(), 300u);
  for (const Case& made : cases) {
    if (made.work.bytes < 1e5) ASSERT_EQ(bench->Add(made), absl::OkStatus());
  }
  for (const char* type : {"f32", "bf16", "f16"}) {
    for (const Case& made : ProductCases({16}, type)) ASSERT_EQ(bench->Add(made), absl::OkStatus());
  }
  ASSERT_EQ(bench->Round(Clock::now()), absl::OkStatus());
  for (const TimedKernel& timed : bench->Times()) EXPECT_GT(timed.seconds, 0) << timed.work.family;

  Measured measured;
  ASSERT_EQ(MeasureThreads(3, {.device = device.get(), .kernels = &kernels}, measured), absl::OkStatus());
  EXPECT_EQ(measured.collectives.size(), 2 * kCollectiveKinds * 6) << "groups of 2 and 3 ranks, six sizes";
  EXPECT_EQ(measured.transfers.size(), 6u);
  EXPECT_EQ(measured.overlap.ranks, 3);
}

}  // namespace
}  // namespace weft::calibrate
