#include "compiler/auto/profile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/auto/profiles.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/model_source.h"

namespace weft::compiler {
namespace {

constexpr char kJob[] = "models/gpt2/small.job";

// Of GPT-2 with twelve layers, on one rank; `splits`: with backwards apart from gradients of weights.
absl::StatusOr<Profile> profileWith(Recompute::Policy policy, bool splits) {
  Job located = LocateJob(*LoadJob(kJob, {"cluster=../../clusters/8xh200.cluster", "precision.compute=BF16",
                                          "batch={global: 2 micro: 1}", "model.set=layers=12"}),
                          kJob);
  located.mutable_recompute()->set_policy(policy);
  if (splits)
    located.mutable_pipeline()->set_schedule(ZERO_BUBBLE);
  ResolveJob(&located);
  const Cluster cluster = *LoadCluster("clusters/8xh200.cluster", {});
  const std::unique_ptr<ModelSource> source = *ModelSource::read(located);
  return Profiles(source->module(), cluster, 0).of(located);
}

bool isLayer(const Piece &piece) { return piece.name.rfind("h.", 0) == 0; }

// Adam's two numbers a parameter lie with it, in the layers that were left out of the profile as well.
TEST(ProfileTest, OptimizerStateIsWhereItsParameterIs) {
  const absl::StatusOr<Profile> profile = profileWith(Recompute::NONE, false);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(std::count_if(profile->pieces.begin(), profile->pieces.end(), isLayer), 12);
  for (const Piece &piece : profile->pieces)
    EXPECT_NEAR(piece.lastingBytes, 3 * piece.parameterBytes, 0.01 * piece.parameterBytes) << piece.name;
}

// What is computed again for a backward is kept for the gradients of weights behind it, where they are apart.
TEST(ProfileTest, WhatIsComputedAgainWaitsForGradientsOfWeights) {
  const absl::StatusOr<Profile> whole = profileWith(Recompute::FULL, false), apart = profileWith(Recompute::FULL, true),
                                kept = profileWith(Recompute::NONE, true);
  ASSERT_TRUE(whole.ok() && apart.ok() && kept.ok()) << whole.status() << apart.status() << kept.status();
  for (size_t i = 0; i < whole->pieces.size(); ++i) {
    const Piece &piece = apart->pieces[i];
    EXPECT_EQ(whole->pieces[i].weightBytes, 0) << piece.name;
    EXPECT_TRUE(!isLayer(piece) || piece.weightBytes > piece.keptBytes) << piece.name;
    EXPECT_TRUE(!isLayer(piece) || piece.weightBytes > kept->pieces[i].weightBytes) << piece.name;
  }
}

} // namespace
} // namespace weft::compiler
