#include "compiler/auto/profile.h"

#include <gtest/gtest.h>

#include "compiler/auto/profiles.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/model_source.h"

namespace weft::compiler {
namespace {

constexpr char kJob[] = "models/gpt2/small.job";

// Of GPT-2 with as many layers, on one rank.
absl::StatusOr<Profile> profileWith(int layers) {
  const Job job = *LoadJob(kJob, {"cluster=../../clusters/8xh200.cluster", "precision.compute=BF16",
                                  "batch={global: 2 micro: 1}", "model.set=layers=" + std::to_string(layers)});
  const Cluster cluster = *LoadCluster("clusters/8xh200.cluster", {});
  Job located = LocateJob(job, kJob);
  ResolveJob(&located);
  const std::unique_ptr<ModelSource> source = *ModelSource::read(located);
  return Profiles(source->module(), cluster, 0).of(located);
}

// Adam's two numbers a parameter lie with it, in the layers that were left out of the profile as well.
TEST(ProfileTest, OptimizerStateIsWhereItsParameterIs) {
  const absl::StatusOr<Profile> profile = profileWith(12);
  ASSERT_TRUE(profile.ok()) << profile.status();
  int layers = 0;
  for (const Piece &piece : profile->pieces) {
    layers += piece.name.rfind("h.", 0) == 0;
    EXPECT_NEAR(piece.lastingBytes, 3 * piece.parameterBytes, 0.01 * piece.parameterBytes) << piece.name;
  }
  EXPECT_EQ(layers, 12);
}

} // namespace
} // namespace weft::compiler
