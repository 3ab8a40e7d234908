// Random layouts of the jobs in models/, over links of any rate, become plans that are proved, or are refused.
#include "tests/fuzz/zoo.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>

namespace weft::fuzz {
namespace {

absl::Status Prove(const ZooCase& a_case) { return Prove(a_case, std::filesystem::current_path(), testing::TempDir()); }

constexpr uint64_t kSeedsOfPart = 50;

class ZooTest : public testing::TestWithParam<uint64_t> {};  // by the first seed

TEST_P(ZooTest, IsProvedOrRefused) {
  int proved = 0, refused = 0;
  for (uint64_t seed = GetParam(); seed < GetParam() + kSeedsOfPart; ++seed) {
    const ZooCase a_case = RandomZooCase(seed);
    const absl::Status status = Prove(a_case);
    EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << status << "\n" << TextOf(a_case);
    ++(status.ok() ? proved : refused);
  }
  EXPECT_GE(proved, 30) << "too few are allowed";
  EXPECT_GE(refused, 1) << "too few are forbidden";
}

INSTANTIATE_TEST_SUITE_P(Seeds, ZooTest, testing::Values(1, 51));

// Jobs whose plans once did not verify.
class FoundTest : public testing::TestWithParam<ZooCase> {};

TEST_P(FoundTest, IsProved) {
  const absl::Status status = Prove(GetParam());
  EXPECT_TRUE(status.ok()) << status << "\n" << TextOf(GetParam());
}

const Overrides kFast = {"cluster.node.link_bytes_s=1e12", "cluster.node.latency_s=1e-9"};
const Overrides kFree = {"cluster.node.link_bytes_s=1e18", "cluster.node.latency_s=1e-15"};

INSTANTIATE_TEST_SUITE_P(
    , FoundTest,
    testing::Values(
        // The forward sums up the count of a loss that was reduced for the backward.
        ZooCase{"models/mixtral/tiny.job", {"dist.context=2", "batch.micro=1", "batch.global=2"}, kFast, ""},
        // Pixels were left to be added up.
        ZooCase{"models/moco/tiny.job", {"dist.context=2", "batch.micro=2", "batch.global=4"}, {}, ""},
        // What the communication stream gathers at the end took a metric's bytes.
        ZooCase{"models/convnext/tiny.job",
                {"dist.data=2", "dist.tensor=2", "dist.context=2", "batch.micro=2", "batch.global=4",
                 "precision.compute=F16"},
                kFree,
                ""},
        // The axis between groups of ZeRO took the heads that the axis within them was to split.
        ZooCase{
            "models/llama/tiny.job",
            {"dist.data=4", "zero.stage=3", "zero.group=2", "batch.micro=4", "batch.global=32"},
            {"cluster.node.count=4", "cluster.node.ranks=2", "cluster.node.link_bytes_s=1e3",
             "cluster.node.latency_s=1e-15", "cluster.network.link_bytes_s=1e18", "cluster.network.latency_s=1e-15"},
            ""},
        // A sum that comes from a tier had a place for each micro-batch that was under way.
        ZooCase{"models/gpt2/tiny.job",
                {"dist.tensor=2", "batch.micro=3", "batch.global=15", "batch.overlap=3", "zero.offload=PARAMETERS"},
                {},
                ""},
        // What the host does before the micro-batches waited for the device, which waited for what it makes later.
        ZooCase{"models/moco/tiny.job",
                {"dist.data=2", "dist.context=2", "batch.micro=3", "batch.global=3", "graph.ring=ALWAYS",
                 "precision.compute=BF16", "zero.offload=OPTIMIZER", "zero.update=HOST"},
                {},
                ""},
        // Parts of state came among copies that are done once.
        ZooCase{"models/moco/tiny.job",
                {"dist.context=3", "dist.pipeline=2", "batch.micro=2", "batch.global=8", "zero.stage=2",
                 "zero.offload=PARAMETERS", "zero.update=HOST"},
                {},
                ""},
        // Gathers became a bundle of what is fetched for one after another.
        ZooCase{"models/llama/tiny.job",
                {"dist.tensor=2", "batch.micro=1", "batch.global=3", "graph.inference=BROADCAST",
                 "zero.offload=PARAMETERS"},
                {},
                ""},
        // A collective read state, and was taken to wait for the update of that.
        ZooCase{"models/resmlp/tiny.job",
                {"dist.pipeline=2", "batch.micro=2", "batch.global=8", "precision.compute=BF16",
                 "pipeline={schedule: ZERO_BUBBLE form: H1}", "pipeline.stages={data: 1 tensor: 2 context: 2}",
                 "pipeline.stages={data: 2 tensor: 2 context: 2}", "zero.offload=OPTIMIZER", "zero.update=HOST"},
                kFree,
                ""},
        // Another one did so beside a gather before the micro-batches, with no collective of theirs between them.
        ZooCase{"models/swin/tiny.job",
                {"dist.data=2", "dist.tensor=2", "batch.micro=2", "batch.global=4", "batch.overlap=3",
                 "recompute.policy=SELECTIVE", "graph.fusion=false", "graph.inference=BROADCAST"},
                kFast,
                ""}));

}  // namespace

void PrintTo(const ZooCase& a_case, std::ostream* out) { *out << TextOf(a_case); }

}  // namespace weft::fuzz
